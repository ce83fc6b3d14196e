import type { Prepared } from './attempts/start-attempt.ts';
import { attemptScope, attemptWithin } from '../model/attempt-id.ts';
import { attemptOrderSchema } from '../model/attempt-order.ts';
import type { Attempt } from '../model/attempt.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import { openPlace } from './operations/open-place.ts';
import type { OperationPorts } from './operations/operation-ports.ts';
import type { FolderPorts } from './folder-ports.ts';
import type { TurnArmory } from './armory.ts';

interface TurnPorts extends OperationPorts {
  readonly folderPorts: FolderPorts;
  readonly armory: TurnArmory;
}

/** Completes a turn's request with its workspace, which is created when the turn starts, and its equipment. A check has both. */
export async function prepareTurn(ports: TurnPorts, attempt: Attempt, request: TurnRequest): Promise<Prepared> {
  if (attempt.kind === 'check') {
    if (attempt.process !== null) return { type: 'ready', request };
    await ports.copies.put(request.workspace);
    return { type: 'ready', request: { ...request, workspace: await ports.folderPorts.place(request.workspace) } };
  }
  const { armory } = ports;
  const refused = await armory.refusal(attempt);
  // A process that runs was equipped when it started.
  if (refused !== undefined && attempt.process === null) return refused;
  const opened = await openTurn(ports, attempt, request);
  return opened.type === 'refused' ? opened : armory.equip(attempt, opened.request);
}

async function openTurn(ports: TurnPorts, attempt: Attempt, request: TurnRequest): Promise<Prepared> {
  const { place } = attemptOrderSchema.parse(JSON.parse(attempt.request));
  const name = attemptWithin(attemptScope(ports.definition.name, ports.lease.runId), attempt.id);
  if (attempt.process !== null && place.folder !== null) {
    // The process runs: its folder must not move.
    const where = {
      run: ports.definition.name,
      task: place.folder,
      commit: place.commit ?? place.head ?? ports.definition.repository.base,
      kept: place.kept,
      inUse: true,
    };
    const { workspace } = await ports.workspaces.addFolder(where);
    return { type: 'ready', request: { ...request, workspace } };
  }
  const opened = await openPlace(ports, place, { task: attempt.taskId, name, number: attempt.number });
  if (opened.type === 'refused') return opened;
  // An agent that changes nothing needs no secret, though the `setup` of its folder may have.
  const builds = request.access.level !== 'read-only';
  await (builds ? ports.copies.put(opened.workspace) : ports.copies.takeOut(opened.workspace));
  if (opened.folder !== null && place.own) await ports.workspaces.noteIgnored(opened.folder);
  // `full` holds only in a folder of the task's own.
  const access =
    opened.folder === null && request.access.level === 'full' ? ({ level: 'edit' } as const) : request.access;
  const gitSettings = await ports.workspaces.agentSettings();
  const workspace = { ...(await ports.folderPorts.place(opened.workspace)), gitSettings };
  return { type: 'ready', request: { ...request, access, workspace } };
}
