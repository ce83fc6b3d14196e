import { closeSync, constants, existsSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readPlain } from '../../substrate/system/files/read-plain.ts';
import { z } from 'zod';
import type { Host } from '../../engine/compose.ts';
import { errorText, SquadError } from '../../model/errors.ts';
import { errorCode, isStorageError, storageError } from '../../model/storage-error.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { writeWhole } from '../../substrate/system/files/run-files.ts';
import { syncFile } from '../../substrate/system/files/sync.ts';
import { bindState, findState } from '../../substrate/system/files/state-place.ts';
import type { RepositoryReport } from '../../substrate/ports/workspaces.ts';
import { parseJson } from '../../text/json.ts';
import { shellWord } from '../../text/shell-word.ts';

/** The oldest entries beyond this number are dropped; squad asks for them again. */
const MOST_ENTRIES = 1_000;
/** More than wait in a queue: a run whose entry is gone would be held. */
const MOST_RUNS = 10_000;

const entrySchema = z.object({
  hash: z.string(),
  /** Epoch ms. */
  at: z.int(),
});
/** Consent to one run, now and when it is resumed. `run`: its id; `hash`: of what it is made of. */
const runEntrySchema = entrySchema.extend({ run: z.string() });
type RunEntry = z.infer<typeof runEntrySchema>;
const fileSchema = z.object({
  version: z.literal(1),
  trusted: z.array(entrySchema),
  /** As an earlier version kept them. */
  runs: z.array(runEntrySchema).default([]),
});

/** A JSON document, and after it a line for each run: a run is added without writing the others again. */
const DOCUMENT = /^\{[^]*?\n\}\n/;
/** Longer ones are written anew, with the newest runs. */
const MOST_BYTES = 4 * 1024 * 1024;
const OTHERS_WRITE = 0o022;

/**
 * The file with this person's consents for one repository: `npm test` is a different program in another one. It is with the
 * repository's state, outside of the repository, so that none can consent for itself.
 */
export interface TrustStore {
  readonly path: string;
  /** Where it is written: a repository in which nothing ran yet gets a place in the state folder. */
  place(): string;
}

const FILE = 'trust.json';

/** A repository, as it is found in the state folder. */
export type TrustedPlace = Pick<RepositoryReport, 'root' | 'commonDirectory'>;

export function trustStoreOf(
  { stateDirectory }: Pick<Host, 'stateDirectory'>,
  { root, commonDirectory }: TrustedPlace,
): TrustStore {
  return {
    path: join(findState(stateDirectory, commonDirectory).directory, FILE),
    place: () => join(bindState(stateDirectory, commonDirectory, basename(root)).directory, FILE),
  };
}

export async function isTrusted(store: TrustStore, hash: string): Promise<boolean> {
  const { trusted } = await readStore(store);
  return trusted.some((entry) => entry.hash === hash);
}

export async function isRunTrusted(store: TrustStore, run: string, hash: string): Promise<boolean> {
  const { lines } = await readStore(store);
  // All of them: a file that is damaged proves nothing.
  const runs = lines.map((line) => {
    const read = runEntrySchema.safeParse(parseJson(line));
    if (read.success) return read.data;
    throw notOurs(store.path);
  });
  return runs.some((entry) => entry.run === run && entry.hash === hash);
}

/** Atomic: neither a crash nor another process that writes at the same time loses an entry. */
export async function rememberTrust(store: TrustStore, { hash, at }: { hash: string; at: number }): Promise<void> {
  await whileLocked(store, async (path) => {
    const { trusted, lines } = await readStore({ path });
    const others = trusted.filter((entry) => entry.hash !== hash);
    await writeStore(path, { trusted: [...others, { hash, at }].slice(-MOST_ENTRIES), lines });
  });
}

/** Keeps earlier consents to the run: after a crash it may still be as it was then. */
export async function rememberRun(store: TrustStore, { run, hash, at }: RunEntry): Promise<void> {
  const line = JSON.stringify({ run, hash, at });
  await whileLocked(store, async (path) => {
    if (existsSync(path) && appendLine(path, line)) return;
    const { trusted, lines } = await readStore({ path });
    await writeStore(path, { trusted, lines: [...lines, line] });
  });
}

