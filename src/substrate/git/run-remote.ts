import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SquadError, usageError } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import { createGit, isCommitId, requireCommitId, requireName, type GitAnswer } from './git-call.ts';
import { callOnUser } from './git-context.ts';
import { pushAnswer } from './forge/push.ts';
import { said, type ForgePorts, type ForgeRepository } from './forge/remotes.ts';
import { runUserGit } from './forge/user-git.ts';
import { refsIn, type RefAt } from './run-bundle.ts';

/** The refs of a run at the remote of a pool, for the worker that has the run. */
export interface RunRemote {
  /**
   * Makes the refs of the run there equal to these, and moves the lease ref, all or nothing. Sends nothing where nothing has changed. Throws
   * `lease-fenced` once another worker has moved the lease ref, and `storage-refused` while the remote does not answer.
   */
  push(refs: readonly RefAt[]): Promise<void>;
  /** Creates a branch there, or moves it forward; never forces. Returns why it could not. */
  publish(branch: string, commit: string): Promise<string | undefined>;
  /**
   * Looks whether this worker has the lease there still. Throws `lease-fenced` once another one has it, and `storage-refused` while the
   * remote does not answer.
   */
  confirm(): Promise<void>;
  /** Says there that no process of this worker works on the run any more, so that the next one need not wait for that. */
  giveUp(): Promise<void>;
  /** The worker before has not said so: its agents may still work, for as long as its newest `confirm` lets them. */
  readonly isContested: boolean;
}

export interface RemoteRun {
  readonly url: string;
  /** Its name. */
  readonly run: string;
  readonly id: string;
  readonly epoch: number;
  readonly worker: string;
}

/** No attempt can have these names: those of attempts end with a number. */
const LEASE = 'lease';
/** Where the run's branch is, while it has not been delivered. */
const HEAD = 'branch-head';

const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance', '--no-write-fetch-head'],
  ...['--refmap=', '--upload-pack=git-upload-pack'],
];
const PUSH = [
  ...['push', '--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no'],
  '--receive-pack=git-receive-pack',
];

/** The ref under which the remote keeps a run's branch that is not delivered. */
export function headRef(run: string): string {
  return `${below(run)}${HEAD}`;
}

function below(run: string): string {
  return `refs/squad/${requireName(run)}/`;
}

/** Brings the commits that the remote has of a run into a repository: its kept work below refs of the same names. Returns all refs there. */
export async function fetchRun(
  ports: ForgePorts,
  repository: ForgeRepository,
  { url, run }: Pick<RemoteRun, 'url' | 'run'>,
): Promise<RefAt[]> {
  const spec = `+${below(run)}*:${below(run)}*`;
  const answer = await runUserGit(ports, repository, 'git-fetch', [...FETCH, '--end-of-options', url, spec]);
  if (answer.code !== 0) throw away(url, answer);
  return refsIn(ports, repository, [below(run)]);
}

/** Brings the refs of a run that no worker has had to its remote. Throws `storage-refused` if it does not take them. */
export async function offerRun(
  ports: ForgePorts,
  repository: ForgeRepository,
  url: string,
  refs: readonly RefAt[],
): Promise<void> {
  // None may be there: they would be another run's.
  const isNew = refs.map(({ ref }) => `--force-with-lease=${ref}:`);
  const sent = refs.map(({ ref, at }) => `${requireCommitId(at)}:${ref}`);
  const args = [...PUSH, '--atomic', ...isNew, '--end-of-options', url, ...sent];
  const answer = await runUserGit(ports, repository, 'git-publish', args);
  if (answer.code !== 0) throw away(url, answer);
}

/**
 * Takes a run's lease at its remote for a worker that has a new epoch of it, and brings its commits. Throws `lease-fenced` if a later one
 * has taken it.
 */
export async function takeRun(ports: ForgePorts, repository: ForgeRepository, remote: RemoteRun): Promise<RunRemote> {
  const { run, epoch } = remote;
  const found = await fetchRun(ports, repository, remote);
  const git = createGit(ports);
  const call = callOnUser(repository.commonDirectory);
  const ref = below(run) + LEASE;
  const lease = found.find((one) => one.ref === ref)?.at;
  let isContested = false;
  if (lease !== undefined) {
    const text = await git.text(['cat-file', 'blob', lease], call);
    if (lineOf(text, 'run') !== remote.id) throw ofAnother(remote);
    if (Number(lineOf(text, 'epoch')) >= epoch) throw fenced(remote);
    isContested = lineOf(text, 'worker') !== '';
  }
  // They are the remote's own; here the ledger says where the branch is.
  for (const own of [ref, headRef(run)]) await git.text(['update-ref', '-d', own], call);
  const refs = found.filter((one) => one.ref !== ref);
  const mine = createRemote(ports, repository, remote, { lease, refs, isContested });
  await mine.move([]);
  return mine;
}

function lineOf(text: string, name: string): string {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line?.slice(name.length + 1) ?? '';
}

function ofAnother({ run, url }: RemoteRun): SquadError {
  const shown = plainLine(said(url), 300);
  return usageError(
    `${shown} has refs of another run ${run}`,
    `If that run is over, delete them: \`git ls-remote ${shown} '${below(run)}*'\`, then \`git push ${shown} --delete REF…\`.`,
  );
}

