import type { Prepared } from '../attempts/start-attempt.ts';
import { attemptScope, attemptWithin } from '../model/attempt-id.ts';
import type { Attempt } from '../model/attempt.ts';
import { attemptOrderSchema } from '../model/attempt-order.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import { openPlace } from '../operations/open-place.ts';
import type { OperationPorts } from '../operations/operation-ports.ts';

/** Completes a turn's request with its workspace, which is created when the turn starts. A check has one already. */
export async function prepareTurn(ports: OperationPorts, attempt: Attempt, request: TurnRequest): Promise<Prepared> {
  if (attempt.kind === 'check') return { type: 'ready', request };
  const { place } = attemptOrderSchema.parse(JSON.parse(attempt.request));
  const name = attemptWithin(attemptScope(ports.definition.name, ports.lease.runId), attempt.id);
  if (attempt.process !== null && place.folder !== null) {
    // The process runs: its folder must not move.
    const where = {
      run: ports.definition.name,
      task: place.folder,
      commit: place.commit ?? ports.definition.repository.base,
      kept: place.kept,
    };
    const { workspace } = await ports.workspaces.addWorktree(where);
    return { type: 'ready', request: { ...request, workspace } };
  }
  const opened = await openPlace(ports, place, { task: attempt.taskId, name, number: attempt.number });
  if (opened.type === 'refused') return opened;
  // `full` holds only in a worktree of the task's own.
  const access =
    opened.worktree === null && request.access.level === 'full' ? ({ level: 'edit' } as const) : request.access;
  const gitSettings = await ports.workspaces.agentSettings();
  return { type: 'ready', request: { ...request, access, workspace: { ...opened.workspace, gitSettings } } };
}
