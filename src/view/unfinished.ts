import type { Submission } from '../model/run.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { defined } from '../text/defined.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { predictBoard } from './replay-plan.ts';
import { endsAtDeadline, queueText, standingOf, UNSTARTED } from './run-state.ts';
import { endOfRun } from './end-row.ts';
import { inOrder, withBefore } from './queue-rules.ts';
import type { LockedBy } from './driven.ts';
import { findRun, isOver, isQueued, isUnstarted, type RunReading } from './read-run.ts';
import { untouchedRun, type UntouchedRun } from './untouched-run.ts';

/** The needs of an unfinished run, the most urgent first. */
export const NEEDS = [
  'answered',
  'gone',
  'begun',
  'due',
  'cut',
  'queued',
  'limited',
  'held',
  'waits',
  'asks',
  'driven',
] as const;
type Need = (typeof NEEDS)[number];

export interface Unfinished {
  readonly runId: string;
  readonly name: string;
  readonly need: Need;
  readonly why: string;
  readonly createdAt: number;
  /** As its objective says; undefined: it says nothing. */
  readonly priority: string | undefined;
  /** It came through the queue: any engine may drive it. */
  readonly submitted: boolean;
}

/** undefined: it is over. */
export function unfinishedOf(reading: RunReading, now: number): Unfinished | undefined {
  if (isOver(reading)) return undefined;
  const { row, definition } = reading;
  const { priority } = definition.objective;
  const submitted = definition.submitted !== undefined;
  return { runId: row.id, name: row.name, createdAt: row.createdAt, priority, submitted, ...needOf(reading, now) };
}

/** As `unfinishedOf`, of a run of the queue to which nothing has happened yet. */
export function stillQueued({ id, name, createdAt }: RunRow, { objective }: UntouchedRun): Unfinished {
  const { priority } = objective;
  return {
    runId: id,
    name,
    createdAt,
    priority,
    submitted: true,
    need: 'queued',
    why: queueText({ refused: undefined }),
  };
}

function needOf(reading: RunReading, now: number): Pick<Unfinished, 'need' | 'why'> {
  const { board, pendingRequests, questions, segments, workspace, driven, decided, refused } = reading;
  if (driven) return { need: 'driven', why: 'an engine drives it' };
  const held = predictBoard(board, pendingRequests).pauses.get(WHOLE_RUN);
  if (held !== undefined) {
    const verbs = { pause: 'paused', drain: 'drained', stop: 'stopped' } as const;
    return { need: 'held', why: `${verbs[held.verb]} by ${held.by}` };
  }
  if (questions.some(({ recorded }) => recorded !== null)) return { need: 'answered', why: 'an answer is recorded' };
  if (pendingRequests.length > 0)
    return { need: 'answered', why: `${pendingRequests.at(-1)?.intervention.verb} was requested` };
  if (segments.length === 0 && isQueued(reading))
    return { need: refused === undefined ? 'queued' : 'held', why: queueText(reading) };
  if (isUnstarted(reading)) return { need: 'held', why: UNSTARTED };
  const { waitingFor } = standingOf(reading, now);
  if (segments.at(-1)?.releasedAt === null) return { need: 'gone', why: 'its engine is gone' };
  if (workspace === undefined) return { need: 'begun', why: 'its start was interrupted' };
  if (waitingFor?.for === 'answer') return { need: 'asks', why: waitingFor.why };
  const passed = endsAtDeadline(reading, now);
  if (passed !== undefined) return { need: 'limited', why: passed };
  if (waitingFor?.for === 'time') return { need: 'waits', why: waitingFor.why };
  // A person's stop or drain is a pause, which was looked for above: this one was a signal.
  if (decided?.next === 'stop' && decided.because === 'drained') return { need: 'cut', why: 'it was interrupted' };
  if (decided?.next === 'stop' && decided.because === 'waiting') return { need: 'due', why: decided.why };
  if (decided?.next === 'stop') return { need: 'limited', why: decided.why };
  return { need: 'cut', why: 'it was interrupted' };
}

const NONE: ReadonlySet<string> = new Set();

/** Known to a process of runs that only a new event changes, by run: those that are over, and those that no engine has had. */
export type StillRuns = Map<
  string,
  { readonly seq: number; readonly found?: Unfinished; readonly submitted?: Submission }
>;

/**
 * The unfinished runs of a workspace but `without`, the newest first. Those that have ended are not folded: they become more and more.
 * `still`: of a process that looks again and again.
 */
export function listUnfinished(
  ledger: Ledger,
  lockedBy: LockedBy | null,
  now: number,
  { without = NONE, still }: { without?: Pick<ReadonlyMap<string, unknown>, 'has'>; still?: StillRuns } = {},
): Unfinished[] {
  return ledger
    .runs()
    .toReversed()
    .flatMap((row) => {
      const { id } = row;
      if (without.has(id)) return [];
      // First: what is written meanwhile counts for the next look.
      const seq = still === undefined ? 0 : ledger.lastSeq(id);
      const known = still?.get(id);
      if (known?.seq === seq) return known.found === undefined ? [] : withBefore(ledger, known.found, known.submitted);
      if (endOfRun(ledger, row) !== undefined) {
        still?.set(id, { seq });
        return [];
      }
      const untouched = untouchedRun(ledger, id);
      if (untouched !== undefined) {
        const { submitted } = untouched;
        const found = stillQueued(row, untouched);
        still?.set(id, { seq, found, submitted });
        return withBefore(ledger, found, submitted);
      }
      const reading = findRun(ledger, id, lockedBy);
      const found = reading === undefined ? undefined : unfinishedOf(reading, now);
      if (reading === undefined || found === undefined) return [];
      const { submitted } = reading.definition;
      if (isQueued(reading)) still?.set(id, { seq, found, ...defined({ submitted }) });
      return withBefore(ledger, found, submitted);
    });
}

/** The run that `resume` picks without a name: the first of those with the most urgent need. `all`: the newest first. `raises`: it raises limits. */
export function mostUrgent(all: readonly Unfinished[], raises: boolean): Unfinished | undefined {
  const order = raises ? ['limited', ...NEEDS] : NEEDS;
  const rank = ({ need }: Unfinished): number => order.indexOf(need);
  return all.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** The runs that a sweep resumes, in the order of `inOrder`. `all`: the newest first. */
export function runsToSweep(ledger: Pick<Ledger, 'record'>, all: readonly Unfinished[]): Unfinished[] {
  return inOrder(ledger, all.filter(isSwept).toReversed(), ({ priority }) => priority);
}

/** Whether a sweep resumes the run. Not if a person paused it or has not started it, if its deadline has passed, or if it waits for a person, a time or a higher limit. */
export function isSwept({ need }: Pick<Unfinished, 'need'>): boolean {
  return ['answered', 'gone', 'begun', 'due', 'cut', 'queued'].includes(need);
}
