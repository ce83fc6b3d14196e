import { RUN_EVENTS } from '../model/run.ts';
import { noteVoid } from './nodes/decide-next.ts';
import { liveRequests } from '../rules/work-requests.ts';
import { summaryOf } from './nodes/node-context.ts';
import { createPlanBook } from './plan-book.ts';
import { planAttemptId, type GraphPorts } from './ports.ts';
import type { SquadStateUpdate } from './state.ts';

/** A resumed run's state is written as this node, so that `collect` comes next. */
export const RESUMED_AS = 'run_agent_attempt';

/**
 * Rebuilds the state from the ledger, notes the resume, and voids attempts that were planned but never claimed. `stale`: attempts in flight
 * by the checkpoint. undefined: there is no workspace yet, so the run starts from the beginning.
 */
export function resumedState(
  ports: GraphPorts,
  inputRef: number,
  stale: readonly string[],
): SquadStateUpdate | undefined {
  const { ledger, lease, definition, limits } = ports;
  const { runId } = lease;
  const allocated = ledger.events({ stream: runId }).some(({ type }) => type === RUN_EVENTS.workspaceAllocated);
  ledger.note(lease, RUN_EVENTS.resumed, {});
  if (!allocated) return undefined;
  const cursor = ledger.run(runId)?.applied ?? 0;
  const board = createPlanBook(ledger, runId, definition).boardAt(cursor);
  for (const { task, attempt } of liveRequests(board)) {
    const claimed = ledger.attempt(planAttemptId(ports, attempt));
    if (claimed === undefined) noteVoid(ports, task, attempt, 'it was planned and never claimed');
  }
  const live = ledger
    .attempts({ runId })
    .filter((attempt) => attempt.kind === 'turn' && attempt.status !== 'settled')
    .map(({ id, taskId }): [string, string] => [id, taskId]);
  const gone = stale.map((id): [string, null] => [id, null]);
  return {
    runId,
    inputRef,
    options: { parallel: limits.parallel },
    phase: 'running',
    cursor,
    inflight: { ...Object.fromEntries(gone), ...Object.fromEntries(live) },
    starts: [],
    batch: [],
    result: null,
    ...summaryOf(board),
  };
}
