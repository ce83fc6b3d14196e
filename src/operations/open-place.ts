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
 * The folder of an attempt, made, moved and set up as its order says. What stands in the way is a failure that a person is
 * asked about; the agent is never started then.
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
  const who = `\`lsof +D ${workspace.path}\` shows who it is. Wait for it or end it; its lock goes by itself then`;
  return `somebody's git is still at work in ${workspace.path} and holds ${held.join(', ')}. ${who}`;
}

/** As its order wants it: what it was, or made anew. A text says why it cannot be. */
async function resetPlace(
  { workspaces }: OperationPorts,
  made: Worktree,
  { place, commit, attempt }: { place: Place; commit: string; attempt: string },
): Promise<Worktree | string> {
  if (place.reset === undefined) return made;
  const answer = await workspaces.resetWorktree(made, { commit, attempt, rescueAs: place.reset.rescueAs });
  if (answer.type === 'ready') return answer.worktree;
  return `${made.workspace.path} cannot be reset without a loss: ${answer.reason}: ${answer.detail.join(', ')}`;
}

/**
 * Safe to repeat, and changes no file. Handed-over work is laid out once: HEAD still stands on it then. Of one's own work
 * only what was delivered counts, and only while nothing was committed since.
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

/** What has changed in git's own files that could run a program; undefined: nothing. */
export async function findTampering(ports: OperationPorts, worktree?: Worktree): Promise<string | undefined> {
  const baseline = readBaseline(ports);
  if (baseline === undefined) return 'the run has no baseline of the git directory';
  const answer = await ports.workspaces.checkBaseline(baseline, worktree);
  if (answer.type === 'unchanged') return undefined;
  const files = answer.changes.map(({ file, problem }) => `${file} (${problem})`).join(', ');
  return `git's own configuration is not as it was when the run began: ${files}. Look at these files, and put them right`;
}

/** The kind that asks a person, who can mend it and have it tried again. */
function refused(setting: string, message: string): OpenedPlace {
  return { type: 'refused', failure: { kind: 'setting-unsupported', setting, message, mayHaveActed: false } };
}
