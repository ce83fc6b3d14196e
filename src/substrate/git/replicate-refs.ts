import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SquadError, wrongEnvironment } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import { createGit, findObject, requireCommitId, requireName } from './git-call.ts';
import { said, type ForgePorts, type ForgeRepository } from './forge/remotes.ts';
import { runUserGit } from './forge/user-git.ts';

/** Refs that only the remote has. No attempt can have these names, because of the dot. */
const LEASE = 'pool.lease';
const HEAD = 'pool.branch';
const OPTIONS = [
  ...['--quiet', '--no-recurse-submodules', '--no-auto-maintenance', '--no-write-fetch-head', '--no-tags'],
  '--upload-pack=git-upload-pack',
];
const PUSH_OPTIONS = [
  ...['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no', '--atomic'],
  '--receive-pack=git-receive-pack',
];

/** Who may push for a run. */
export interface RefLease {
  readonly epoch: number;
  readonly worker: string;
}

/** A run whose commits are at a remote. */
export interface ReplicatedRun {
  readonly name: string;
  readonly url: string;
}

export interface PushedRun {
  /** Where the run branch is, which the remote gets only as `isDelivered`. Absent: the run has none. */
  readonly branch?: { readonly ref: string; readonly at: string } | undefined;
  readonly isDelivered: boolean;
}

/** Brings the commits of a run from its remote, each below the ref that it has. */
export async function fetchRun(ports: ForgePorts, place: ForgeRepository, { name, url }: ReplicatedRun): Promise<void> {
  const below = `refs/squad/${requireName(name)}/*`;
  const args = ['fetch', ...OPTIONS, '--end-of-options', url, `+${below}:${below}`];
  const answer = await runUserGit(ports, place, 'git-fetch', args);
  if (answer.code === 0) return;
  throw notReached('fetched from', url, [answer.problem, said(answer.stderr)]);
}

/**
 * Pushes all commits of one run, and takes or keeps the right to do so in the same step: the remote compares the lease, so that no push of
 * a worker that has lost the run moves anything.
 */
export function createRefPush(ports: ForgePorts, place: ForgeRepository, { name, url }: ReplicatedRun, lease: RefLease) {
  const git = createGit(ports);
  const call = { cwd: place.root, gitDirectory: place.commonDirectory };
  const refOf = (one: string): string => `refs/squad/${requireName(name)}/${one}`;
  let known: string | undefined;
  let pushes = 0;
  const note = async (): Promise<string> => {
    pushes += 1;
    const file = join(ports.stateDirectory, `lease-${randomUUID()}`);
    try {
      // Another text each time: git sends nothing of a ref that stays, and then nothing is compared.
      await writeFile(file, JSON.stringify({ ...lease, pushes }), { flag: 'wx', mode: 0o600 });
      return await git.text(['hash-object', '-w', '--no-filters', '--', file], call);
    } finally {
      await rm(file, { force: true });
    }
  };
  const push = async (refspecs: readonly string[]): Promise<void> => {
    const mine = await note();
    const args = [
      ...['push', ...PUSH_OPTIONS, `--force-with-lease=${refOf(LEASE)}:${known ?? ''}`, '--end-of-options', url],
      ...[...refspecs, `${mine}:${refOf(LEASE)}`],
    ];
    const answer = await runUserGit(ports, place, 'git-publish', args);
    if (answer.code !== 0) {
      if (/stale info|fetch first/.test(`${answer.stdout}${answer.stderr}`)) throw lostRef(name, url);
      const rejected = answer.stdout.split('\n').filter((line) => line.startsWith('!'));
      throw notReached('pushed to', url, [answer.problem, said(rejected.join('; ')), said(answer.stderr)]);
    }
    known = mine;
  };
  return {
    /** After `fetchRun`. Throws `lease-fenced` if a later worker has it. */
    take: async (): Promise<void> => {
      const found = await findObject(git, call, `${refOf(LEASE)}^{blob}`);
      const text = found === undefined ? '' : await git.text(['cat-file', 'blob', requireCommitId(found)], call);
      if (epochIn(text) > lease.epoch) throw lostRef(name, url);
      known = found;
      // No other command of squad knows these.
      for (const one of [LEASE, HEAD]) await git.run(['update-ref', '-d', refOf(one)], call);
      await push([]);
    },
    /** All refs of the run as they are now. */
    push: async ({ branch, isDelivered }: PushedRun): Promise<void> => {
      const args = ['for-each-ref', '--format=%(refname)', refOf('')];
      const below = (await git.text(args, call)).split('\n').filter((ref) => ref !== '');
      const heads = branch === undefined ? [] : [`+${requireCommitId(branch.at)}:${refOf(HEAD)}`];
      const delivered = branch === undefined || !isDelivered ? [] : [`${branch.at}:${branch.ref}`];
      await push([...below.map((ref) => `+${ref}:${ref}`), ...heads, ...delivered]);
    },
  };
}

function epochIn(text: string): number {
  return Number(/"epoch":(\d{1,9})\b/.exec(text)?.[1] ?? 0);
}

function lostRef(name: string, url: string): SquadError {
  return new SquadError({
    code: 'lease-fenced',
    message: `another worker has taken over ${name}: refs/squad/${name}/${LEASE} at ${plainLine(said(url), 200)} is not as this one left it`,
    next: 'See who has it with `squad pool`.',
  });
}

function notReached(what: string, url: string, why: readonly (string | undefined)[]): SquadError {
  const text = why.filter((one) => one !== undefined && one !== '').join('; ');
  return wrongEnvironment(
    `the commits of the run could not be ${what} ${plainLine(said(url), 200)}: ${plainLine(text, 800)}`,
    'See that this machine may fetch and push there: `git ls-remote URL`, `git push --dry-run`.',
  );
}
