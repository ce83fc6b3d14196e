import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readPlain } from '../../substrate/system/files/read-plain.ts';
import { z } from 'zod';
import type { Host } from '../../engine/compose.ts';
import { errorText, SquadError } from '../../model/errors.ts';
import { errorCode, isStorageError, storageError } from '../../model/storage-error.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { briefly } from '../../substrate/system/files/brief-lock.ts';
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
const fileSchema = z.object({
  version: z.literal(1),
  trusted: z.array(entrySchema),
  runs: z.array(runEntrySchema).default([]),
});
type File = z.infer<typeof fileSchema>;

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
  const { runs } = await readStore(store);
  return runs.some((entry) => entry.run === run && entry.hash === hash);
}

/** Atomic: neither a crash nor another process that writes at the same time loses an entry. */
export async function rememberTrust(store: TrustStore, { hash, at }: { hash: string; at: number }): Promise<void> {
  await update(store, ({ trusted, runs }) => {
    const others = trusted.filter((entry) => entry.hash !== hash);
    return { trusted: [...others, { hash, at }].slice(-MOST_ENTRIES), runs };
  });
}

/** Keeps earlier consents to the run: after a crash it may still be as it was then. */
export async function rememberRun(
  store: TrustStore,
  { run, hash, at }: { run: string; hash: string; at: number },
): Promise<void> {
  await update(store, ({ trusted, runs }) => {
    const others = runs.filter((entry) => entry.run !== run || entry.hash !== hash);
    return { trusted, runs: [...others, { run, hash, at }].slice(-MOST_RUNS) };
  });
}

type Entries = Pick<File, 'trusted' | 'runs'>;

async function update(store: TrustStore, change: (entries: Entries) => Entries): Promise<void> {
  try {
    const path = store.place();
    await briefly(`${path}.lock`, async () => {
      const { trusted, runs } = change(await readStore({ path }));
      const content = { version: 1, trusted, ...(runs.length === 0 ? {} : { runs }) };
      await writeWhole(path, `${JSON.stringify(content, null, 2)}\n`, {
        beforeRename: () => {
          failpoint('trust.before-rename');
          return Promise.resolve();
        },
      });
      syncFile(dirname(path));
    });
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
    if (((await stat(path)).mode & 0o022) !== 0) {
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
    if (code === 'ENOENT') return { trusted: [], runs: [] };
    if (/^(?:EINVAL|ENXIO|EISDIR|ELOOP)$/.test(code)) throw notOurs(path);
    throw storageError(path, error);
  }
  const read = fileSchema.safeParse(parseJson(text));
  if (read.success) return read.data;
  throw notOurs(path);
}

function notOurs(path: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `${path}: squad did not write this`,
    next: `Remove it with \`rm -r ${shellWord(path)}\`. squad then asks for your consent again.`,
  });
}
