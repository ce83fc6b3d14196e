import type { DoctorCheck } from './render/doctor-report.ts';

export interface LookedAt {
  readonly path: string;
  /** Kind of the network file system that it is on; undefined: a local one. */
  readonly network: string | undefined;
}

/** Where a run keeps its databases and its worktrees: the former have to be on a local disk, the latter had better be. Pure. */
export function decideFolderCheck(folders: {
  /** Of the user: `.squad` is in it. */
  readonly checkout: LookedAt;
  /** git's, shared by all worktrees: squad's locks are in it. */
  readonly common: LookedAt;
  /** Worktrees of agents go below it. */
  readonly state: LookedAt;
}): DoctorCheck {
  const { checkout, common, state } = folders;
  const refused = [checkout, common].find(({ network }) => network !== undefined);
  const slow = state.network === undefined ? [] : [slowState(state, state.network)];
  const found = `${checkout.path}, on ${checkout.network ?? 'a local file system'}`;
  if (refused === undefined) return { name: 'repository', ok: true, found, problems: slow };
  const text = `${refused.path} is on a network file system (${refused.network}), where locks do not reach other machines: squad refuses to run there`;
  const problem = { text, next: 'Work in a clone of the repository on a local disk.' };
  return { name: 'repository', ok: false, found, problems: [problem, ...slow] };
}

function slowState({ path }: LookedAt, network: string): DoctorCheck['problems'][number] {
  return {
    text: `agents' worktrees go below ${path}, which is on a network file system (${network})`,
    next: 'Set XDG_STATE_HOME to a folder on a local disk.',
  };
}
