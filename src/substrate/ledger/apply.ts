import { SquadError } from '../../model/errors.ts';
import { assertNever } from '../../model/assert-never.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { plainJson } from '../../text/json.ts';
import type { ApplyAnswer, ApplyInput, ClaimAnswer, Decision, RunRow } from '../ports/ledger.ts';
import { handMail, sendAsEngine } from './mail/engine-mail.ts';
import { setAble } from './mail/presence.ts';
import { claimAttempt } from './claims.ts';
import { appendEvent, refuseLedgerType } from './events.ts';
import { requireLease } from './leases.ts';
import { updateRecord } from './records.ts';
import { requireRun } from './runs.ts';
import { parseStored, storedJson, type Store } from './store.ts';
import { setTimer } from './timers.ts';

/** One step of a run, in a write transaction. A repeated step gets its stored answer. */
export function apply(store: Store, input: ApplyInput): ApplyAnswer {
  requireLease(store, input.lease);
  const run = requireRun(store, input.lease.runId);
  const before = formerAnswer(store, run, input);
  if (before !== undefined) return { ...before, repeated: true };
  refuseCursor(store, run, input);
  const claims: ClaimAnswer[] = [];
  for (const decision of input.decisions) {
    const claim = carryOut(store, input, decision);
    if (claim !== undefined) claims.push(claim);
  }
  const { cursor, seq, driver } = input;
  const answer = { applied: seq, claims };
  store.run('UPDATE run SET applied = ?, driver = ? WHERE id = ?', seq, driver, run.id);
  const written = { epoch: input.lease.epoch, at: store.clock.now(), answer: storedJson(plainJson(answer)) };
  store.insert('application', { run_id: run.id, cursor, seq, driver, ...written });
  return { ...answer, repeated: false };
}

type FirstAnswer = Omit<ApplyAnswer, 'repeated'>;

/** The stored answer to this step, if the engine died before its next checkpoint. */
function formerAnswer(store: Store, run: RunRow, { cursor, seq, driver }: ApplyInput): FirstAnswer | undefined {
  if (run.driver !== driver) return undefined;
  const sql = 'SELECT answer FROM application WHERE run_id = ? AND cursor = ? AND seq = ? AND driver = ?';
  const answer = store.value<string>(sql, run.id, cursor, seq, driver);
  if (answer === undefined) return undefined;
  // `apply` stored this answer, and only `apply` writes the table.
  return parseStored(store, answer, `answer ${seq} of run ${run.id}`) as unknown as FirstAnswer;
}

function refuseCursor(store: Store, run: RunRow, input: ApplyInput): void {
  if (input.cursor !== run.applied) {
    throw refused(run, `it is at event ${run.applied}, and this step starts at event ${input.cursor}`);
  }
  if (input.seq < input.cursor) throw refused(run, `event ${input.seq} lies before its cursor ${input.cursor}`);
  const ofEvent = 'SELECT stream, cause FROM event WHERE seq = ?';
  const event = store.one<{ stream: string; cause: number | null }>(ofEvent, input.seq);
  if (event === undefined) throw refused(run, `there is no event ${input.seq}`);
  if (event.cause !== null) throw refused(run, `event ${input.seq} is a decision, not an input`);
  if (event.stream !== run.id && event.stream !== WORKSPACE_STREAM) {
    throw refused(run, `event ${input.seq} belongs to run ${event.stream}`);
  }
  const step = 'SELECT 1 FROM application WHERE run_id = ? AND cursor = ? AND seq = ?';
  if (store.has(step, run.id, input.cursor, input.seq)) throw refused(run, `event ${input.seq} is decided on`);
}

function refused(run: RunRow, why: string): SquadError {
  return new SquadError({
    code: 'cursor-refused',
    message: `Run ${run.name} refused a step: ${why}. Nothing was written.`,
    next: `Resume ${run.name}: that starts from what is on record (\`squad log ${run.name}\`).`,
  });
}

export function carryOut(
  store: Store,
  input: Pick<ApplyInput, 'lease' | 'seq'>,
  decision: Decision,
): ClaimAnswer | undefined {
  const { lease, seq: cause } = input;
  const event = { stream: lease.runId, cause, epoch: lease.epoch };
  switch (decision.do) {
    case 'record':
      refuseLedgerType(decision.type);
      appendEvent(store, { ...event, type: decision.type, data: decision.data, at: decision.at });
      break;
    case 'claim-attempt':
      return claimAttempt(store, lease, cause, decision);
    case 'set-timer':
      setTimer(store, event, decision);
      break;
    case 'send-mail':
      sendAsEngine(store, event, decision.key, decision.mail);
      break;
    case 'write-record':
      updateRecord(store, decision);
      break;
    case 'set-receivers':
      setAble(store, lease.runId, decision.able);
      break;
    case 'hand-mail':
      handMail(store, lease.runId, decision.attemptId, decision.mail);
      break;
    default:
      assertNever(decision);
  }
  return undefined;
}
