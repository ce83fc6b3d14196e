import type { Submission } from '../model/run.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { findRun, isQueued } from './read-run.ts';
import { inOrder, withBefore } from './queue-rules.ts';
import { stillQueued, unfinishedOf, type Unfinished } from './unfinished.ts';
import { untouchedRun, type UntouchedRun } from './untouched-run.ts';

/** A run that no engine has had yet. */
export interface QueuedRun {
  readonly runId: string;
  readonly name: string;
  /** Title of its objective. */
  readonly objective: string;
  /** As its objective says; null: it says nothing. */
  readonly priority: string | null;
  /** Epoch ms. */
  readonly submittedAt: number;
  readonly by: string;
  readonly base: QueuedBase;
  /** `ready`: the next engine with a free place starts it. `waits`: for another run. `held`: for a person. */
  readonly state: 'ready' | 'waits' | 'held';
  readonly why: string;
}

/** Where a run of the queue begins. */
export type QueuedBase =
  | { readonly of: 'commit'; readonly commit: string }
  /** Looked up when it starts. */
  | { readonly of: 'ref'; readonly ref: string }
  | { readonly of: 'run'; readonly run: string };

/** The queue, the run that starts next first. */
export function listQueue(ledger: Ledger, now: number): QueuedRun[] {
  const queued = ledger.runs().flatMap((row) => queuedRun(ledger, row, now) ?? []);
  return inOrder(ledger, queued, ({ priority }) => priority ?? undefined);
}

function queuedRun(ledger: Ledger, row: RunRow, now: number): QueuedRun | undefined {
  if (ledger.segments(row.id).length > 0) return undefined;
  const untouched = untouchedRun(ledger, row.id);
  if (untouched !== undefined) return shownAs(ledger, untouched, stillQueued(row, untouched));
  const reading = findRun(ledger, row.id, null);
  if (reading === undefined || !isQueued(reading) || reading.refused?.dropped === true) return undefined;
  const { submitted } = reading.definition;
  const found = unfinishedOf(reading, now);
  return submitted && found && shownAs(ledger, { ...reading.definition, submitted }, found);
}

function shownAs(
  ledger: Ledger,
  { submitted, objective, repository }: Omit<UntouchedRun, 'source' | 'playbook' | 'options'>,
  found: Unfinished,
): QueuedRun {
  const { need, why } = withBefore(ledger, found, submitted);
  return {
    ...{ runId: found.runId, name: found.name, objective: objective.title, priority: objective.priority ?? null },
    ...{ submittedAt: submitted.at, by: submitted.by, base: baseOf(ledger, submitted, repository.base) },
    state: need === 'queued' || need === 'answered' ? 'ready' : need === 'waits' ? 'waits' : 'held',
    why,
  };
}

function baseOf(ledger: Pick<Ledger, 'run'>, { base, after }: Submission, commit: string): QueuedBase {
  if (after !== undefined) return { of: 'run', run: ledger.run(after)?.name ?? after };
  return base === undefined ? { of: 'commit', commit } : { of: 'ref', ref: base };
}
