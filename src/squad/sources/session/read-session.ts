import { constants, type Dirent } from 'node:fs';
import { access, open, opendir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sha256Of } from '../../../model/sha256.ts';
import { badInput, errorText, type SquadError } from '../../../model/errors.ts';
import { errorCode } from '../../../model/storage-error.ts';
import { checkSession } from '../../../playbooks/session/check-session.ts';
import type { FileRead, FolderRead, SessionCheck, SessionRefusal } from '../../../playbooks/session/folder-read.ts';
import { MOST_READ_OF_ALL } from '../../../playbooks/session/knowledge-room.ts';
import type { Session } from '../../../playbooks/session/session.ts';

import { unfinishedOf } from '../../../substrate/system/files/run-files.ts';
import { defined } from '../../../text/defined.ts';
import { problemText } from '../../../text/problem.ts';
import { readOpen, refusalOf, type TextRead } from '../../preflight/read-input.ts';

/** The files that are read, by the folder that has them. */
const READ: Readonly<Record<string, RegExp>> = {
  '': /^(?:team-session|task-analysis|shared-memory)\.json$/,
  roles: /\.md$/,
  artifacts: /\.md$/,
  wisdom: /^(?:learnings|decisions|issues)\.md$/,
  explorations: /^(?:cache-index|explore-.*)\.json$/,
  discussions: /\.md$/,
  '.msg': /^messages\.jsonl$/,
};
/** The folders of a session that squad reads, as paths below its own folder. */
export const SESSION_FOLDERS: readonly string[] = Object.keys(READ);
/** It can be long, and a run writes it again, so its content is not read. */
const NOT_READ = '.msg/messages.jsonl';

const MOST_ENTRIES = 10_000;

const TOO_MUCH = 'exceeds the 32 MiB that squad reads of one session';
const LINK = 'is a link, which squad does not follow: replace it with the';
const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
/** Non-blocking, because a pipe would block squad for ever. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The session in a folder, and where that is. Throws the one error about all that is wrong with it. */
export async function readSession(
  folder: string,
  workingDirectory: string,
): Promise<{ readonly session: Session; readonly path: string }> {
  const check = await checkFolder(folder, workingDirectory);
  if (!check.ok) throw sessionError(check);
  return { session: check.session, path: await realpath(resolve(workingDirectory, folder)) };
}

export async function checkFolder(folder: string, workingDirectory: string): Promise<SessionCheck> {
  return checkSession(await readSessionFolder(folder, workingDirectory));
}

export function sessionError({ first, problems, next }: SessionRefusal): SquadError {
  return badInput([first, ...problems.map(problemText)].join('\n'), next);
}

/**
 * Reads the files of a session that squad uses. The folder may be a link, but links in it are not followed. Problems of files are in the
 * result, not thrown.
 */
export async function readSessionFolder(folder: string, workingDirectory: string): Promise<FolderRead> {
  const reading: Reading = { files: new Map(), folders: [], left: MOST_READ_OF_ALL };
  try {
    const root = await realpath(resolve(workingDirectory, folder));
    await inFolder(root, async (here) => {
      reading.folders.push('');
      const entries = await readEntries(reading, '', here);
      for (const entry of entries) await readSubfolder(reading, entry, here);
    });
  } catch (error) {
    setIf(reading, '', whyOf(refusalOf(error)));
  }
  return { folder, files: reading.files, folders: reading.folders };
}

/**
 * The first of a session's folders that is there and in which squad could not read and write, and why. `folder`: absolute. `names`:
 * of folders below it; empty: itself.
 */
export async function unwritableIn(
  folder: string,
  names = SESSION_FOLDERS,
): Promise<{ readonly name: string; readonly why: string } | undefined> {
  for (const name of names) {
    try {
      await access(join(folder, name), constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') return { name, why: errorText(error) };
    }
  }
  return undefined;
}

interface Reading {
  readonly files: Map<string, FileRead>;
  readonly folders: string[];
  /** Characters that may still be read. */
  left: number;
}

/** Keeps the folder open meanwhile: on Linux, what is looked up in it is found there whatever happens to its name. */
async function inFolder(path: string, look: (path: string) => Promise<void>): Promise<void> {
  const handle = await open(path, FOLDER);
  try {
    await look(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path);
  } finally {
    await handle.close();
  }
}

async function readSubfolder(reading: Reading, entry: Dirent, root: string): Promise<void> {
  const { name } = entry;
  if (name === '' || !Object.hasOwn(READ, name)) return;
  if (!entry.isDirectory()) {
    reading.files.set(name, { why: entry.isSymbolicLink() ? `${LINK} folder` : 'is no folder' });
    return;
  }
  try {
    await inFolder(join(root, name), async (here) => {
      reading.folders.push(name);
      await readEntries(reading, name, here);
    });
  } catch (error) {
    setIf(reading, name, whyOf(refusalOf(error)));
  }
}

/** Reads the files that are named in `READ`. Returns all entries. */
async function readEntries(reading: Reading, folder: string, here: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(here)) {
    entries.push(entry);
    if (entries.length > MOST_ENTRIES) {
      reading.files.set(folder, { why: `holds more than ${MOST_ENTRIES} files` });
      break;
    }
  }
  const wanted = READ[folder];
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    // A run writes it at this moment, or was killed while it did.
    if (wanted?.test(entry.name) !== true || unfinishedOf(entry.name) !== undefined) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const read = await readEntry(entry, join(here, entry.name), path !== NOT_READ);
    if (read !== undefined && 'text' in read) reading.left -= read.text.length;
    setIf(reading, path, reading.left < 0 ? { why: TOO_MUCH } : read);
  }
  return entries;
}

function setIf({ files }: Reading, path: string, read: FileRead | undefined): void {
  if (read !== undefined) files.set(path, read);
}

/** undefined: there is nothing to say of it. */
async function readEntry(entry: Dirent, path: string, isRead: boolean): Promise<FileRead | undefined> {
  if (entry.isSymbolicLink()) return { why: `${LINK} file` };
  if (entry.isDirectory()) return { why: 'is a folder, where a file has to be' };
  if (!isRead) return undefined;
  try {
    const read = await readOpen(await open(path, FILE), entry.name);
    if (read.type !== 'text') return whyOf(read);
    // An editor's mark before the text is no part of it.
    const text = read.text.replace(/^\ufeff/, '');
    return { text, hash: sha256Of(read.text) };
  } catch (error) {
    return whyOf(refusalOf(error));
  }
}

/** undefined: it is not there. */
function whyOf(read: TextRead): FileRead | undefined {
  if (read.type !== 'refused') return undefined;
  return { why: read.why, ...defined({ line: read.line }) };
}
