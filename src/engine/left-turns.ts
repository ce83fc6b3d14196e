import type { Composition } from './compose.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

interface Names {
  readonly runId: string;
  readonly name: string;
}

interface LeftPorts extends Pick<Composition, 'processes'> {
  readonly ledger: Pick<Ledger, 'attempts'>;
}

/** Names the turns that an engine leaves running, and the next commands; undefined: there are none. */
export async function leftTurnsText(
  { ledger, processes }: LeftPorts,
  { runId, name }: Names,
): Promise<string | undefined> {
  const run = shellWord(name);
  const next = `\`squad resume ${run}\` continues with them, and \`squad stop ${run}\` ends them`;
  const living: string[] = [];
  try {
    for (const { id, process } of ledger.attempts({ runId, status: 'spawned' }))
      if (process !== null && (await processes.isAlive(process))) living.push(`${id} (pid ${process.pid})`);
  } catch {
    // The error that ended the engine says why.
    return `turns may still be running, but squad cannot tell which. ${next}`;
  }
  if (living.length === 0) return undefined;
  return `still running without an engine: ${living.join(', ')}. ${next}`;
}

/** Does the work. If it throws, the engine ends without a word to its turns: `warn` hears which ones live. */
export async function sayingWhatIsLeft<T>(
  { warn, ...ports }: LeftPorts & { readonly warn: (text: string) => void },
  names: Names,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const left = await leftTurnsText(ports, names);
    if (left !== undefined) warn(left);
    throw error;
  }
}
