import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../../engine/machine.ts';
import { badInput } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { readPlain } from '../../substrate/system/files/read-plain.ts';
import { writeWhole } from '../../substrate/system/files/run-files.ts';
import { parseJson } from '../../text/json.ts';
import { shellWord } from '../../text/shell-word.ts';
import { trustHash } from '../preflight/trust-hash.ts';

/** A command of a run, or a thing that it may use, without the place where it says so. */
interface Asked {
  readonly from: string;
  readonly run: string;
}

/** A run, as a worker judges it. */
export interface AskedRun {
  readonly repository: string;
  readonly items: readonly Asked[];
}

const fileSchema = z.object({
  version: z.literal(1),
  allowed: z.array(
    z.object({
      repository: z.string(),
      /** The hash of all that such a run starts and may use. */
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      /** Epoch ms. */
      at: z.int(),
    }),
  ),
});

type AllowHost = Pick<Host, 'configHome'>;

/** The worker's own settings: what other people agreed to counts nothing here. */
export function allowFile({ configHome }: AllowHost): string {
  return join(configHome, 'squad', 'worker.json');
}

/** Whether a person of this machine allowed runs of this repository that start and use exactly this. */
export async function isAllowed(host: AllowHost, run: AskedRun): Promise<boolean> {
  const hash = hashOf(run);
  const { allowed } = await readAllowed(host);
  return allowed.some((one) => one.repository === run.repository && one.hash === hash);
}

export async function allowRun(host: AllowHost, run: AskedRun, at: number): Promise<void> {
  const path = allowFile(host);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await briefly(`${path}.lock`, async () => {
    const { allowed } = await readAllowed(host);
    const entry = { repository: run.repository, hash: hashOf(run), at };
    const others = allowed.filter(({ repository, hash }) => repository !== entry.repository || hash !== entry.hash);
    await writeWhole(path, `${JSON.stringify({ version: 1, allowed: [...others, entry] }, undefined, 2)}\n`);
  });
}

/** A repository without a command is allowed by itself. */
function hashOf({ repository, items }: AskedRun): string {
  return trustHash([`repository: ${repository}`, ...items.map(({ from, run }) => `${from}: ${run}`)]);
}

async function readAllowed(host: AllowHost): Promise<z.infer<typeof fileSchema>> {
  const path = allowFile(host);
  const text = await readPlain(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(path, error);
  });
  if (text === undefined) return { version: 1, allowed: [] };
  const read = fileSchema.safeParse(parseJson(text)).data;
  if (read !== undefined) return read;
  throw badInput(
    `${path}: squad did not write this`,
    `Remove it with \`rm ${shellWord(path)}\`, and allow runs again: \`squad worker allow\`.`,
  );
}
