import type { Composition, Host } from '../../engine/compose.ts';
import { MOST_COPIED_BYTES, MOST_COPIES, type CopiedFile } from '../../model/copied-file.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { findCopies, type CopiesFound } from '../../substrate/git/find-copies.ts';
import { readCopy } from '../../substrate/system/files/copied-files.ts';
import { withScratch } from '../../substrate/system/files/scratch.ts';
import { byteCount } from '../../text/byte-count.ts';
import { includePattern, includePatterns, type IncludePattern } from '../../text/include-pattern.ts';
import { plainLine } from '../../text/plain-text.ts';
import { lineOf, orThrow, problemError, readConfined } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';
import { copyItems } from './trust.ts';
import type { TrustItem } from './trust-item.ts';

/** Claude Code, Codex and others read it, too. */
const INCLUDE_FILE = '.worktreeinclude';
const MOST_LINES = 500;

export interface Copies {
  /** undefined: none. */
  readonly copied: CopiedFile[] | undefined;
  readonly items: readonly TrustItem[];
  readonly notes: readonly { readonly about: 'copies'; readonly text: string; readonly next?: undefined }[];
}

export const NO_COPIES: Copies = { copied: undefined, items: [], notes: [] };

interface Listed {
  readonly file: string;
  readonly patterns: readonly IncludePattern[];
  /** A path that it names has to be an ignored file: no other tool reads this list. */
  readonly isStrict: boolean;
  /** A person's own file needs no consent. */
  readonly isOwn: boolean;
}

interface CopyPorts {
  readonly host: Pick<Host, 'stateDirectory'>;
  readonly git: Composition['git'];
}

/** The ignored files that the run's folders get, by `.worktreeinclude` and `copy` together. Throws for the first that cannot be copied. */
export async function copiesOf(
  ports: CopyPorts,
  root: string,
  read: Pick<SettingsRead, 'settings' | 'repository' | 'own'>,
  redactor: Redactor,
): Promise<Copies> {
  const lists = [...(await listedIn(root)), ...listedBy(read)];
  const copied = new Map<string, CopiedFile>();
  const items: TrustItem[] = [];
  const notes: Copies['notes'][number][] = [];
  for (const list of lists) {
    const texts = list.patterns.map(({ text }) => text);
    // Those of the settings are listed with the other settings.
    if (!list.isStrict) items.push(...copyItems(texts, `${list.file}:${list.patterns[0]?.line ?? 1}`));
    const found = await withScratch(ports.host.stateDirectory, async (scratch) =>
      findCopies(ports.git, root, list.patterns, scratch),
    );
    notes.push(...judgeOthers(list, found));
    for (const { path, pattern } of found.files) {
      if (copied.has(path)) continue;
      const at = { file: list.file, line: pattern.line };
      if (redactor.text(path) !== path) throw refusal(at, path, 'has a secret in its name');
      const one = await readCopy(root, path);
      if (one.type === 'refused') throw refusal(at, path, one.why);
      copied.set(path, one.file);
      refuseTooMuch(at, [...copied.values()]);
      const detail = byteCount(one.file.bytes);
      const run = `${path}, into folders in which work is built or checked`;
      if (!list.isOwn) items.push({ from: 'copy', run, where: `${at.file}:${at.line}`, detail });
    }
  }
  return { copied: copied.size === 0 ? undefined : [...copied.values()], items, notes };
}

async function listedIn(root: string): Promise<Listed[]> {
  const read = await readConfined(root, INCLUDE_FILE);
  if (read.type === 'absent') return [];
  const patterns = includePatterns(orThrow(read, INCLUDE_FILE));
  return checked({ file: INCLUDE_FILE, patterns, isStrict: false, isOwn: false });
}

function listedBy(read: Pick<SettingsRead, 'settings' | 'repository' | 'own'>): Listed[] {
  const { file, text } = fileOf(read, 'copy');
  const from = lineOf(text, 'copy');
  const lines = text.split('\n').slice(from - 1);
  const patterns = read.settings.copy.map((one) => {
    const at = lines.findIndex((line) => line.includes(one));
    return includePattern(one, from + Math.max(0, at));
  });
  return checked({ file, patterns, isStrict: true, isOwn: file === read.own?.file });
}

function checked(list: Listed): Listed[] {
  const { file, patterns } = list;
  const bad = patterns.find(({ problem }) => problem !== undefined);
  if (bad !== undefined) {
    const message = `${plainLine(bad.text, 100)} ${bad.problem}; name files by their path from its root`;
    throw problemError([{ file, line: bad.line, message }]);
  }
  const last = patterns[MOST_LINES];
  if (last !== undefined) throw problemError([{ file, line: last.line, message: `more than ${MOST_LINES} patterns` }]);
  return patterns.length === 0 ? [] : [list];
}

const STANDINGS = {
  tracked: 'is tracked by git, so each folder has it already; only ignored files are copied',
  'not-ignored': 'is not ignored by git, so an agent would deliver it; add it to .gitignore first',
  odd: 'is not a regular file; squad copies plain files',
  absent: 'is not there',
} as const;

/** Throws for a path that `copy` names and that is no ignored file. In the other list, which other tools read too, it is a note. */
function judgeOthers({ file, isStrict }: Listed, { others, tooMuch }: CopiesFound): Copies['notes'][number][] {
  if (tooMuch !== undefined) {
    const what = tooMuch === '' ? 'the repository' : `${plainLine(tooMuch, 100)}/`;
    throw problemError([
      { file, line: 1, message: `${what} holds more ignored files than squad looks at; name the files more exactly` },
    ]);
  }
  const said = others.map(({ pattern, standing }) => ({
    line: pattern.line,
    isOdd: standing === 'odd',
    message: `${plainLine(pattern.text, 100)} ${STANDINGS[standing]}`,
  }));
  const first = said.find(({ isOdd }) => isStrict || isOdd);
  if (first !== undefined) throw problemError([{ file, line: first.line, message: first.message }]);
  return said.map(({ line, message }) => ({ about: 'copies', text: `${file}:${line}: ${message}` }));
}

interface At {
  readonly file: string;
  readonly line: number;
}

function refuseTooMuch(at: At, files: readonly CopiedFile[]): void {
  if (files.length > MOST_COPIES) {
    const message = `more than ${MOST_COPIES} files are to be copied, such as ${plainLine(files.at(-1)?.path ?? '', 100)}`;
    throw problemError([{ ...at, message }], `Name fewer files in ${at.file}; let \`setup\` make what can be made.`);
  }
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > MOST_COPIED_BYTES) {
    const message = `the files to copy have more than ${byteCount(MOST_COPIED_BYTES)} together`;
    throw problemError([{ ...at, message }], `Name fewer files in ${at.file}; let \`setup\` make what can be made.`);
  }
}

function refusal(at: At, path: string, why: string) {
  return problemError(
    [{ ...at, message: `${plainLine(path, 100)} ${why}; squad copies plain files of at most 10 MB` }],
    `Name other files in ${at.file}, then run the command again.`,
  );
}
