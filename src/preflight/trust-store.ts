import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../compose.ts';
import { errorText, SquadError } from '../model/errors.ts';
import { failpoint } from '../substrate/failpoint.ts';

/** Older ones are asked for again. */
const MOST_ENTRIES = 1_000;

const entrySchema = z.object({
  hash: z.string(),
  /** Epoch ms. */
  at: z.int(),
  /** Root of the checkout: the same `npm test` is another program elsewhere. */
  repository: z.string(),
});
const fileSchema = z.object({ version: z.literal(1), trusted: z.array(entrySchema) });
type Entry = z.infer<typeof entrySchema>;

/** Where this person's agreements are kept: outside every repository, so that none can agree to itself. */
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

/** Whole or not at all. Of two processes that write at once one is forgotten, and asks again. */
export async function rememberTrust(store: TrustStore, entry: Entry): Promise<void> {
  const others = (await readEntries(store)).filter(
    ({ hash, repository }) => hash !== entry.hash || repository !== entry.repository,
  );
  const trusted = [...others, entry].slice(-MOST_ENTRIES);
  try {
    await mkdir(dirname(store.path), { recursive: true, mode: 0o700 });
    // Behind a link, as people have who keep their settings in one place, the file itself is replaced.
    const path = await realpath(store.path).catch(() => store.path);
    await replaceFile(path, `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`);
  } catch (error) {
    throw new SquadError({
      code: 'storage-refused',
      message: `${store.path}: what you agreed to cannot be remembered: ${errorText(error)}`,
      next: 'Let your user write there, or run the command again with `--yes`.',
      cause: error,
    });
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomUUID()}`;
  try {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    failpoint('trust.before-rename');
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

async function readEntries({ path }: TrustStore): Promise<readonly Entry[]> {
  let text: string;
  try {
    if (((await stat(path)).mode & 0o022) !== 0) {
      throw new SquadError({
        code: 'wrong-environment',
        message: `${path} can be written by other users, so nobody knows whose word it is`,
        next: `Look at it, then run \`chmod 600 ${path}\`.`,
      });
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    // The first time: nothing was agreed to yet.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  const read = fileSchema.safeParse(parseJson(text));
  if (read.success) return read.data.trusted;
  throw new SquadError({
    code: 'bad-input',
    message: `${path} is not what squad wrote there`,
    next: 'Delete it: what you agreed to is asked for again.',
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is one way of not being the file that the schema asks for.
    return undefined;
  }
}
