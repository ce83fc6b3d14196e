import { splitEntries, type Git, type GitCall } from './git-call.ts';

/** Facts about the files of a commit, for the person's warnings. */
export interface CommitFacts {
  /** Filters that its `.gitattributes` name. */
  readonly filters: readonly string[];
  /** Paths of its submodules. */
  readonly submodules: readonly string[];
}

/** No match, or no such file. */
const NOTHING = 1;

/** The newest commit that was read. A commit never says anything else, in whatever repository, so it is read once. */
let newest: { readonly commit: string; readonly facts: CommitFacts } | undefined;

export async function commitFacts(git: Git, call: GitCall, commit: string): Promise<CommitFacts> {
  if (newest?.commit === commit) return newest.facts;
  const [filters, submodules] = await Promise.all([filtersOf(git, call, commit), submodulesOf(git, call, commit)]);
  const facts = { filters: filters ?? [], submodules: submodules ?? [] };
  if (filters !== undefined && submodules !== undefined) newest = { commit, facts };
  return facts;
}

/** undefined: git did not say. */
async function submodulesOf(git: Git, call: GitCall, commit: string): Promise<readonly string[] | undefined> {
  const args = ['config', '--blob', `${commit}:.gitmodules`, '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const { code, stdout } = await git.run(args, call);
  if (code !== 0) return code === null ? undefined : [];
  return splitEntries(stdout).map((entry) => entry.slice(entry.indexOf('\n') + 1));
}

/** undefined: git did not say. */
async function filtersOf(git: Git, call: GitCall, commit: string): Promise<readonly string[] | undefined> {
  const attributes = [':(glob)**/.gitattributes'];
  const pattern = ['--no-textconv', '--no-color', '-h', '-o', '-E', 'filter=[^[:space:]]+'];
  const { code, stdout } = await git.run(['grep', ...pattern, commit, '--', ...attributes], call);
  if (code !== 0 && code !== NOTHING) return undefined;
  return [...new Set(stdout.split('\n').map((line) => line.replace(/^filter=/, '')))]
    .filter((name) => name !== '')
    .toSorted();
}
