import { openMachine } from '../../engine/machine.ts';
import { usageError } from '../../model/errors.ts';
import { askRun } from '../../squad/pool/ask-run.ts';
import type { RemoteAnswers, RemoteCommands, RemoteVerb } from '../../squad/pool/run-commands.ts';
import { viewRun } from '../../squad/pool/view-run.ts';
import type { OpenedPool } from '../../substrate/pool/index.ts';
import type { PoolRun } from '../../substrate/ports/pool.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { withPool } from './with-pool.ts';

/**
 * How a command uses a run of a pool: it `reads` what is stored, lets its worker do something (`steers`), or `takes` its commits into
 * this repository.
 */
export type PoolUse = 'reads' | 'steers' | 'takes';

export interface PoolPlace {
  readonly context: CommandContext;
  /** Removes what the command needed here. */
  close(): Promise<void>;
}

/** The context in which a command of this machine finds a run of a pool as if it were here. */
export async function inPool(
  context: CommandContext,
  use: PoolUse,
  { pool, run: name }: { readonly pool: string; readonly run: string | undefined },
): Promise<PoolPlace> {
  const { host } = context;
  return withPool(context, { pool }, async (opened) => {
    const run = await runIn(opened, name);
    const view = await viewRun({ host, store: opened.store }, run, use === 'takes' ? 'here' : 'apart');
    const close = async (): Promise<void> => view.close();
    if (use === 'takes') return { context: { ...context, host: view.host }, close };
    // A command may have printed the path of a file in it; the next one removes it.
    if (use === 'reads') return { context: { ...context, host: view.host }, close: async () => undefined };
    const ask = async <Verb extends RemoteVerb>(
      verb: Verb,
      command: RemoteCommands[Verb],
    ): Promise<RemoteAnswers[Verb]> =>
      withPool(context, { pool }, async ({ store, trigger }) =>
        askRun({ host, clock: openMachine(host).clock, store, trigger: await trigger() }, run, verb, command),
      );
    const remote: CommandContext['remote'] = {
      intervene: async (_run, request) => ask('intervene', { request }),
      answer: async (_run, given, question, { paths = [] } = {}) =>
        ask('answer', { given, question, paths: [...paths] }),
      stop: async () => ask('stop', {}),
    };
    return { context: { ...context, host: view.host, remote }, close };
  });
}

/** The named one, or the only one that is not over. */
export async function runIn({ store }: OpenedPool, name: string | undefined): Promise<PoolRun> {
  if (name !== undefined) return store.run(name);
  const live = (await store.runs()).filter(({ state }) => state !== 'removed' && state !== 'over');
  const [only, ...others] = live;
  if (only !== undefined && others.length === 0) return only;
  throw usageError(
    live.length === 0 ? 'no run of the pool is unfinished' : `the pool has ${live.length} unfinished runs`,
    live.length === 0
      ? 'Name the run: `squad pool` lists them.'
      : `Name the one that you mean: ${live.map((run) => plainLine(run.name, 40)).join(', ')}.`,
  );
}