/**
 * While no other process writes the store. What `work` gets keeps a consent as `rememberRun` does, at once; where the store cannot be
 * written it does nothing, and squad asks again.
 */
export async function whileRemembering<T>(
  store: TrustStore,
  work: (remember: (entry: RunEntry) => void) => T,
): Promise<T> {
  let done: (() => T) | undefined;
  try {
    await whileLocked(store, async (path) => {
      if (!appendLine(path)) await writeStore(path, await readStore({ path }));
      done = outcomeOf(() => work(({ run, hash, at }) => keepLine(path, JSON.stringify({ run, hash, at }))));
    });
  } catch (error) {
    if (!isStorageError(error)) throw error;
  }
  return done === undefined ? work(() => undefined) : done();
}

function keepLine(path: string, line: string): void {
  try {
    appendLine(path, line);
  } catch {
    // The disk is full.
  }
}

/** Its result, or its error, which is none of the store. */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

interface Entries {
  readonly trusted: readonly z.infer<typeof entrySchema>[];
  /** Each is one consent to a run. */
  readonly lines: readonly string[];
}

const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** False: the file has to be read and written anew, if it can be. Without a line it only looks. Synchronous, because others wait. */
function appendLine(path: string, line?: string): boolean {
  let file: number;
  try {
    file = openSync(path, APPEND);
  } catch {
    return false;
  }
  try {
    const found = fstatSync(file);
    const isPlain = found.isFile() && (found.mode & OTHERS_WRITE) === 0;
    if (!isPlain || found.size === 0 || found.size > MOST_BYTES) return false;
    // A line that was cut short would swallow the next one.
    const end = Buffer.alloc(1);
    readSync(file, end, 0, 1, found.size - 1);
    if (end.toString() !== '\n') return false;
    if (line === undefined) return true;
    writeSync(file, `${line}\n`);
    fdatasyncSync(file);
    return true;
  } finally {
    closeSync(file);
  }
}

async function writeStore(path: string, { trusted, lines }: Entries): Promise<void> {
  const document = JSON.stringify({ version: 1, trusted }, null, 2);
  await writeWhole(path, `${[document, ...lines.slice(-MOST_RUNS)].join('\n')}\n`, {
    beforeRename: () => {
      failpoint('trust.before-rename');
      return Promise.resolve();
    },
  });
  syncFile(dirname(path));
}

async function whileLocked(store: TrustStore, work: (path: string) => Promise<void>): Promise<void> {
  try {
    const path = store.place();
    await briefly(`${path}.lock`, work.bind(undefined, path));
  } catch (error) {
    if (error instanceof SquadError && !isStorageError(error)) throw error;
    const why = errorText(isStorageError(error) ? error.cause : error);
    throw new SquadError({
      code: 'storage-refused',
      message: `${store.path}: squad cannot store your consent: ${why}`,
      next: 'Let your user write there, or run the command again with `--yes`.',
      cause: error,
    });
  }
}

async function readStore({ path }: Pick<TrustStore, 'path'>): Promise<Entries> {
  let text: string;
  try {
    if (((await stat(path)).mode & OTHERS_WRITE) !== 0) {
      throw new SquadError({
        code: 'wrong-environment',
        message: `${path} can be written by other users, so it does not prove your consent`,
        next: `Check it, then run \`chmod 600 ${path}\`.`,
      });
    }
    text = await readPlain(path);
  } catch (error) {
    // The first time: there is no consent yet.
    const code = errorCode(error) ?? '';
    if (code === 'ENOENT') return { trusted: [], lines: [] };
    if (/^(?:EINVAL|ENXIO|EISDIR|ELOOP)$/.test(code)) throw notOurs(path);
    throw storageError(path, error);
  }
  const head = DOCUMENT.exec(text)?.[0] ?? text;
  const document = fileSchema.safeParse(parseJson(head)).data;
  if (document === undefined) throw notOurs(path);
  // A line without an end was cut short, and is no consent.
  const added = text.slice(head.length).split('\n').slice(0, -1);
  return { trusted: document.trusted, lines: [...document.runs.map((run) => JSON.stringify(run)), ...added] };
}

function notOurs(path: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `${path}: squad did not write this`,
    next: `Remove it with \`rm -r ${shellWord(path)}\`. squad then asks for your consent again.`,
  });
}
