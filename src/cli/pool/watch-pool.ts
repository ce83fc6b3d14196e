import { join } from 'node:path';
import { openMachine } from '../../engine/machine.ts';
import { usageError } from '../../model/errors.ts';
import { openRun } from '../../squad/open-run.ts';
import { withLedger } from '../../squad/open-workspace.ts';
import { followStored } from '../../squad/pool/follow-stored.ts';
import { viewRun } from '../../squad/pool/view-run.ts';
import type { OpenedPool } from '../../substrate/pool/index.ts';
import type { PoolRun } from '../../substrate/ports/pool.ts';
import { plainLine } from '../../text/plain-text.ts';
import { endEvent, endOfRun } from '../../squad/ended-run.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import { readHistory } from '../../view/read-run.ts';
import { printEndLines } from '../render/end-lines.ts';
import type { CommandContext, Options } from '../command-context.ts';
import type { OfPool } from './pool-flags.ts';
import { isTaken } from '../mail/inbox.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { createLines } from '../render/event-lines.ts';
import { runIn } from './in-pool.ts';
import { withPool } from './with-pool.ts';

/** A bundle says so itself; this is for what was missed. */
const LOOK_MS = 1_000;

/** Shows a run of a pool, as its worker stores it, until no worker works on it. After Ctrl-C the run continues. */
export async function watchInPool(
  context: CommandContext,
  name: string | undefined,
  options: Options<'watch'> & OfPool,
): Promise<void> {
  if (options.web === true || options.all === true || options.port !== undefined || options.tunnel === true)
    throw usageError('the live page shows runs of this machine', 'Leave out --web, or watch it where it works.');
  const stop = listenForStop();
  try {
    await withPool(context, options, async (opened) => {
      const run = await runIn(opened, name);
      if (await follow(context, opened, run, { options, left: stop.aborted }))
        await showStored(context, opened, run, options);
      else context.exit(stop.exitCode());
    });
  } finally {
    stop.stop();
  }
}

interface Following {
  readonly options: Options<'watch'>;
  readonly left: AbortSignal;
}

/** false: the person, or the reader of the lines, has left. */
async function follow(
  context: CommandContext,
  pool: OpenedPool,
  run: PoolRun,
  { options, left }: Following,
): Promise<boolean> {
  const { host, output } = context;
  const { clock } = openMachine(host);
  const { store } = pool;
  const folder = join(host.stateDirectory, 'pool-views', `watch-${run.id}-${host.pid}`);
  const stored = followStored({ store, clock }, run, folder);
  const lineOf = createLines(context.logLevel(), undefined);
  let wake = new AbortController();
  const forget = store.follow((changed) => {
    if (changed === run.id || changed === '') wake.abort();
  });
  let said: string | undefined;
  try {
    while (!left.aborted) {
      wake = new AbortController();
      // First: what is stored after this look is seen by the next one.
      const now = await store.run(run.id);
      for (const event of await stored.look()) {
        const line = options.json === true ? undefined : lineOf(event);
        if (options.json === true) output.json(event);
        else if (line !== undefined) output.line(line);
      }
      if (!(await isTaken(process.stdout))) return false;
      if (now.state !== 'running' && now.state !== 'queued') return true;
      const where = now.isHeld
        ? `worker ${plainLine(now.worker ?? '', 63)} has it; output of turns stays there`
        : 'no worker has it now';
      if (where !== said && options.json !== true) output.problem(`${plainLine(run.name, 80)}: ${where}`);
      said = where;
      await clock.sleep(LOOK_MS, AbortSignal.any([wake.signal, left]));
    }
    return false;
  } finally {
    forget();
    await stored.close();
  }
}

/** How the newest engine has left it. */
async function showStored(
  context: CommandContext,
  { store }: OpenedPool,
  run: PoolRun,
  options: Options<'watch'>,
): Promise<void> {
  const view = await viewRun({ host: context.host, store }, run, 'apart');
  try {
    const opened = await openRun({ ...context, host: view.host }, run.id);
    const end = await withLedger(opened, 'read', async (ledger) =>
      endOfRun(opened, readHistory(ledger, run.id, probeLock(opened.directory))),
    );
    context.exit(end.exitCode);
    if (options.json === true) context.output.json(endEvent(end));
    else printEndLines(end, context.output);
  } finally {
    await view.close();
  }
}
