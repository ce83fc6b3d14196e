import { openMachine } from '../../engine/machine.ts';
import { usageError } from '../../model/errors.ts';
import { openPool, type OpenedPool } from '../../substrate/pool/index.ts';
import type { CommandContext } from '../command-context.ts';

/** The pool that a flag or the environment names, while `work` needs it. Throws `usage` where neither does. */
export async function withPool<T>(
  { host }: Pick<CommandContext, 'host'>,
  { pool }: { readonly pool?: string | undefined },
  work: (pool: OpenedPool) => Promise<T>,
): Promise<T> {
  const url = pool ?? host.environment['SQUAD_POOL'] ?? '';
  if (url === '')
    throw usageError('no pool is named', 'Give its address, `--pool postgres://db.example/squad`, or set SQUAD_POOL.');
  const opened = await openPool(url, openMachine(host).clock);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** `A,B` */
export function listOf(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()])))];
}
