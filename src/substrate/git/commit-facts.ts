import { splitEntries, type Git, type GitCall } from './git-call.ts';

/** Facts about the files of a commit, for the person's warnings. */
export interface CommitFacts {
  /** Filters that its `.gitattributes` name. */
  readonly filters: readonly string[];
  /** Paths of its submodules. */
  readonly submodules: readonly string[];
}

const FILTERS = ['grep', '--no-textconv', '--no-color', '-h', '-o', '-E', 'filter=[^[:space:]]+'];
const PATHS = ['-z', '--get-regexp', '^submodule\\..*\\.path$'];

/** No match, or no such file. */
const NOTHING = 1;

/** The newest commit that was read. A commit never says anything else, in whatever repository, so it is read once. */
let newest: { readonly commit: string; readonly facts: CommitFacts } | undefined;

export async function commitFacts(git: Git, call: GitCall, commit: string): Promise<CommitFacts> {
  if (newest?.commit === commit) return newest.facts;
  const [attributes, modules] = await Promise.all([
    git.run([...FILTERS, commit, '--', ':(glob)**/.gitattributes'], call),
    git.run(['config', '--blob', `${commit}:.gitmodules`, ...PATHS], call),
  ]);
  const filters = new Set(attributes.stdout.replaceAll(/^filter=/gm, '').split('\n'));
  filters.delete('');
  const submodules = modules.code === 0 ? splitEntries(modules.stdout) : [];
  const facts = {
    filters: [...filters].toSorted(),
    submodules: submodules.map((entry) => entry.slice(entry.indexOf('\n') + 1)),
  };
  // Another failure of git may not come again.
  const isSaid = attributes.code === 0 || attributes.code === NOTHING;
  if (isSaid && modules.code !== null) newest = { commit, facts };
  return facts;
}
