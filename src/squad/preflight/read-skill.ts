import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { ContentFile } from '../../model/content.ts';
import type { SquadError } from '../../model/errors.ts';
import { SKILL_NAME } from '../../model/turn-request.ts';
import { confine, isWithin } from '../../substrate/system/files/confine.ts';
import { pathProblem } from '../../text/path-problem.ts';
import { openConfined } from '../../substrate/system/files/open-confined.ts';
import { quote } from '../../text/problem.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import { lineOf, problemError, textOf } from './read-input.ts';

const SKILL_FILE = 'SKILL.md';
const MOST_FILES = 500;
/** Also of one file of the repository that a command names. */
const MOST_CONTENT = 5 * 1024 * 1024;
const MOST_TEXT = 64 * 1024;

type Refuse = (why: string) => SquadError;

/**
 * The files of a skill, by their paths below its folder. Throws what `refuse` makes of a folder that cannot be used, and
 * `bad-input` for a SKILL.md that runtimes would leave out silently.
 */
export async function readSkill(root: string, folder: string, refuse: Refuse): Promise<ContentFile[]> {
  const problem = isAbsolute(folder) ? undefined : pathProblem(folder);
  if (problem !== undefined) throw refuse(problem);
  const place = isAbsolute(folder) ? folder : confine(root, folder);
  const real = await realpath(place).catch(() => undefined);
  if (real === undefined && folder.startsWith('~'))
    throw refuse('does not exist; write the whole path in place of “~”');
  if (real === undefined) throw refuse('does not exist');
  if (!SKILL_NAME.test(basename(folder))) {
    throw refuse('needs a name of lower-case letters, digits and dashes, which is the name of the skill');
  }
  if (!isAbsolute(folder) && !isWithin(await realpath(root), real)) {
    throw refuse('is a link to a place outside the repository');
  }
  if (!(await lstat(real)).isDirectory()) throw refuse('is not a folder');
  const files = await readFolder(real, refuse);
  const about = files.find(({ path }) => path === SKILL_FILE);
  if (about === undefined) throw refuse(`has no ${SKILL_FILE}`);
  checkAbout(about, join(folder, SKILL_FILE));
  return files;
}

async function readFolder(root: string, refuse: Refuse): Promise<ContentFile[]> {
  const files: ContentFile[] = [];
  let entries = 0;
  let bytes = 0;
  const folders = [''];
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    for (const name of await readdir(join(root, below))) {
      const path = join(below, name);
      entries += 1;
      if (entries > MOST_FILES) throw refuse(`has more than ${MOST_FILES} files`);
      const found = await kindOf(root, path);
      if (found.is === 'refused') throw refuse(`cannot be used: ${quote(path)} ${found.why}`);
      if (found.is === 'folder') folders.push(path);
      else {
        bytes += found.size;
        if (bytes > MOST_CONTENT) throw refuse(`is larger than ${MOST_CONTENT / 1024 ** 2} MiB`);
        files.push(await readFileBelow(root, path, (why) => refuse(`cannot be used: ${quote(path)} ${why}`)));
      }
    }
  }
  return files;
}

type Kind =
  | { readonly is: 'file'; readonly size: number }
  | { readonly is: 'folder' }
  | { readonly is: 'refused'; readonly why: string };

async function kindOf(root: string, path: string): Promise<Kind> {
  const problem = path.includes('\ufffd') ? 'has a name that is not UTF-8' : pathProblem(path);
  if (problem !== undefined) return { is: 'refused', why: problem };
  const found = await lstat(join(root, path));
  if (found.isDirectory()) return { is: 'folder' };
  if (found.isFile()) return { is: 'file', size: found.size };
  if (!found.isSymbolicLink()) return { is: 'refused', why: 'is not a regular file' };
  const link = confine(root, path);
  const real = await realpath(link).catch(() => undefined);
  if (real === undefined) return { is: 'refused', why: 'is a link to nothing' };
  if (!isWithin(root, real)) return { is: 'refused', why: 'is a link that leads out of the folder' };
  const target = await lstat(real);
  return target.isFile() ? { is: 'file', size: target.size } : { is: 'refused', why: 'is a link to no regular file' };
}

/** A file below a folder, safe against links that leave it. */
export async function readFileBelow(root: string, path: string, refuse: Refuse): Promise<ContentFile> {
  const opened = await openConfined(root, path);
  if (opened.type === 'refused') throw refuse(opened.why);
  try {
    const found = await opened.file.stat();
    if (found.size > MOST_CONTENT) throw refuse(`is larger than ${MOST_CONTENT / 1024 ** 2} MiB`);
    return { path, bytes: await opened.file.readFile(), executable: (found.mode & 0o100) !== 0 };
  } finally {
    await opened.file.close();
  }
}

/** A runtime shows both to its model, which then asks for the rest. */
const aboutSchema = z.object({ name: z.string(), description: z.string().min(1).max(1024) });
const EXAMPLE =
  '---\nname: release-notes\ndescription: How this project writes release notes. Use it for each release.\n---';
const FRONT = /^\ufeff?---[ \t]*\r?\n([^]*?)^---[ \t]*$/m;

function checkAbout({ bytes }: ContentFile, file: string): void {
  const refuse = (message: string): SquadError => problemError([{ file, line: 1, message, example: EXAMPLE }]);
  if (bytes.byteLength > MOST_TEXT) throw refuse(`is larger than ${MOST_TEXT / 1024} KiB`);
  const text = textOf(Buffer.from(bytes), file);
  const front = FRONT.exec(text)?.[1];
  if (front === undefined) throw refuse('does not begin with front matter that says what the skill is for');
  const parsed = parseYaml({ file, text: front, firstLine: 2, examples: { '': EXAMPLE } }, aboutSchema);
  if (!parsed.ok) throw problemError(parsed.problems);
  const { name } = parsed.value;
  if (name === basename(dirname(file))) return;
  const message = `name: ${quote(name)} is not the name of the folder, by which runtimes know a skill`;
  throw problemError([{ file, line: lineOf(text, 'name'), message, example: EXAMPLE }]);
}
