import type { Composition } from '../compose.ts';
import type { Attempt } from '../model/attempt.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

interface LeftPorts extends Pick<Composition, 'processes'> {
  readonly ledger: Pick<Ledger, 'attempts'>;
}

/** What to say of the turns that an engine leaves running; undefined: there are none. */
export async function leftTurnsText(
  { ledger, processes }: LeftPorts,
  { runId, name }: { readonly runId: string; readonly name: string },
): Promise<string | undefined> {
  const run = shellWord(name);
  const next = `\`squad resume ${run}\` continues with them, and \`squad stop ${run}\` ends them`;
  let spawned: readonly Attempt[];
  try {
    spawned = ledger.attempts({ runId, status: 'spawned' });
  } catch {
    // The error that ended the engine says why.
    return `turns may still be running, but the ledger cannot tell which. ${next}`;
  }
  const living: string[] = [];
  for (const { id, process } of spawned)
    if (process !== null && (await processes.isAlive(process))) living.push(`${id} (pid ${process.pid})`);
  if (living.length === 0) return undefined;
  return `still running without an engine: ${living.join(', ')}. ${next}`;
}
