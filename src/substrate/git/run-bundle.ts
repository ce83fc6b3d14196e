import {
  createGit,
  findObject,
  gitFailed,
  requireCommitId,
  type Git,
  type GitCall,
  type GitPorts,
} from './git-call.ts';
import { callOnUser } from './git-context.ts';
import type { Checkout } from './repository.ts';
import { LOCAL_ONLY } from './run-repository.ts';
import { claimedBy } from './run-claim.ts';

type Place = Pick<Checkout, 'commonDirectory'>;

/** A ref and what it names. */
export interface RefAt {
  readonly ref: string;
  readonly at: string;
}

/** The refs of these names, and all below those that end with a slash. */
export async function refsIn(ports: GitPorts, { commonDirectory }: Place, names: readonly string[]): Promise<RefAt[]> {
  if (names.length === 0) return [];
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...names];
  const lines = (await createGit(ports).text(args, callOnUser(commonDirectory))).split('\n');
  return lines.flatMap((line) => {
    const [at = '', ref = ''] = line.split(' ');
    return ref === '' ? [] : [{ ref, at }];
  });
}

/** The commits among these that the repository does not have. */
export async function missingCommits(
  ports: GitPorts,
  { commonDirectory }: Place,
  commits: readonly string[],
): Promise<string[]> {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  const missing: string[] = [];
  for (const commit of new Set(commits)) {
    if ((await findObject(git, call, `${requireCommitId(commit)}^{commit}`)) === undefined) missing.push(commit);
  }
  return missing;
}

/**
 * Writes a git bundle of refs, without the history that `bases` have. false: git has nothing to put into it, because the bases have all
 * of it.
 */
export async function makeBundle(
  ports: GitPorts,
  { commonDirectory }: Place,
  { file, refs, bases }: { readonly file: string; readonly refs: readonly string[]; readonly bases: readonly string[] },
): Promise<boolean> {
  if (refs.length === 0) return false;
  const not = bases.map((base) => `^${requireCommitId(base)}`);
  const args = ['bundle', 'create', '--quiet', file, ...refs, ...not];
  const answer = await createGit(ports).run(args, callOnUser(commonDirectory));
  if (answer.code === 0) return true;
  if (answer.stderr.includes('empty bundle')) return false;
  throw gitFailed(['bundle'], answer);
}

/** Takes the objects and refs of a bundle, each ref under its own name; refs that are there move. */
export async function takeBundle(ports: GitPorts, { commonDirectory }: Place, file: string): Promise<void> {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  const heads = (await git.text(['bundle', 'list-heads', file], call)).split('\n');
  const refs = heads.flatMap((line) => line.split(' ')[1] ?? []).filter((ref) => OF_RUNS.test(ref));
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
  const args = ['-c', 'protocol.file.allow=always', 'fetch', ...quiet, '--refmap=', file];
  const answer = await git.run([...args, ...refs.map((ref) => `+${ref}:${ref}`)], { ...call, environment: LOCAL_ONLY });
  if (answer.code !== 0) throw gitFailed(['fetch'], answer);
}

const OF_RUNS = /^refs\/(?:heads\/)?squad\//;

/** Puts refs where a record has them. */
export async function putRefs(ports: GitPorts, { commonDirectory }: Place, refs: readonly RefAt[]): Promise<void> {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  for (const one of refs) await putRef(git, call, one);
}

async function putRef(git: Git, call: GitCall, { ref, at }: RefAt): Promise<void> {
  const answer = await git.run(['update-ref', ref, requireCommitId(at)], call);
  if (answer.code !== 0) throw gitFailed(['update-ref'], answer);
}

/** The id of the run that has a name in the repository; undefined: none has. */
export async function ownerOf(ports: GitPorts, { commonDirectory }: Place, run: string): Promise<string | undefined> {
  return claimedBy(createGit(ports), callOnUser(commonDirectory), run);
}
