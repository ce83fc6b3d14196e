import { closeSync, mkdirSync, readSync, writeFileSync } from 'node:fs';
import { errorCode } from '../../model/storage-error.ts';
import { bytesOf, textOfPath, type PlainFolder } from '../system/files/plain-folder.ts';
import type { Git, GitCall } from './git-call.ts';
import { UnreadableFolder } from './unreadable-folder.ts';

/** Says which paths git ignores. A folder is asked for before the paths in it. */
export interface IgnoreRules {
  /** The file of rules by which each is ignored; undefined: it is not. */
  ask(
    paths: readonly { readonly path: string; readonly isFolder: boolean }[],
  ): Promise<readonly (string | undefined)[]>;
  close(): Promise<void>;
}

const IGNORE_FILE = '.gitignore';
const MOST_BYTES = 1024 * 1024;
/** It has the user's own rules for all repositories, too. */
const OF_ALL = 'info/exclude';
const AT_ONCE = 500;
/** Each answer has the file of the rule, its line, the rule and the path. */
const FIELDS = 4;

/**
 * Asks git, which cannot see the folder: in the empty folder `stage` stand only the folders in question and copies of their
 * `.gitignore`. `missing`: a `.gitignore` that a sparse checkout leaves out.
 */
export async function openIgnoreRules(
  { git, call, stage }: { readonly git: Git; readonly call: GitCall; readonly stage: string },
  files: PlainFolder,
  missing: (path: string) => Promise<Buffer | undefined>,
): Promise<IgnoreRules> {
  const args = ['check-ignore', '--no-index', '--stdin', '-z', '--non-matching', '--verbose'];
  const talk = await git.converse(args, { ...call, cwd: stage, workTree: stage });
  const staged = new Set<string>();
  const top = Buffer.from(stage).toString('latin1');

  const showFolder = async (folder: string): Promise<void> => {
    if (staged.has(folder)) return;
    staged.add(folder);
    if (folder !== '') {
      await showFolder(parentOf(folder));
      makeFolder(`${top}/${folder}`);
    }
    const path = folder === '' ? IGNORE_FILE : `${folder}/${IGNORE_FILE}`;
    const rules = readRules(files, path) ?? (await missing(path));
    if (rules !== undefined) writeFileSync(bytesOf(`${top}/${path}`), rules);
  };
  const askSome = async (paths: readonly string[]): Promise<(string | undefined)[]> => {
    // A name that begins with a colon would be a pattern.
    const request = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1');
    const answer = await talk.ask(request, endOfFields(paths.length * FIELDS));
    if (answer === undefined) throw new UnreadableFolder('git does not say which files are ignored');
    const fields = answer.toString('latin1').split('\0');
    return paths.map((_, index) => {
      const [source = '', , rule = ''] = fields.slice(index * FIELDS);
      if (source === '' || rule.startsWith('!')) return undefined;
      return source.startsWith('/') ? OF_ALL : textOfPath(source);
    });
  };
  return {
    ask: async (paths) => {
      const answers: (string | undefined)[] = [];
      for (let from = 0; from < paths.length; from += AT_ONCE) {
        const some = paths.slice(from, from + AT_ONCE);
        for (const { path, isFolder } of some) {
          await showFolder(parentOf(path));
          // A rule may be for folders only.
          if (isFolder) makeFolder(`${top}/${path}`);
        }
        answers.push(...(await askSome(some.map(({ path }) => path))));
      }
      return answers;
    },
    close: async () => {
      talk.close();
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function makeFolder(path: string): void {
  try {
    mkdirSync(bytesOf(path));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Only of a plain file, as git does. */
function readRules(files: PlainFolder, path: string): Buffer | undefined {
  const file = files.open(path);
  if (file === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > MOST_BYTES) throw new UnreadableFolder(`${textOfPath(path)} is longer than ${MOST_BYTES} bytes`);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** The end of so many fields. Remembers where it was, because a long answer comes in parts. */
function endOfFields(count: number): (bytes: Buffer) => number {
  let [at, left] = [0, count];
  return (bytes) => {
    for (; left > 0; left -= 1) {
      const end = bytes.indexOf(0, at);
      if (end === -1) return 0;
      at = end + 1;
    }
    return at;
  };
}
