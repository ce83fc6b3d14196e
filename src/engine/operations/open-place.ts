import { mkdir } from 'node:fs/promises';
import type { Place } from '../../model/attempt-order.ts';
import { SquadError } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import type { Failure } from '../../model/failure.ts';
import type { SetupStep } from '../../model/setup-step.ts';
import type { Workspace } from '../../model/turn-request.ts';
import type { TaskFolder } from '../../substrate/ports/workspaces.ts';
import { setUp } from './run-commands.ts';
import type { OperationPorts } from './operation-ports.ts';

export type OpenedPlace =
  | { readonly type: 'open'; readonly workspace: Workspace; readonly folder: TaskFolder | null }
  | { readonly type: 'refused'; readonly failure: Failure };

/** Creates, moves and sets up the folder of an attempt. On a problem the agent does not start, and squad asks a person. */
export async function openPlace(
  ports: OperationPorts,
  place: Place,
  attempt: { task: string; name: string; number: number; wants?: (step: Pick<SetupStep, 'for' | 'reuse'>) => boolean },
): Promise<OpenedPlace> {
  if (place.folder === null) {
    await mkdir(ports.emptyFolder, { recursive: true, mode: 0o700 });
    return { type: 'open', workspace: { path: ports.emptyFolder }, folder: null };
  }
  const { workspaces, definition } = ports;
  const head = place.head ?? (await headOfRun(ports));
  const commit = place.commit ?? head;
  const where = { run: definition.name, task: place.folder, commit };
  const made = await workspaces.addFolder({ ...where, kept: place.kept });
  const reset = await resetPlace(ports, made, { place, commit, attempt: attempt.name });
  if (typeof reset === 'string') return refused(reset);
  const moves = reset.fresh !== true && (!place.own || (place.commit !== null && reset.base !== place.commit));
  const folder = moves ? await workspaces.moveFolder(reset, commit, attempt.name) : reset;
  if ('type' in folder) {
    const why = folder.type === 'unreadable' ? `: ${folder.reason}` : '';
    return refused(`${made.workspace.path} cannot be read${why}`);
  }
  if (place.onto !== undefined) await standOn(ports, folder, { handedOver: place.commit, onto: place.onto, head });
  const ready = await setUp(ports, folder, { ...attempt, tries: attempt.number, isProven: false });
  if (!ready.ok) {
    const kind = ready.ran ? 'setup-failed' : 'lost';
    return { type: 'refused', failure: { kind, message: ready.output, mayHaveActed: false } };
  }
  return { type: 'open', workspace: folder.workspace, folder: definition.setup.length === 0 ? folder : used(folder) };
}

/** Commands have run in it. */
function used(folder: TaskFolder): TaskFolder {
  return defined({ ...folder, fresh: undefined });
}

/** Returns the folder, reset if the order asks for it; or why it cannot be reset. */
async function resetPlace(
  { workspaces }: OperationPorts,
  made: TaskFolder,
  { place, commit, attempt }: { place: Place; commit: string; attempt: string },
): Promise<TaskFolder | string> {
  if (place.reset === undefined) return made;
  const answer = await workspaces.resetFolder(made, { commit, attempt, rescueAs: place.reset.rescueAs });
  if (answer.type === 'ready') return answer.folder;
  return `${made.workspace.path} cannot be reset without losing work: ${answer.reason}: ${answer.detail.join(', ')}`;
}

/**
 * Moves HEAD, not the files. Safe to repeat. Handed-over work is staged once, while HEAD is still at its commit. A task's own
 * folder follows the run branch once its work was delivered, unless it has newer commits.
 */
async function standOn(
  ports: OperationPorts,
  folder: TaskFolder,
  { handedOver, onto, head: runHead }: { handedOver: string | null; onto: string; head: string },
): Promise<void> {
  const { workspaces } = ports;
  const snapshot = await workspaces.snapshot(folder);
  if (snapshot.type !== 'snapshot' || snapshot.head === onto) return;
  const { head } = snapshot;
  if (handedOver !== null) {
    if (head === handedOver) await workspaces.standOn(folder, onto, 'staged');
    return;
  }
  const delivered = await workspaces.isAncestor(onto, runHead);
  if (delivered && (await workspaces.isAncestor(head, onto))) await workspaces.standOn(folder, onto, 'follows');
}

/** A failure that squad asks a person about, who can fix it and retry. */
function refused(message: string): OpenedPlace {
  return { type: 'refused', failure: { kind: 'setting-unsupported', setting: 'git', message, mayHaveActed: false } };
}

/** The run branch's head. Throws if the branch was deleted. */
async function headOfRun({ workspaces, definition }: OperationPorts): Promise<string> {
  const head = await workspaces.runHead(definition.name);
  if (head !== undefined) return head;
  throw new SquadError({
    code: 'wrong-environment',
    message: `the branch squad/${definition.name} was deleted`,
    next: `Find its last commit with \`git reflog\` or \`git for-each-ref refs/squad/${definition.name}\`, create it again with \`git branch squad/${definition.name} <commit>\`, and resume the run.`,
  });
}
