import { badInput, SquadError } from '../../model/errors.ts';
import { passedShared } from '../../model/shared-spending.ts';
import { passedCap, type Caps, type Use } from '../../model/spending.ts';
import type { ClaimAnswer, ClaimRefusal, Lease, NewAttempt, RunLimits } from '../ports/ledger.ts';
import { sealAttempt } from './attempts.ts';
import { appendEvent } from './events.ts';
import { readSpending } from './spending.ts';
import type { Store } from './store.ts';

/** An attempt's id names a folder that squad may remove and marks processes that squad may kill. */
const ATTEMPT_ID = /^(?=.{1,128}$)[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*$/;

/** Claims an attempt, or returns the reason for the refusal. Counts the caps from the records, in the same transaction. */
export function claimAttempt(
  store: Store,
  lease: Lease,
  cause: number,
  claim: { attempt: NewAttempt; limits: RunLimits },
): ClaimAnswer {
  const { attempt, limits } = claim;
  if (!ATTEMPT_ID.test(attempt.id)) throw badId(attempt.id);
  const number = nextNumber(store, lease.runId, attempt.taskId);
  const reason = refusalOf(store, lease.runId, attempt, limits);
  const event = { stream: lease.runId, cause, epoch: lease.epoch };
  if (reason !== undefined) {
    appendEvent(store, { ...event, type: 'claim-refused', data: { ...aboutOf(attempt), reason } });
    return { claimed: false, attemptId: attempt.id, reason };
  }
  insertClaim(store, lease, attempt, number, event);
  return { claimed: true, attemptId: attempt.id, number };
}

export function claimCheck(store: Store, lease: Lease, attempt: NewAttempt): void {
  if (attempt.kind !== 'check' || !ATTEMPT_ID.test(attempt.id)) throw badId(attempt.id);
  if (isClaimed(store, attempt.id)) return;
  const number = nextNumber(store, lease.runId, attempt.taskId);
  insertClaim(store, lease, attempt, number, { stream: lease.runId, epoch: lease.epoch });
}

function isClaimed(store: Store, id: string): boolean {
  return store.has('SELECT 1 FROM attempt WHERE id = ?', id);
}

function aboutOf({ id, taskId, kind, agent }: NewAttempt) {
  return { attemptId: id, taskId, kind, agent };
}

function insertClaim(
  store: Store,
  lease: Lease,
  attempt: NewAttempt,
  number: number,
  event: { stream: string; cause?: number; epoch: number },
): void {
  const { id, taskId, kind, agent, runtime, request, sessionKey = null } = attempt;
  const data = { ...aboutOf(attempt), number, runtime, sessionKey };
  const seq = appendEvent(store, { ...event, type: 'attempt-claimed', data });
  store.insert('attempt', {
    ...{ id, run_id: lease.runId, task_id: taskId, number, kind, agent, runtime, epoch: lease.epoch },
    ...{ session_key: sessionKey, request, claim_seq: seq, claimed_at: store.clock.now(), status: 'claimed' },
  });
  sealAttempt(store, id);
}

function badId(id: string): SquadError {
  return badInput(
    `${JSON.stringify(id)} cannot name an attempt: it becomes a folder and marks processes.`,
    'Use small letters, digits and dashes, starting with a letter; dots between them.',
  );
}

function nextNumber(store: Store, runId: string, taskId: string): number {
  const sql = 'SELECT coalesce(max(number), 0) + 1 AS next FROM attempt WHERE run_id = ? AND task_id = ?';
  return store.value<number>(sql, runId, taskId) ?? 1;
}

function refusalOf(store: Store, runId: string, attempt: NewAttempt, limits: RunLimits): ClaimRefusal | undefined {
  if (isClaimed(store, attempt.id)) return 'duplicate';
  const live = "SELECT 1 FROM attempt WHERE session_key = ? AND status <> 'settled'";
  if (attempt.sessionKey !== undefined && store.has(live, attempt.sessionKey)) return 'session-busy';
  return attempt.kind === 'turn' ? passedLimit(store, runId, attempt, limits) : undefined;
}

/** The cap that one more turn would pass: the run's before the agent's before the task's before that of all runs. */
function passedLimit(
  store: Store,
  runId: string,
  { agent, taskId }: NewAttempt,
  { agent: ofAgent, task: ofTask, turns, usd, tokens }: RunLimits,
): ClaimRefusal | undefined {
  const spending = readSpending(store, runId);
  const ofRun = passedCap(spending.run, { turns, usd, tokens })?.cap;
  if (ofRun !== undefined && ofRun !== 'minutes') return ofRun;
  const level = (name: 'agent' | 'task', use: () => Use, caps: Caps | undefined) => {
    const passed = caps === undefined ? undefined : passedCap(use(), caps);
    return passed === undefined ? undefined : (`${name}-${passed.cap}` as const);
  };
  return (
    level('agent', () => spending.agent(agent), ofAgent) ??
    level('task', () => spending.task(taskId), ofTask) ??
    (spending.shared && passedShared(spending.shared, runId)?.cap)
  );
}
