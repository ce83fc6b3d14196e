import { z } from 'zod';
import { hasEnded, RUN_STATES } from '../model/run-state.ts';
import { measuresSchema, type Measures, type Share } from './measured-run.ts';

/** Fewer runs of a side show nothing: chance alone keeps all of three runs apart from three others once in ten times. */
export const ENOUGH_RUNS = 5;

const sideSchema = z.enum(['A', 'B']);
export type Side = z.infer<typeof sideSchema>;

const comparedRunSchema = z.strictObject({
  side: sideSchema,
  runId: z.string(),
  name: z.string(),
  /** Never merged by a comparison; null: it made none. */
  branch: z.string().nullable(),
  state: z.enum(RUN_STATES),
  /** null: the run is not over. */
  headline: z.string().nullable(),
  measures: measuresSchema,
});
export type ComparedRun = z.infer<typeof comparedRunSchema>;

/** Over the runs of a side that are over and in which it was measured. `unknown`: those in which it was not. */
const cellSchema = z.strictObject({
  runs: z.int(),
  unknown: z.int(),
  /** Its sums over these runs, where it is a share. */
  share: z.strictObject({ part: z.int(), of: z.int() }).optional(),
  /** Where it is an amount. */
  mean: z.number().optional(),
  least: z.number().optional(),
  most: z.number().optional(),
});
export type Cell = z.infer<typeof cellSchema>;

const measureNames = Object.keys(measuresSchema.shape) as (keyof Measures)[];

/** The output of `squad compare --json`: API. */
export const comparisonSchema = z.strictObject({
  type: z.literal('comparison'),
  sides: z.strictObject({
    A: z.strictObject({ prompts: z.string(), hash: z.string() }),
    B: z.strictObject({ prompts: z.string(), hash: z.string() }),
  }),
  /** The commit from which each run began. null: none did. */
  base: z.string().nullable(),
  /** The run that planned for all; null: each planned for itself, or the playbook has no plan. */
  plan: z.strictObject({ runId: z.string(), name: z.string(), tasks: z.int() }).nullable(),
  /** Runs that each side was to have. */
  times: z.int(),
  runs: z.array(comparedRunSchema),
  rows: z.array(
    z.strictObject({
      measure: z.enum(measureNames as [keyof Measures, ...(keyof Measures)[]]),
      A: cellSchema,
      B: cellSchema,
      /** Every run of one side is above every run of the other. null: there are too few runs to say. */
      apart: z.boolean().nullable(),
    }),
  ),
  /** Each side has enough runs that are over. Without that, a difference is no result. */
  enough: z.boolean(),
  /** Why not all runs were made; null: they were. */
  stopped: z.string().nullable(),
});
export type Comparison = z.infer<typeof comparisonSchema>;

/** The table of a comparison from what was measured of each run. Pure. */
export function compareRuns(facts: Omit<Comparison, 'type' | 'rows' | 'enough'>): Comparison {
  const over = facts.runs.filter(({ state }) => hasEnded(state));
  const of = (side: Side): Measures[] => over.flatMap((run) => (run.side === side ? [run.measures] : []));
  const [a, b] = [of('A'), of('B')];
  const enough = Math.min(a.length, b.length) >= ENOUGH_RUNS;
  const rows = measureNames.map((measure) => {
    const values = [a, b].map((runs) => runs.flatMap((run) => valueOf(run[measure]) ?? []));
    return { measure, A: cellOf(a, measure), B: cellOf(b, measure), apart: areApart(values[0] ?? [], values[1] ?? []) };
  });
  return { type: 'comparison', ...facts, rows, enough };
}

function valueOf(measured: Share | number | null): number | undefined {
  if (measured === null) return undefined;
  if (typeof measured === 'number') return measured;
  return measured.of === 0 ? undefined : measured.part / measured.of;
}

function cellOf(runs: readonly Measures[], measure: keyof Measures): Cell {
  const known = runs.flatMap((run) => run[measure] ?? []);
  const counts = { runs: known.length, unknown: runs.length - known.length };
  const shares = known.filter((one) => typeof one !== 'number');
  const amounts = known.filter((one) => typeof one === 'number');
  if (shares.length > 0) {
    const sum = (of: keyof Share): number => shares.reduce((total, one) => total + one[of], 0);
    return { ...counts, share: { part: sum('part'), of: sum('of') } };
  }
  if (amounts.length === 0) return counts;
  const mean = amounts.reduce((total, one) => total + one, 0) / amounts.length;
  return { ...counts, mean, least: Math.min(...amounts), most: Math.max(...amounts) };
}

function areApart(a: readonly number[], b: readonly number[]): boolean | null {
  if (Math.min(a.length, b.length) < ENOUGH_RUNS) return null;
  return Math.min(...a) > Math.max(...b) || Math.min(...b) > Math.max(...a);
}
