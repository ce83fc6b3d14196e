import { badInput } from '../../model/errors.ts';
import { openRun } from '../../squad/open-run.ts';
import { insideTurn } from '../../substrate/system/process/process-table.ts';
import { createSystemClock } from '../../substrate/system/clock/system-clock.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { printResult } from '../output.ts';
import { serveWeb } from './serve-web.ts';
import { openRepositories, type Repositories } from './repositories.ts';

/** Serves the live page until Ctrl-C or SIGTERM. No run ends with it. */
export async function watchOnWeb(
  context: CommandContext,
  run: string | undefined,
  options: Options<'watch'>,
): Promise<void> {
  const { host, output } = context;
  if (insideTurn(host.environment, host.pid)) {
    throw badInput('not_authorized: a turn cannot serve runs', 'Leave the run to the person who started it.');
  }
  const stop = listenForStop();
  try {
    const repositories = await openRepositories(context, options.all === true);
    const path = await pathOf(repositories, run, options.all === true);
    const served = await serveWeb(repositories, {
      port: options.port ?? 0,
      tunnel: options.tunnel === true,
      clock: createSystemClock(),
      onProblem: (line) => output.problem(`squad watch --web: ${plainLine(line, 500)}`),
    });
    const url = `${served.url}${path}`;
    printResult(output, options, { type: 'web-started', url, runs: served.url }, about(url));
    if (!stop.aborted.aborted) await new Promise((resolve) => stop.aborted.addEventListener('abort', resolve));
    await served.close();
  } finally {
    stop.stop();
  }
}

/** Leads to the run that a person watches, and to the list where they watch all repositories. */
async function pathOf(repositories: Repositories, run: string | undefined, all: boolean): Promise<string> {
  const [repository] = await repositories.list();
  if (repository === undefined || all) return '';
  const { row } = (await openRun(repository.workspace, run)).reading;
  return `${repository.id}/${row.id}/`;
}

function about(url: string): readonly string[] {
  return [
    `The live page: ${url}`,
    '',
    'It comes from this process and needs no internet. Keep the address to yourself: with it, a program of yours can steer the runs.',
    'Ctrl-C ends the page, and no run with it.',
  ];
}
