/** Which files of a repository a folder has: the files of these folders, and those beside and above them. */
export interface Cone {
  /** As git keeps it. */
  readonly patterns: string;
  /** `path`: of a file, with one character for each byte. */
  readonly has: (path: string) => boolean;
}

/** The first line of the patterns that squad writes. */
const OWN = '# by squad: `sparse`\n';

/** The patterns for `sparse`, as `git sparse-checkout set --cone` writes them. */
export function conePatterns(folders: readonly string[]): string {
  const all = folders.map((folder) => folder.replace(/\/$/, ''));
  const whole = all.filter((one) => !all.some((other) => one.startsWith(`${other}/`)));
  const above = new Set(whole.flatMap((one) => parentsOf(one).slice(1)));
  const named = [...new Set([...above, ...whole])].toSorted();
  const lines = named.flatMap((one) => [`/${escaped(one)}/`, ...(above.has(one) ? [`!/${escaped(one)}/*/`] : [])]);
  return `${OWN}/*\n!/*/\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** undefined: they are of another kind, which only git reads rightly. */
export function parseCone(patterns: string): Cone | undefined {
  const lines = patterns.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  if (lines[0] !== '/*' || lines[1] !== '!/*/') return undefined;
  const [whole, above] = [new Set<string>(), new Set([''])];
  for (const line of lines.slice(2)) {
    const [, not, name = '', inner] = /^(!?)\/(.+?)\/(\*\/)?$/.exec(line) ?? [];
    if (not === undefined || (not === '!') !== (inner !== undefined)) return undefined;
    (not === '!' ? above : whole).add(name.replaceAll(/\\(.)/g, '$1'));
  }
  for (const one of above) whole.delete(one);
  return {
    patterns,
    has: (path) => {
      const [folder = '', ...further] = parentsOf(path).toReversed();
      return above.has(folder) || [folder, ...further].some((one) => whole.has(one));
    },
  };
}

/** Whether `sparse` of the settings, and not the person's own checkout, says what the folders of a run have. */
export function isOwn(patterns: string): boolean {
  return patterns.startsWith(OWN);
}

/** From the one in which it is, up to the root, `''`, without itself; topmost first. */
function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

function escaped(path: string): string {
  return path.replaceAll(/[*?[\\]/g, String.raw`\$&`);
}
