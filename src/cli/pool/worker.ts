import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { openMachine } from '../../engine/machine.ts';
import { badInput, usageError } from '../../model/errors.ts';
import { runWorker } from '../../squad/pool/worker.ts';
import { insideTurn } from '../../substrate/system/process/process-table.ts';
import { plainLine } from '../../text/plain-text.ts';
import { clockTime } from '../../text/time.ts';
import { ownProgram, type CommandContext } from '../command-context.ts';
import { version } from '../version.ts';
import type { PoolOptions } from './pool-flags.ts';
import { listOf, withPool } from './with-pool.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SLOTS = 4;

/** Works for a pool until a signal. The first one hands its runs on once their turns have ended, the second one at once. */
export async function worker(context: CommandContext, options: PoolOptions<'worker'>): Promise<void> {
  const { host, output } = context;
  if (insideTurn(host.environment, host.pid))
    throw badInput('not_authorized: a turn cannot start a worker', 'Leave it to the person who started the run.');
  const { slots = SLOTS, repos, once = false } = options;
  const name = options.name ?? nameOf(hostname());
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
    throw usageError(
      `${plainLine(name, 80)} cannot name a worker`,
      'Use lower-case letters, digits and dashes: `--name build-1`.',
    );
  if (slots < 1) throw usageError('a worker has at least one slot', 'Give another number: `--slots 4`.');
  const { clock } = openMachine(host);
  const [draining, leaving] = [new AbortController(), new AbortController()];
  const hear = (): void => (draining.signal.aborted ? leaving : draining).abort();
  for (const signal of SIGNALS) process.on(signal, hear);
  try {
    await withPool(context, options, async ({ store, trigger, shown }) => {
      const say = (text: string): void => output.line(`${clockTime(clock.now())}  ${plainLine(text, 700)}`);
      say(`the pool is ${shown}`);
      await runWorker({
        ...{ host, store, trigger: await trigger({ watches: true }), worker: name, labels: listOf(options.labels) },
        ...{ slots, once, say, draining, leaving: leaving.signal, version: version(), machine: hostname() },
        repos: repos === undefined ? join(host.stateDirectory, 'pool', name) : resolve(host.workingDirectory, repos),
        command: [...ownProgram(host), 'worker', 'segment'],
        environment: options.pool === undefined ? host.environment : { ...host.environment, SQUAD_POOL: options.pool },
      });
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, hear);
  }
  context.leave?.();
}

/** `Build_7.example` → `build-7` */
function nameOf(machine: string): string {
  const [first = ''] = machine.toLowerCase().split('.');
  return first.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'worker';
}
