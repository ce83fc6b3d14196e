import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OTHERS } from '../../../model/repositories.ts';
import { withScratch } from '../../system/files/scratch.ts';
import { createGit, type Git, type GitCall, gitFailed, type GitPorts, OUTPUT_CAP } from '../git-call.ts';
import { callOn, callOnUser } from '../git-context.ts';
import { fetchArguments, LOCAL_ONLY, makeBare } from '../run-repository.ts';

/** A repository of a run, by its git directory, and a commit of it. */
export interface Part {
  readonly name: string;
  readonly commonDirectory: string;
  readonly commit: string;
}

/** A git directory for a moment, which has the objects of all repositories of a run, and gets new ones. */
export interface Joined {
  readonly directory: string;
  readonly git: Git;
  readonly call: GitCall;
  /** A file for a git to read. */
  readonly file: (content: string | Buffer) => Promise<string>;
}

/** Changes none of the repositories. `home`: the one that the run was started in. */
export async function withJoined<T>(
  ports: GitPorts,
  home: Part,
  others: readonly Part[],
  work: (joined: Joined) => Promise<T>,
): Promise<T> {
  return withScratch(ports.stateDirectory, async (scratch) => {
    const directory = join(scratch, 'joined.git');
    const stores = [home, ...others].map(({ commonDirectory }) => join(commonDirectory, 'objects'));
    makeBare(directory, settingsFor(home.commit), stores, scratch);
    let files = 0;
    return work({
      ...{ directory, git: createGit(ports), call: callOn(directory) },
      file: async (content) => {
        files += 1;
        const path = join(scratch, `input-${files}`);
        await writeFile(path, content);
        return path;
      },
    });
  });
}

const SHA1 = 40;

function settingsFor(commit: string): string {
  if (commit.length === SHA1) return '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
  return '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n';
}

/** An entry of a tree, as git prints it and takes it again: names that are no plain text are quoted. */
export interface TreeEntry {
  readonly name: string;
  readonly id: string;
  readonly line: string;
}

export async function entriesOf({ git, call }: Pick<Joined, 'git' | 'call'>, tree: string): Promise<TreeEntry[]> {
  // A name may end in a blank.
  const args = ['ls-tree', '--full-tree', tree];
  const answer = await git.run(args, call);
  if (answer.code !== 0) throw gitFailed(args, answer);
  if (answer.stdout.length >= OUTPUT_CAP)
    throw gitFailed(args, { ...answer, problem: 'the folder has too many files' });
  return answer.stdout.split('\n').flatMap((line) => {
    const [, id, name] = /^\d+ \w+ ([0-9a-f]+)\t(.*)$/.exec(line) ?? [];
    return id === undefined || name === undefined ? [] : [{ name, id, line }];
  });
}

export async function makeTree({ git, call, file }: Joined, lines: readonly string[]): Promise<string> {
  const input = await file(lines.map((line) => `${line}\n`).join(''));
  return git.text(['mktree'], { ...call, input });
}

/** The line of a folder in a tree. */
export function folderLine(name: string, tree: string): string {
  return `040000 tree ${tree}\t${name}`;
}

/**
 * The commit from which a run of several repositories begins: the tree of `home`, with those of the others in `repositories/`. The same
 * commits always make the same one. It has the history of `home`, and not that of the others.
 */
export async function joinCommits(joined: Joined, home: Part, others: readonly Part[]): Promise<string> {
  const { git, call } = joined;
  const top = await entriesOf(joined, home.commit);
  const mounted: string[] = [];
  for (const { name, commit } of others) {
    mounted.push(folderLine(name, await git.text(['rev-parse', '--verify', `${commit}^{tree}`], call)));
  }
  const own = top.flatMap(({ name, line }) => (name === OTHERS ? [] : [line]));
  const tree = await makeTree(joined, [...own, folderLine(OTHERS, await makeTree(joined, mounted))]);
  const at = await git.text(['log', '-1', '--no-show-signature', '--format=%ct', home.commit], call);
  const date = `@${at} +0000`;
  const environment = { ...call.environment, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const message = `Join ${others.map(({ name, commit }) => `${name} (${commit.slice(0, 12)})`).join(', ')}`;
  return git.text(['commit-tree', tree, '-p', home.commit, '-m', message], { ...call, environment });
}

/** Brings a commit, with all that it needs, from the joined objects into a repository. Safe to repeat. */
export async function bringCommit({ git, call, directory }: Joined, commit: string, to: string): Promise<void> {
  const ref = `refs/heads/${commit}`;
  await git.text(['update-ref', ref, commit], call);
  const user = callOnUser(to);
  const args = fetchArguments(directory, ref);
  const fetched = await git.run(args, { ...user, environment: { ...user.environment, ...LOCAL_ONLY } });
  if (fetched.code !== 0) throw gitFailed(args, fetched);
}
