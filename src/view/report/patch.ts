/** A changed file with the first lines of its diff. */
export interface FilePatch {
  readonly path: string;
  readonly added: number;
  readonly deleted: number;
  readonly lines: readonly string[];
  /** Lines that are not in `lines`. */
  readonly missing: number;
}

export interface Patch {
  readonly files: readonly FilePatch[];
  /** Files that are not in `files`. */
  readonly missing: number;
}

const MOST_FILES = 200;
const MOST_LINES = 400;
const MOST_ALL = 8_000;
const MOST_WIDTH = 500;

/** Folds the lines of `git diff` into files, within bounds: a page has to stay readable. */
export async function foldPatch(lines: AsyncIterable<string> | Iterable<string>): Promise<Patch> {
  const files: (Omit<FilePatch, 'lines'> & { lines: string[] })[] = [];
  let all = 0;
  let missing = 0;
  let inHunk = false;
  let file: { -readonly [Name in keyof FilePatch]: FilePatch[Name] } & { lines: string[] } = emptyFile('');
  for await (const line of lines) {
    if (line.startsWith('diff --git ')) {
      inHunk = false;
      file = emptyFile(pathOf(line));
      if (files.length < MOST_FILES) files.push(file);
      else missing += 1;
      continue;
    }
    if (line.startsWith('@@ ')) inHunk = true;
    if (!inHunk) file.path = namedBy(line) ?? file.path;
    if (inHunk && line.startsWith('+')) file.added += 1;
    if (inHunk && line.startsWith('-')) file.deleted += 1;
    if (file.lines.length >= MOST_LINES || all >= MOST_ALL || missing > 0) file.missing += 1;
    else {
      all += 1;
      file.lines.push(line.length > MOST_WIDTH ? `${line.slice(0, MOST_WIDTH)}…` : line);
    }
  }
  return { files, missing };
}

function emptyFile(path: string) {
  return { path, added: 0, deleted: 0, lines: [] as string[], missing: 0 };
}

/** `diff --git a/x b/x`: the name is there twice if the file was not renamed. */
function pathOf(line: string): string {
  const names = line.slice('diff --git '.length);
  return names.slice(2, Math.floor(names.length / 2));
}

function namedBy(line: string): string | undefined {
  const name = /^(?:\+\+\+ b\/|--- a\/|rename to )([^]*)$/.exec(line)?.[1];
  return name?.replace(/\t$/, '');
}
