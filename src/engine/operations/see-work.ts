import type { EvidenceFacts, SideWork } from '../../model/plan/evidence.ts';
import { conePatterns, parseCone } from '../../text/cone.ts';
import type { CommitsAnswer, TaskFolder } from '../../substrate/ports/workspaces.ts';
import type { OperationPorts } from './operation-ports.ts';

/** A task's folder as the engine found it. */
export type Seen = Pick<
  EvidenceFacts,
  'base' | 'commit' | 'commits' | 'changedPaths' | 'uncommitted' | 'problem' | 'unread' | 'side'
> & { head: string };

/**
 * The agent's commits, or a commit of what it left uncommitted; either is kept at the attempt's ref. `taken`: the commits, which
 * count also if the files cannot be looked at.
 */
export async function seeWork(
  ports: OperationPorts,
  folder: TaskFolder,
  attempt: string,
  { taken, delivered }: { readonly taken: Exclude<CommitsAnswer, { type: 'gone' }>; readonly delivered: string },
): Promise<Seen> {
  const { workspaces, definition } = ports;
  const side = sideOf(taken.side);
  if (taken.type === 'unreadable') return { ...unreadable(folder, taken.reason), ...side };
  const look = await lookAt(ports, folder, attempt);
  const kept = typeof look === 'string' ? { commit: taken.commit, head: taken.commit, clean: true } : look;
  const { head } = kept;
  // An agent that merged the run branch to solve a conflict did not do the work of others.
  const base = (await workspaces.mergeBase(delivered, head)) ?? folder.base;
  const [left, made, changed] = await Promise.all([
    kept.clean ? [] : workspaces.changedFiles(head, kept.commit),
    workspaces.commitsBetween(base, head),
    workspaces.changedFiles(base, head),
  ]);
  // An untracked file is no unfinished change; with `sparse`, git adds those of other folders only with an option.
  const cone = definition.sparse && parseCone(conePatterns(definition.sparse));
  const uncommitted = left
    .filter(({ status, path }) => status !== 'added' || cone?.has(path) === false)
    .map(({ path }) => path);
  const commits = made.length;
  if (typeof look === 'string' && commits === 0) return { ...unreadable(folder, look), ...side };
  const finished = commits > 0 && uncommitted.length === 0;
  const commit = finished ? head : kept.commit;
  const all = commit === head ? changed : await workspaces.changedFiles(base, commit);
  const changedPaths = all.map(({ path }) => path);
  if (changedPaths.length > 0 && commit !== kept.commit) {
    await workspaces.keepAttempt(definition.name, attempt, commit);
  }
  return {
    ...{ base, head, commit: changedPaths.length === 0 ? null : commit, commits, changedPaths, uncommitted },
    ...(typeof look === 'string' ? { unread: look } : {}),
    ...side,
  };
}

/** The folder's files, kept; or why they cannot be looked at. */
async function lookAt({ workspaces, fault }: OperationPorts, folder: TaskFolder, attempt: string) {
  try {
    const answer = await workspaces.rescue(folder, attempt);
    return answer.type === 'kept' ? answer : answer.reason;
  } catch (error) {
    if (fault === undefined) throw error;
    return fault(error);
  }
}

function sideOf(side: SideWork): Pick<EvidenceFacts, 'side'> {
  return side.kept.length === 0 && side.missed === undefined ? {} : { side };
}

/** A folder without work of its own has nothing to deliver. */
export function seeFolder({ base }: Pick<TaskFolder, 'base'>): Seen {
  return { base, head: base, commit: null, commits: 0, changedPaths: [], uncommitted: [] };
}

/** The agent gets the problem back, because it has to repair its own folder. */
function unreadable(folder: TaskFolder, reason: string): Seen {
  return { ...seeFolder(folder), problem: `the folder cannot be read: ${reason}` };
}

/** The turn has settled, and no one can say what it did. */
export function lostWork(attempt: string, base: string): EvidenceFacts {
  const problem = `lost: what ${attempt} made is gone, because its folder, or the .git in it, was deleted before squad could keep its commits`;
  const nothing = { commit: null, commits: 0, changedPaths: [], uncommitted: [], files: [], commands: [], pr: null };
  return { ...nothing, base, problem, lost: true };
}
