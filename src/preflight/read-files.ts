import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { SquadError } from '../model/errors.ts';
import type { RunDefinition } from '../model/run.ts';
import { orThrow, readConfined } from './read-input.ts';

/** They are frozen with the run, in its ledger. */
const MOST_FILES = 200;
const MOST_CHARACTERS = 2 * 1024 * 1024;

/** Every file of a folder that a playbook has a format for, by path within it. Hidden files and links are passed over. */
export async function readFiles(folder: string, workingDirectory: string): Promise<RunDefinition['files']> {
  const root = resolve(workingDirectory, folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw refusal(`${folder} cannot be read`, error);
  });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
    .toSorted();
  if (paths.length > MOST_FILES) throw refusal(`${folder} has ${paths.length} files; ${MOST_FILES} are allowed`);
  const files: { path: string; text: string }[] = [];
  let size = 0;
  for (const path of paths) {
    const read = await readConfined(root, path);
    // Gone since it was listed.
    if (read.type === 'absent') continue;
    const text = orThrow(read, join(folder, path));
    size += text.length;
    if (size > MOST_CHARACTERS) throw refusal(`${folder} holds more than ${MOST_CHARACTERS / 1024 / 1024} MiB of text`);
    files.push({ path, text });
  }
  return files;
}

function refusal(message: string, cause?: unknown): SquadError {
  return new SquadError({
    code: 'bad-input',
    message,
    next: 'Name the folder that holds only the files of the playbook: `squad run objective.md --files <folder>`.',
    cause,
  });
}
