import { constants } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { badInput, type SquadError } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { attachmentIn, MOST_FILE_BYTES, type Attachment } from '../../model/sprint/request.ts';
import { errorCode } from '../../model/storage-error.ts';
import { MOST_ATTACHMENTS } from '../../rules/sprint/intake.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { attachmentName } from '../../rules/sprint/attachment-name.ts';
import { attachmentsFolder, writeWhole } from '../../substrate/system/files/run-files.ts';
import { byteCount } from '../../text/byte-count.ts';
import { quotedName } from '../../text/plain-text.ts';

/** A file of someone. `name`: as its sender calls it, who may be anyone. */
export interface GivenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Where the bytes of an attachment are, below the state of a repository: by its own name, as programs go by the end of a name. */
export function attachmentPath(directory: string, one: Pick<Attachment, 'sha256' | 'name'>): string {
  return attachmentIn(attachmentsFolder(directory), one);
}

/** Keeps the bytes of files, each once, and says what a record holds of them. Throws `bad-input` for one that is refused. */
export async function storeAttachments(directory: string, files: readonly GivenFile[]): Promise<Attachment[]> {
  const checked = files.map(({ name: given, bytes }) => {
    const checkedName = attachmentName(given);
    if ('problem' in checkedName) throw refused(given, checkedName.problem);
    if (bytes.length > MOST_FILE_BYTES) throw tooLarge(given);
    const sha256 = sha256Of(bytes);
    return { bytes, kept: { id: sha256.slice(0, 8), name: checkedName.name, bytes: bytes.length, sha256 } };
  });
  const own = new Map(checked.map((one) => [`${one.kept.sha256} ${one.kept.name}`, one]));
  for (const { bytes, kept } of own.values()) {
    const path = attachmentPath(directory, kept);
    const size = await stat(path).then(
      (found) => found.size,
      () => undefined,
    );
    if (size !== bytes.length) await writeWhole(path, bytes, { mode: 0o400 });
  }
  return [...own.values()].map(({ kept }) => kept);
}

/** Keeps files that a person names, by their paths. Throws `bad-input` for one that is refused: then none is kept. */
export async function keepAttachments(
  { host, directory }: Pick<OpenedWorkspace, 'host' | 'directory'>,
  paths: readonly string[],
): Promise<Attachment[]> {
  if (paths.length > MOST_ATTACHMENTS) {
    throw badInput(
      `${paths.length} files are attached, and ${MOST_ATTACHMENTS} are allowed`,
      'Attach one archive of them.',
    );
  }
  const files = await Promise.all(paths.map(async (path) => readAttachment(host.workingDirectory, path)));
  return storeAttachments(directory, files);
}

/** Reads a file that a person names. Throws `bad-input` for what is no plain file: to wait for a pipe would take for ever. */
export async function readAttachment(workingDirectory: string, path: string): Promise<GivenFile> {
  const whole = resolve(workingDirectory, path);
  const name = basename(whole);
  const checked = attachmentName(name);
  if (path.includes('\0') || 'problem' in checked) {
    throw refused(name, 'problem' in checked ? checked.problem : 'its name has a NUL in it');
  }
  const found = await lstat(whole).catch((error: unknown) => {
    throw refused(
      path,
      errorCode(error) === 'ENOENT' ? 'there is no such file' : `it cannot be read: ${errorCode(error) ?? 'unknown'}`,
    );
  });
  if (found.isSymbolicLink()) throw refused(path, 'it is a link', 'Name the file that it leads to.');
  if (found.isDirectory()) throw refused(path, 'it is a folder', 'Attach its files, or an archive of them.');
  if (!found.isFile()) throw refused(path, 'it is no plain file');
  if (found.size > MOST_FILE_BYTES) throw tooLarge(path);
  return { name, bytes: await readOpened(whole, path) };
}

/** Reads what was looked at, or nothing: another program may have replaced it. */
async function readOpened(whole: string, path: string): Promise<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(whole, flags).catch((error: unknown) => {
    throw refused(path, `it cannot be read: ${errorCode(error) ?? 'unknown'}`);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refused(path, 'it is no plain file');
    // A file that grows meanwhile is read no further than this.
    const buffer = Buffer.alloc(Math.min(stats.size, MOST_FILE_BYTES) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    if (length > MOST_FILE_BYTES) throw tooLarge(path);
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

function refused(name: string, why: string, next = 'Attach a plain file with a plain name.'): SquadError {
  return badInput(`the file ${quotedName(name)} cannot be attached: ${why}`, next);
}

export function tooLarge(name: string): SquadError {
  return refused(
    name,
    `it is larger than ${byteCount(MOST_FILE_BYTES)}`,
    'Put it where agents can read it, and name that place in the request.',
  );
}
