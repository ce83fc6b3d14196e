import { gitFailed, type Git, type GitCall } from './git-call.ts';

export interface ConfigEntry {
  /** Section and variable in lower case, as git lists them. */
  readonly key: string;
  readonly value: string;
}

/** git follows nested includes to this depth. */
const DEPTH = 10;

/** Every setting that git reads from files for a repository, in git's order. */
export async function readConfiguration(
  git: Git,
  gitDirectory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly ConfigEntry[]> {
  const call = { cwd: gitDirectory, gitDirectory, environment };
  const text = await git.text(['config', '--list', '--show-scope', '-z'], call);
  return pairsOf(text).flatMap(([scope, entry]) => (scope === 'command' ? [] : [entryOf(entry)]));
}

/** Keys of conditionally included files, even if the condition is false now: an agent can make it true, e.g. by a branch name. */
export async function conditionalKeys(
  git: Git,
  gitDirectory: string,
  entries: readonly ConfigEntry[],
): Promise<readonly string[]> {
  const call = { cwd: gitDirectory, gitDirectory };
  if (!entries.some(({ key }) => key.startsWith('includeif.'))) return [];
  const keys = new Set<string>();
  const seen = new Set<string>();
  let files = await conditionalFiles(git, call, []);
  for (let depth = 0; depth < DEPTH && files.length > 0; depth += 1) {
    const next: string[] = [];
    for (const file of files.filter((path) => !seen.has(path))) {
      seen.add(file);
      const where = ['--file', file, '--includes'];
      const { code, stdout } = await git.run(['config', ...where, '--list', '--name-only', '-z'], call);
      // git cannot read the file either.
      if (code !== 0) continue;
      for (const key of stdout.split('\0')) if (key !== '') keys.add(key);
      next.push(...(await conditionalFiles(git, call, where)));
    }
    files = next;
  }
  return [...keys];
}

/** Absolute paths by git's rules: `~` is a home directory, and a relative path starts at the file that names it. */
async function conditionalFiles(git: Git, call: GitCall, where: readonly string[]): Promise<readonly string[]> {
  const args = ['config', ...where, '--show-origin', '--type=path', '-z', '--get-regexp', '^includeif\\.'];
  const answer = await git.run(args, call);
  if (answer.code === 1) return [];
  if (answer.code !== 0) throw gitFailed(args, answer);
  return pairsOf(answer.stdout).flatMap(([origin, entry]) => {
    const { value } = entryOf(entry);
    if (value.startsWith('/')) return [value];
    const folder = /^file:(\/.*)\/[^/]*$/s.exec(origin)?.[1];
    return folder === undefined ? [] : [`${folder}/${value}`];
  });
}

function pairsOf(text: string): [string, string][] {
  const parts = text.split('\0');
  return parts.flatMap((part, index) => (index % 2 === 1 ? [[parts[index - 1] ?? '', part]] : []));
}

/** A key contains no line break. A key without a value means true. */
function entryOf(text: string): ConfigEntry {
  const end = text.indexOf('\n');
  return end === -1 ? { key: text, value: 'true' } : { key: text.slice(0, end), value: text.slice(end + 1) };
}
