import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SquadError } from '../model/errors.ts';
import { readProcess } from '../substrate/process/process-table.ts';
import { parseJson } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';

/** What other commands may know of a server: never its secret, because agents can read files of this user. */
const noteSchema = z.object({ pid: z.int(), port: z.int(), repository: z.string() });
type Note = z.infer<typeof noteSchema>;

const NOTE = 'server.json';

/** A new folder of this process. Removes those of processes that were killed. */
export async function makeFolder(parent: string, pid: number): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) {
    const owner = Number.parseInt(name, 10);
    if (!Number.isInteger(owner) || readProcess(owner) !== undefined) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${pid}-`));
}

export async function noteServer(folder: string, note: Note): Promise<void> {
  await writeFile(join(folder, NOTE), JSON.stringify(note), { mode: 0o600 });
}

/** The error of a port that is taken, where another `squad studio` of this user has it; undefined: none of them has. */
export async function servedOn(parent: string, port: number, cause: unknown): Promise<SquadError | undefined> {
  const names = await readdir(parent).catch(() => []);
  const notes = await Promise.all(names.map(async (name) => readNote(join(parent, name, NOTE))));
  const note = notes.find((one) => one?.port === port && readProcess(one.pid) !== undefined);
  if (note === undefined) return undefined;
  const place = plainLine(note.repository, 300);
  return new SquadError({
    code: 'port-busy',
    message: `squad studio serves ${place} on port ${port} already, as process ${note.pid}`,
    next: `Its address has a secret, which only the terminal that started it shows. Take it from there, end that one with \`kill ${note.pid}\`, or take another port: \`squad studio --port ${port + 1}\`.`,
    cause,
  });
}

async function readNote(path: string): Promise<Note | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return noteSchema.safeParse(parseJson(text)).data;
}
