import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../compose.ts';
import { errorText, SquadError } from '../model/errors.ts';
import { errorCode, isStorageError } from '../model/storage-error.ts';
import { failpoint } from '../substrate/failpoint.ts';
import { writeWhole } from '../substrate/files/run-files.ts';
import { parseJson } from '../text/json.ts';

/** The oldest entries beyond this number are dropped; squad asks for them again. */
const MOST_ENTRIES = 1_000;

const entrySchema = z.object({
  hash: z.string(),
  /** Epoch ms. */
  at: z.int(),
  /** Root of the checkout: `npm test` is a different program in another one. */
  repository: z.string(),
});
const fileSchema = z.object({ version: z.literal(1), trusted: z.array(entrySchema) });
type Entry = z.infer<typeof entrySchema>;

/** The file with this person's consents. It is outside every repository, so that no repository can consent for itself. */
export interface TrustStore {
  readonly path: string;
}

export function trustStoreOf(host: Pick<Host, 'configHome'>): TrustStore {
  return { path: join(host.configHome, 'squad', 'trust.json') };
}

export async function isTrusted(store: TrustStore, { hash, repository }: Omit<Entry, 'at'>): Promise<boolean> {
  const entries = await readEntries(store);
  return entries.some((entry) => entry.hash === hash && entry.repository === repository);
}

/** Atomic. If two processes write at once, one entry is lost and squad asks again. */
export async function rememberTrust(store: TrustStore, entry: Entry): Promise<void> {
  const others = (await readEntries(store)).filter(
    ({ hash, repository }) => hash !== entry.hash || repository !== entry.repository,
  );
  const trusted = [...others, entry].slice(-MOST_ENTRIES);
  try {
    await mkdir(dirname(store.path), { recursive: true, mode: 0o700 });
    // Follow a link (people link their settings to one place) and replace the file itself.
    const path = await realpath(store.path).catch(() => store.path);
    await writeWhole(path, `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`, {
      beforeRename: () => {
        failpoint('trust.before-rename');
        return Promise.resolve();
      },
    });
  } catch (error) {
    const why = errorText(isStorageError(error) ? error.cause : error);
    throw new SquadError({
      code: 'storage-refused',
      message: `${store.path}: squad cannot store your consent: ${why}`,
      next: 'Let your user write there, or run the command again with `--yes`.',
      cause: error,
    });
  }
}

async function readEntries({ path }: TrustStore): Promise<readonly Entry[]> {
  let text: string;
  try {
    if (((await stat(path)).mode & 0o022) !== 0) {
      throw new SquadError({
        code: 'wrong-environment',
        message: `${path} can be written by other users, so it does not prove your consent`,
        next: `Check it, then run \`chmod 600 ${path}\`.`,
      });
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    // The first time: there is no consent yet.
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  const read = fileSchema.safeParse(parseJson(text));
  if (read.success) return read.data.trusted;
  throw new SquadError({
    code: 'bad-input',
    message: `${path}: squad did not write this content`,
    next: 'Delete it. squad then asks for your consent again.',
  });
}
