import { z } from 'zod';
import { isUnchecked } from '../model/plan/gate.ts';
import type { Board } from '../model/plan/board.ts';
import type { PlanEntry } from '../model/plan/entry.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import type { RunView } from './run-view.ts';

/** `part` of `of`. */
const shareSchema = z.strictObject({ part: z.int().nonnegative(), of: z.int().nonnegative() });
const amount = z.number().nonnegative().nullable();

/** The figures that a comparison takes from a run. null: it was not measured, which is not zero. */
export const measuresSchema = z.strictObject({
  /** Merged work that no review, check or conflict ever sent back. */
  firstTry: shareSchema.nullable(),
  /** Rounds of all reviews. null: nothing was reviewed. */
  rounds: amount,
  /** Checks of merged work, and of the whole before its end, that failed. null: none ran. */
  failedChecks: amount,
  /** Findings that sent work back, and those that were then fixed. null: nothing was reviewed. */
  held: shareSchema.nullable(),
  /** Those that their reviewer took back. */
  withdrawn: shareSchema.nullable(),
  /** null: nothing was to be merged. */
  conflicts: amount,
  /** Input and output. null: those of a turn are unknown. */
  tokens: amount,
  costUsd: amount,
  /** Time of engines. */
  minutes: amount,
  /** null: the run has no criteria. */
  criteria: shareSchema.nullable(),
});
export type Share = z.infer<typeof shareSchema>;
export type Measures = z.infer<typeof measuresSchema>;

/** From the view of a run and its record: the board, and the entries that led to it. Pure. */
export function measureRun(
  view: Pick<RunView, 'plan' | 'use' | 'turns'>,
  board: Pick<Board, 'tasks'>,
  entries: readonly PlanEntry[],
): Measures {
  const events = entries.flatMap((entry) => (entry.entry === 'work' ? [entry] : []));
  const merged = new Set(events.flatMap(({ task, event }) => (event.type === 'branch-advanced' ? [task] : [])));
  const reviews = [...board.tasks.values()].flatMap(({ work }) => reviewsOf(work.rounds));
  const sentBack = new Set(
    [...board.tasks.values()].flatMap(({ task, work }) =>
      work.rounds.some(({ approved, overruled }) => !approved && overruled !== true) ? [task.id] : [],
    ),
  );
  const isFirst = (task: string): boolean => {
    const own = events.filter((one) => one.task === task).map(({ event }) => event);
    const tries = own.filter(({ type }) => type === 'evidence-gathered').length;
    return tries === 1 && !sentBack.has(task) && !own.some((one) => one.type === 'conflict' || isFailed(one));
  };
  const { usage, elapsedMs } = view.use;
  const isKnown = view.turns.settled > 0 && view.turns.live === 0;
  const findings = reviews.map(findingsOf);
  const blocked = sum(findings.map((one) => one.blocked));
  const { criteria } = view.plan;
  const met = criteria.filter(({ state }) => state === 'met' || state === 'judged').length;
  const rounds = sum(view.plan.reviews.map((one) => one.rounds));
  return {
    firstTry: shareOf([...merged].filter(isFirst).length, merged.size),
    rounds: rounds === 0 ? null : rounds,
    failedChecks: failedChecksOf(entries),
    held: reviews.length === 0 ? null : { part: sum(findings.map((one) => one.fixed)), of: blocked },
    withdrawn: reviews.length === 0 ? null : { part: sum(findings.map((one) => one.withdrawn)), of: blocked },
    conflicts: conflictsOf(events.map(({ event }) => event)),
    tokens:
      isKnown && usage.unknownTurns === 0 && usage.inputTokens !== null
        ? usage.inputTokens + (usage.outputTokens ?? 0)
        : null,
    costUsd: isKnown && usage.unknownCostTurns === 0 ? usage.costUsd : null,
    minutes: elapsedMs / 60_000,
    criteria: shareOf(met, criteria.length),
  };
}

function isFailed(event: WorkEvent): boolean {
  return event.type === 'verified' && !event.passed;
}

/** null: no check ran. */
function failedChecksOf(entries: readonly PlanEntry[]): number | null {
  const results = entries.flatMap((entry): boolean[] => {
    if (entry.entry === 'work') return entry.event.type === 'verified' ? [isFailed(entry.event)] : [];
    if (entry.entry !== 'event' || entry.event.type !== 'gate-checked') return [];
    const checked = entry.event.facts.commands.filter((one) => !isUnchecked(one));
    return checked.length === 0 ? [] : [checked.some(({ passed }) => !passed)];
  });
  return results.length === 0 ? null : results.filter(Boolean).length;
}

function conflictsOf(events: readonly WorkEvent[]): number | null {
  const conflicts = events.filter(({ type }) => type === 'conflict').length;
  const isMerged = events.some(({ type }) => type === 'integrated' || type === 'branch-advanced');
  return conflicts === 0 && !isMerged ? null : conflicts;
}

/** The rounds of each review of a task. */
function reviewsOf(rounds: readonly RoundRecord[]): (readonly RoundRecord[])[] {
  return [...Map.groupBy(rounds, ({ review }) => review).values()];
}

/** Each finding once: one that is not fixed is open again in the next round. */
function findingsOf(rounds: readonly RoundRecord[]): { blocked: number; fixed: number; withdrawn: number } {
  const isNew = (index: number) => (one: { readonly blocks: string | null }) =>
    index === 0 || one.blocks !== 'not-fixed';
  const blocked = sum(rounds.map(({ open = [] }, index) => open.filter(isNew(index)).length));
  const ends = rounds.flatMap(({ settled = [] }) =>
    [...Map.groupBy(settled, ({ finding }) => finding).values()].map((words) => {
      const said = words.map(({ as }) => as);
      return said.includes('not-fixed') ? 'not-fixed' : said.includes('fixed') ? 'fixed' : 'withdrawn';
    }),
  );
  const count = (as: string): number => Math.min(blocked, ends.filter((end) => end === as).length);
  return { blocked, fixed: count('fixed'), withdrawn: count('withdrawn') };
}

function shareOf(part: number, of: number): Share | null {
  return of === 0 ? null : { part, of };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, one) => total + one, 0);
}
