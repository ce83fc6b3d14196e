import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { storageError } from '../../model/storage-error.ts';

/** `.squad/runs/<run id>/`: files for people. */
export function runFolder(directory: string, runId: string): string {
  return join(directory, 'runs', runId);
}

/** What its agents are equipped with, each content under its hash. */
export function armoryFolder(directory: string, runId: string): string {
  return join(runFolder(directory, runId), 'armory');
}

export function writeRunFile(directory: string, runId: string, name: string, text: string): string {
  const path = join(runFolder(directory, runId), name);
  writeWhole(path, text);
  return path;
}

/** Replaces the file in one step, so that no reader sees a part of it. */
export function writeWhole(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw storageError(path, error);
  }
}
