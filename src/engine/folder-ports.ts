import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { wrongEnvironment } from '../model/errors.ts';
import { sha256Of } from '../model/sha256.ts';
import { turnRequestSchema, type Workspace } from '../model/turn-request.ts';
import type { TurnResult } from '../model/turn-result.ts';
import type { Attempt } from '../model/attempt.ts';
import { readPlain } from '../substrate/system/files/read-plain.ts';
import { isPortFree } from '../substrate/system/process/free-port.ts';
import { parseJson } from '../text/json.ts';
import { saysTaken } from '../text/port-place.ts';

/** Below the ports that systems give to connections, and above those of most services. */
const FIRST = 20_000;
const COUNT = 10_000;

const givenSchema = z.record(z.string(), z.int().min(1).max(65_535));

/** A port of its own for each folder with a repository. */
export interface FolderPorts {
  /** The folder with its port: free when it was given, and the same from then on. Throws if none is free. */
  place(workspace: Workspace): Promise<Workspace>;
  /** If a command says that something else has its port, the next one looks, and gets another one if that is so. */
  heard(attempt: Pick<Attempt, 'kind' | 'request'> | undefined, result: TurnResult): void;
}

interface PortFacts {
  /** Where they are written down, for the next engine. */
  readonly file: string;
  onTaken(this: void, text: string): void;
  /** Absent: the system is asked. */
  isFree?: (this: void, port: number) => Promise<boolean>;
}

export function createFolderPorts({ file, onTaken, isFree = isPortFree }: PortFacts): FolderPorts {
  const given = new Map<string, number>();
  const doubted = new Set<string>();
  let read: Promise<void> | undefined;
  const remember = async (): Promise<void> => {
    // If this is lost, folders only get other ports.
    if (!existsSync(file)) return;
    const known = givenSchema.safeParse(parseJson(await readPlain(file).catch(() => ''))).data ?? {};
    for (const [folder, port] of Object.entries(known)) if (!given.has(folder)) given.set(folder, port);
  };
  // Nothing is flushed: a turn waits for it, and what a power cut takes costs no more than another port.
  const write = (): void => {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(given)), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch {
      // The next engine gives other ports.
    }
  };
  /** By the folder's name, so that it mostly finds the one that it had. */
  const find = async (folder: string, not: number | undefined): Promise<number> => {
    const from = Number.parseInt(sha256Of(folder).slice(0, 8), 16);
    for (let step = 0; step < COUNT; step += 1) {
      const port = FIRST + ((from + step) % COUNT);
      if (port === not || [...given.values()].includes(port)) continue;
      given.set(folder, port);
      if (await isFree(port)) return port;
    }
    given.delete(folder);
    throw wrongEnvironment(
      `no port from ${FIRST} to ${FIRST + COUNT - 1} is free on this machine`,
      'End programs that listen there, then run `squad resume`.',
    );
  };
  return {
    place: async (workspace) => {
      const { path, repository } = workspace;
      if (repository !== true) return workspace;
      read ??= remember();
      await read;
      const known = given.get(path);
      const isDoubted = doubted.delete(path);
      if (known !== undefined && (!isDoubted || (await isFree(known)))) return { ...workspace, port: known };
      const port = await find(path, known);
      write();
      if (known !== undefined) onTaken(`another program has port ${known} of ${path}, which gets ${port} from now on`);
      return { ...workspace, port };
    },
    heard: (attempt, { failure, text }) => {
      if (attempt?.kind !== 'check' || failure === undefined) return;
      const { path } = turnRequestSchema.parse(parseJson(attempt.request)).workspace;
      const port = given.get(path);
      if (port !== undefined && saysTaken(text, port)) doubted.add(path);
    },
  };
}
