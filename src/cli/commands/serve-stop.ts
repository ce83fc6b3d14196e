import { hostname } from 'node:os';
import { openMachine } from '../../engine/machine.ts';
import { SquadError, wrongEnvironment } from '../../model/errors.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { findService } from '../../squad/service/service-lock.ts';
import { readProcess } from '../../substrate/system/process/process-table.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** An engine has ten seconds to end its turns, and then writes its reports. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 100;

/** Ends the service, and waits until it is gone. Exit 0 if none runs, too. */
export async function serveStop({ host, output }: CommandContext, options: JsonOptions): Promise<void> {
  const { directory, composition } = await openWorkspace({ host, composition: openMachine(host) });
  const { clock } = composition;
  const found = findService(directory);
  const said = (isStopped: boolean) => ({ type: 'service-stopped', at: clock.now(), stopped: isStopped });
  if (found === null) return printResult(output, options, said(false), ['squad serve does not run here.']);
  const { holder } = found;
  if (holder === undefined || holder.host !== hostname()) {
    const where = holder === undefined ? 'an unknown process' : `PID ${holder.pid} on ${holder.host}`;
    throw wrongEnvironment(`the service is ${where}, which cannot be stopped from here`, 'Stop it there.');
  }
  if (readProcess(holder.pid)?.startTime !== holder.startTime)
    throw wrongEnvironment(
      `PID ${holder.pid}, which the service had, is another process now`,
      'Give the command again: a service that starts writes its number a moment later.',
    );
  process.kill(holder.pid, 'SIGTERM');
  for (const until = clock.monotonic() + PATIENCE_MS; clock.monotonic() < until; await clock.sleep(LOOK_MS)) {
    if (findService(directory) === null)
      return printResult(output, options, said(true), [
        'squad serve is stopped, and its engine with it. Runs continue with `squad serve` or `squad resume --all`.',
      ]);
  }
  throw new SquadError({
    code: 'workspace-busy',
    message: `the service (PID ${holder.pid}) has not ended within ${PATIENCE_MS / 1000} s`,
    next: 'Look at its runs with `squad runs`, and give the command again.',
  });
}
