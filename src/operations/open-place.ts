import type { Place } from '../model/attempt-order.ts';
import type { Failure } from '../model/failure.ts';
import type { Workspace } from '../model/turn-request.ts';
import type { Worktree } from '../substrate/ports/workspaces.ts';
import { setUp } from './run-commands.ts';
import { headOfRun, makeEmptyFolder, readBaseline, type OperationPorts } from './operation-ports.ts';

export type OpenedPlace =
  | { readonly type: 'open'; readonly workspace: Workspace; readonly worktree: Worktree | null }
  | { readonly type: 'refused'; readonly failure: Failure };

/**
 * Creates, moves and sets up the folder of an attempt, as its order says. On a problem the agent does not start, and squad asks
 * a person.
 */
export async function openPlace(
  ports: OperationPorts,
  place: Place,
  attempt: { task: string; name: string; number: number },
): Promise<OpenedPlace> {
  if (place.folder === null) return { type: 'open', workspace: { path: await makeEmptyFolder(ports) }, worktree: null };
  const { workspaces, definition } = ports;
  const head = place.head ?? (await headOfRun(ports));
  const commit = place.commit ?? head;
  const where = { run: definition.name, task: place.folder, commit };
  const made = await workspaces.addWorktree({ ...where, kept: place.kept });
  const broken = await findTampering(ports, made);
  if (broken !== undefined) return refused('git', broken);
  const { held } = await workspaces.tidyWorktree(made);
  if (held.length > 0) return refused('git', describeHeld(made, held));
  const reset = await resetPlace(ports, made, { place, commit, attempt: attempt.name });
  if (typeof reset === 'string') return refused('git', reset);
  const moves = !place.own || (place.commit !== null && reset.base !== place.commit);
  const worktree = moves ? await workspaces.moveWorktree(reset, commit, attempt.name) : reset;
  if ('type' in worktree) return refused('git', `${made.workspace.path} cannot be read`);
  if (place.onto !== undefined) await standOn(ports, worktree, { handedOver: place.commit, onto: place.onto, head });
  const ready = await setUp(ports, worktree, attempt.task, attempt.number);
  if (!ready.ok && !ready.ran)
    return { type: 'refused', failure: { kind: 'lost', message: ready.output, mayHaveActed: false } };
  if (!ready.ok)
    return { type: 'refused', failure: { kind: 'setup-failed', message: ready.output, mayHaveActed: false } };
  return { type: 'open', workspace: worktree.workspace, worktree };
}

function describeHeld({ workspace }: Worktree, held: readonly string[]): string {
  const who = `\`lsof +D ${workspace.path}\` shows the process. Wait for it or end it; then its lock goes away`;
  return `another git process works in ${workspace.path} and holds ${held.join(', ')}. ${who}`;
}

/** Returns the worktree, reset if the order asks for it; or why it cannot be reset. */
async function resetPlace(
  { workspaces }: OperationPorts,
  made: Worktree,
  { place, commit, attempt }: { place: Place; commit: string; attempt: string },
): Promise<Worktree | string> {
  if (place.reset === undefined) return made;
  const answer = await workspaces.resetWorktree(made, { commit, attempt, rescueAs: place.reset.rescueAs });
  if (answer.type === 'ready') return answer.worktree;
  return `${made.workspace.path} cannot be reset without losing work: ${answer.reason}: ${answer.detail.join(', ')}`;
}

/**
 * Moves HEAD, not the files. Safe to repeat. Handed-over work is staged once, while HEAD is still at its commit. A task's own
 * worktree follows the run branch once its work was delivered, unless it has newer commits.
 */
async function standOn(
  ports: OperationPorts,
  worktree: Worktree,
  { handedOver, onto, head: runHead }: { handedOver: string | null; onto: string; head: string },
): Promise<void> {
  const { workspaces } = ports;
  const snapshot = await workspaces.snapshot(worktree);
  if (snapshot.type !== 'snapshot' || snapshot.head === onto) return;
  const { head } = snapshot;
  if (handedOver !== null) {
    if (head === handedOver) await workspaces.standOn(worktree, onto, 'staged');
    return;
  }
  const delivered = await workspaces.isAncestor(onto, runHead);
  if (delivered && (await workspaces.isAncestor(head, onto))) await workspaces.standOn(worktree, onto, 'follows');
}

/** Changes in git's own files that could run a program; undefined: none. */
export async function findTampering(ports: OperationPorts, worktree?: Worktree): Promise<string | undefined> {
  const baseline = readBaseline(ports);
  if (baseline === undefined) return "the run has no record of git's own files";
  const answer = await ports.workspaces.checkBaseline(baseline, worktree);
  if (answer.type === 'unchanged') return undefined;
  const files = answer.changes.map(({ file, problem }) => `${file} (${problem})`).join(', ');
  return `git's own configuration has changed since the run began: ${files}. Check these files and restore them`;
}

/** A failure that squad asks a person about, who can fix it and retry. */
function refused(setting: string, message: string): OpenedPlace {
  return { type: 'refused', failure: { kind: 'setting-unsupported', setting, message, mayHaveActed: false } };
}
