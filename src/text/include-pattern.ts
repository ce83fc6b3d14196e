/** A line of a list of files in the syntax of `.gitignore`. */
export interface IncludePattern {
  readonly text: string;
  readonly line: number;
  /** Why it cannot be one; undefined: it can. */
  readonly problem: string | undefined;
  /** The path from the root that it names; undefined: it has wildcards, counts in every folder, or excludes. */
  readonly names: string | undefined;
}

/** The patterns of a `.worktreeinclude`: neither blank lines nor comments. */
export function includePatterns(text: string): IncludePattern[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.replace(/(?<!\\)\s+$/, '');
    return trimmed === '' || trimmed.startsWith('#') ? [] : [includePattern(trimmed, index + 1)];
  });
}

export function includePattern(text: string, line: number): IncludePattern {
  const path = text.replace(/^!/, '').replace(/^\//, '').replace(/\/$/, '');
  const parts = path.split('/');
  const problem = parts.includes('..')
    ? 'leaves the repository'
    : text.startsWith('~')
      ? 'is no path in the repository'
      : parts[0]?.toLowerCase() === '.git'
        ? 'names git’s own folder'
        : undefined;
  const isPlain = !/[*?[\\]/.test(path) && !text.startsWith('!');
  return { text, line, problem, names: isPlain ? path : undefined };
}

/** Whether the pattern says more of an ignored folder than its name: what is in `node_modules` is not looked at for `.env` alone. */
export function reachesInto(pattern: IncludePattern, folder: string): boolean {
  const parts = pattern.text.replace(/^\//, '').replace(/\/$/, '').split('/');
  const names = folder.split('/');
  if (pattern.text.startsWith('!') || parts.length < 2) return false;
  for (const [index, name] of names.entries()) {
    const part = parts[index];
    if (part === '**') return index > 0;
    if (part === undefined || index === parts.length - 1) return false;
    if (part !== name && !matchesName(part, name)) return false;
  }
  return true;
}

/** Only `*` and `?`; what may match some other way counts as a match. */
function matchesName(part: string, name: string): boolean {
  if (/[[\\]/.test(part)) return true;
  let [at, from, star, back] = [0, 0, -1, 0];
  while (at < name.length) {
    if (from < part.length && (part[from] === '?' || part[from] === name[at]) && part[from] !== '*') {
      at += 1;
      from += 1;
    } else if (part[from] === '*') {
      [star, back] = [from, at];
      from += 1;
    } else if (star >= 0) {
      back += 1;
      [from, at] = [star + 1, back];
    } else return false;
  }
  return /^\**$/.test(part.slice(from));
}
