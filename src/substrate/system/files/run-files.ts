import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, storageError } from '../../../model/storage-error.ts';
import { readPlain } from './read-plain.ts';
import { failpoint } from '../failpoint.ts';

/** A file that is not whole yet has this before its name. */
const FRESH = '.new-';
const ARMORY = 'armory';

/** Files for people. */
export function runFolder(directory: string, runId: string): string {
  return join(directory, 'runs', runId);
}

/** Where its turns' equipment starts, in a folder for each turn: beside what agents see of the run. */
export function equipmentFolder(directory: string, runId: string): string {
  return join(directory, 'apart', runId);
}

/** The ignored files of the checkout that its folders get, where no agent can write. */
export function copiesFolder(directory: string, runId: string): string {
  return join(directory, 'copies', runId);
}

/** The files that came with requests. Agents read them here, and no sandbox lets them write. */
export function attachmentsFolder(directory: string): string {
  return join(directory, 'attachments');
}

/** The ports that its folders got. */
export function portsFile(directory: string, runId: string): string {
  return join(runFolder(directory, runId), 'ports.json');
}

/** The equipment of the run's agents, each content under its hash. */
export function armoryFolder(directory: string, runId: string): string {
  return join(runFolder(directory, runId), ARMORY);
}

export async function writeRunFile(directory: string, runId: string, name: string, text: string): Promise<string> {
  const path = join(runFolder(directory, runId), name);
  await writeWhole(path, text);
  return path;
}

/** Says when the output of a run's turns was dropped. */
export const DROPPED = 'output-dropped';

/** When a tidying dropped the output of this run; undefined: none did. */
export async function outputDroppedAt(directory: string, runId: string): Promise<number | undefined> {
  const text = await readPlain(join(runFolder(directory, runId), DROPPED)).catch(() => '');
  const at = Date.parse(text.trim());
  return Number.isNaN(at) ? undefined : at;
}

let written = 0;

interface Manner {
  /** Permissions of the file. Absent: this user's alone. */
  readonly mode?: number;
  /** Called when the new file is on the disk, right before it takes the place of the old one. */
  beforeRename?(fresh: string): Promise<void>;
}

/**
 * Replaces the file in one step: a reader, and a crash at any moment, finds the old one or the new one. Two writers at once do not
 * get into each other's way.
 */
export async function writeWhole(path: string, content: string | Uint8Array, manner: Manner = {}): Promise<void> {
  written += 1;
  const fresh = join(dirname(path), `${FRESH}${process.pid}-${written}-${basename(path)}`);
  try {
    await writeFresh(fresh, content, manner.mode ?? 0o600);
    await manner.beforeRename?.(fresh);
    failpoint('files.before-rename');
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined);
    throw storageError(path, error);
  }
  failpoint('files.renamed');
}

/** The name of the file that a file of this name was to become; undefined: it is no unfinished one. */
export function unfinishedOf(name: string): string | undefined {
  return UNFINISHED.exec(name)?.[1];
}

const UNFINISHED = /^\.new-\d+-\d+-(.+)$/s;

async function writeFresh(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const write = async (): Promise<void> => writeFile(path, content, { mode, flag: 'wx', flush: true });
  try {
    await write();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // A killed engine may have left one, or another program a link.
    else if (errorCode(error) === 'EEXIST') await rm(path, { force: true });
    else throw error;
    await write();
  }
}

/** The ledger can make these again, so a cleaning removes them. The report, files of people and the equipment stay. */
const PROJECTED = ['history', 'artifacts', 'failures', 'files', 'state.json', 'checklist.md'];

/** Those of them that are there, by their paths. */
export async function projectedFiles(folder: string): Promise<string[]> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  return PROJECTED.filter((name) => names.includes(name)).map((name) => join(folder, name));
}

/** Removes the files that killed engines left half written in the folder of a run. */
export async function removeUnfinished(folder: string): Promise<void> {
  const inside = { withFileTypes: true, recursive: true } as const;
  const tops = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = tops.flatMap((top) =>
    top.isDirectory() && top.name !== ARMORY ? [readdir(join(folder, top.name), inside)] : [],
  );
  const files = [tops, ...(await Promise.all(below))]
    .flat()
    .filter((one) => one.isFile() && one.name.startsWith(FRESH));
  for (const { parentPath, name } of files) await rm(join(parentPath, name), { force: true });
}