interface Known {
  readonly lease: string | undefined;
  readonly refs: readonly RefAt[];
  readonly isContested: boolean;
}

function createRemote(
  ports: ForgePorts,
  repository: ForgeRepository,
  remote: RemoteRun,
  known: Known,
): RunRemote & { move(refspecs: readonly string[]): Promise<void> } {
  const { url, run } = remote;
  const ref = below(run) + LEASE;
  let { lease } = known;
  /** Values of this worker: the remote may have one whose answer was lost on its way. */
  const sent = new Set<string>();
  let there = new Map(known.refs.map(({ ref: name, at }) => [name, at]));

  const send = async (next: string, refspecs: readonly string[]) => {
    const args = [...PUSH, '--atomic', `--force-with-lease=${ref}:${lease ?? ''}`, '--end-of-options', url];
    return runUserGit(ports, repository, 'git-publish', [...args, `${next}:${ref}`, ...refspecs]);
  };
  // Another value each time: the remote itself compares, and an equal one would not be sent.
  const move = async (refspecs: readonly string[], holder: string | null = remote.worker): Promise<void> => {
    const next = await writeLease(ports, repository, remote, holder);
    sent.add(next);
    const answer = await send(next, refspecs);
    const isPushed = pushAnswer(answer, { remote: url, branch: run, command: 'git push' }).type === 'pushed';
    if (!isPushed) {
      // A refusal may be about another ref, and an answer lost on its way, of this push or one before.
      lease = await look();
      if (lease !== next) throw away(url, answer);
    }
    lease = next;
  };
  async function look(): Promise<string | undefined> {
    const now = await leaseAt(ports, repository, { url, ref });
    if (now !== lease && (now === undefined || !sent.has(now))) throw fenced(remote);
    return now;
  }
  return {
    move,
    confirm: async () => void (await look()),
    giveUp: async () => move([], null),
    isContested: known.isContested,
    push: async (refs) => {
      const wanted = new Map(refs.map(({ ref: name, at }) => [name, requireCommitId(at)]));
      const changed = [...wanted].filter(([name, at]) => there.get(name) !== at).map(([name, at]) => `+${at}:${name}`);
      const gone = [...there.keys()].filter((name) => !wanted.has(name)).map((name) => `:${name}`);
      if (changed.length + gone.length === 0) return;
      await move([...changed, ...gone]);
      there = wanted;
    },
    publish: async (branch, commit) => {
      const args = [...PUSH, '--no-force-with-lease', '--end-of-options', url, `${requireCommitId(commit)}:${branch}`];
      const answer = await runUserGit(ports, repository, 'git-publish', args);
      const shown = { remote: plainLine(said(url), 300), branch, command: `git push ${branch}` };
      const pushed = pushAnswer(answer, shown);
      return pushed.type === 'pushed' ? undefined : pushed.why;
    },
  };
}

/** A new object that names the holder. */
async function writeLease(
  ports: ForgePorts,
  { commonDirectory }: ForgeRepository,
  { id, epoch }: RemoteRun,
  holder: string | null,
): Promise<string> {
  const note = join(commonDirectory, `squad-lease-${randomUUID()}`);
  try {
    const worker = holder === null ? '' : `worker ${plainLine(holder, 80)}\n`;
    const text = `run ${id}\nepoch ${epoch}\n${worker}${randomUUID()}\n`;
    await writeFile(note, text, { flag: 'wx', mode: 0o600 });
    const args = ['hash-object', '-w', '--no-filters', '--', note];
    return requireCommitId(await createGit(ports).text(args, callOnUser(commonDirectory)));
  } finally {
    await rm(note, { force: true });
  }
}

/** The object that the lease ref of the remote names now. */
async function leaseAt(
  ports: ForgePorts,
  repository: ForgeRepository,
  { url, ref }: { readonly url: string; readonly ref: string },
): Promise<string | undefined> {
  const args = ['ls-remote', '--quiet', '--upload-pack=git-upload-pack', '--end-of-options', url, ref];
  const answer = await runUserGit(ports, repository, 'git-fetch', args);
  if (answer.code !== 0) throw away(url, answer);
  const [at = ''] = answer.stdout.split(/\s/);
  return isCommitId(at) ? at : undefined;
}

function fenced({ run, epoch, worker, url }: RemoteRun): SquadError {
  return new SquadError({
    code: 'lease-fenced',
    message: `another worker has moved ${below(run)}${LEASE} of ${plainLine(said(url), 300)}, so ${plainLine(worker, 80)} (epoch ${epoch}) may push nothing more of the run`,
    next: 'Look at the run with `squad pool`.',
  });
}

function away(url: string, answer: Pick<GitAnswer, 'stdout' | 'stderr' | 'problem'>): SquadError {
  const rejected = answer.stdout.split('\n').filter((line) => line.startsWith('!'));
  const why = [answer.problem, ...rejected.map(said), said(answer.stderr)].filter(
    (text) => text !== undefined && text !== '',
  );
  return new SquadError({
    code: 'storage-refused',
    message: `the remote ${plainLine(said(url), 300)} did not take or give the commits of the run: ${plainLine(why.join('; '), 600)}`,
    next: 'See that this machine may read and push there: `git ls-remote URL`.',
  });
}
