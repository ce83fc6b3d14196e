import { z } from 'zod';

/** Below the root; a name alone counts in every folder. */
const keptPathSchema = z
  .string()
  .max(255)
  .refine(
    (path) => path.split('/').every((part) => !['', '.', '..'].includes(part) && part.toLowerCase() !== '.git'),
    'is no path in the repository, such as node_modules',
  );

export const keptPathsSchema = z.array(keptPathSchema).max(50);

/** At most a century. */
const AGE = /^(?:all|\d{1,5}d)$/;

const ageSchema = z.string().regex(AGE, 'is neither a number of days, such as 30d, nor all');

/** An engine removes older ones itself. */
export const MOST_BACKUPS = 3;

const runsSchema = z.union(
  [z.int().positive().max(1_000_000), ageSchema],
  'is neither a number of runs, such as 200, nor an age, such as 90d, nor all',
);

const someKeptSchema = z.strictObject({
  /** Paths and names of ignored files, such as `node_modules`, that stay when a folder is cleaned or made again for checks. */
  paths: keptPathsSchema.optional(),
  /** Prompts and raw output of the turns and checks of a finished run. */
  output: ageSchema.optional(),
  /** Refs of work that is merged. */
  refs: ageSchema.optional(),
  /** LangGraph's checkpoints of a finished run, but for its newest one. */
  checkpoints: ageSchema.optional(),
  /** How many copies of the ledger stay that runs made at their ends. Those of people always do. */
  backups: z.int().positive().max(MOST_BACKUPS).optional(),
  /** `until-merged`: the branch of a finished run goes once another branch has its work. */
  branches: z.enum(['all', 'until-merged']).optional(),
  /** How many finished runs keep their files, or for how long. Their rows in the ledger always stay. */
  runs: runsSchema.optional(),
});

/** How long squad keeps what runs leave; a list is short for `paths`. */
export const keepSchema = z.union(
  [keptPathsSchema, someKeptSchema],
  'is neither a list of paths nor a mapping of what squad keeps',
);
export type KeepSetting = z.infer<typeof keepSchema>;

export const KEEP_EXAMPLE = 'keep: { output: 30d, refs: 90d, runs: all }';

/** Ages are in ms; null: for ever. */
export interface Keep {
  readonly outputMs: number | null;
  readonly refsMs: number | null;
  readonly checkpointsMs: number | null;
  readonly backups: number;
  readonly branches: 'all' | 'until-merged';
  readonly runs: { readonly newest: number } | { readonly ms: number } | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** By key: what the person's own settings say about all repositories, else the repository's, else squad's default. */
export function decideKeep(own: KeepSetting | undefined, repository: KeepSetting | undefined): Keep {
  const said = mergeKeep(own, repository);
  const { output = '30d', refs = '90d', checkpoints = '7d', backups = MOST_BACKUPS } = said;
  const { branches = 'all', runs = 'all' } = said;
  const [outputMs, refsMs, checkpointsMs] = [ageOf(output), ageOf(refs), ageOf(checkpoints)];
  return { outputMs, refsMs, checkpointsMs, backups, branches, runs: newestOf(runs) };
}

function newestOf(runs: number | string): Keep['runs'] {
  if (typeof runs === 'number') return { newest: runs };
  const ms = ageOf(runs);
  return ms === null ? null : { ms };
}

/** The person's word counts, because it is about records of theirs. */
export function mergeKeep(
  own: KeepSetting = {},
  repository: KeepSetting = {},
): Exclude<KeepSetting, readonly unknown[]> {
  const { paths, ...others } = mappingOf(own);
  const below = mappingOf(repository);
  const both = paths ?? below.paths;
  return { ...below, ...others, ...(below.paths === undefined && both !== undefined ? { paths: both } : {}) };
}

export function keptPaths(keep: KeepSetting): readonly string[] {
  return mappingOf(keep).paths ?? [];
}

function mappingOf(keep: KeepSetting): Exclude<KeepSetting, readonly unknown[]> {
  return Array.isArray(keep) ? { paths: keep } : keep;
}

function ageOf(text: string): number | null {
  return text === 'all' ? null : Number(text.slice(0, -1)) * DAY_MS;
}

/** A ref and what it names. */
export interface KeptRef {
  readonly ref: string;
  readonly at: string;
  /** `note`: the claim of the run's name. */
  readonly kind: 'work' | 'note' | 'branch';
  /** A branch that is not squad's has it. */
  readonly isMerged: boolean;
  readonly isCheckedOut: boolean;
}
