import { badInput } from '../../model/errors.ts';
import { serveStudio, type Served } from '../../studio/serve.ts';
import { insideTurn } from '../../substrate/system/process/process-table.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { printResult } from '../output.ts';

/** Serves the runs of this repository until Ctrl-C or SIGTERM. No run ends with it. */
export async function studio(context: CommandContext, options: Options<'studio'>): Promise<void> {
  const { host, output } = context;
  if (insideTurn(host.environment, host.pid)) {
    throw badInput('not_authorized: a turn cannot serve runs', 'Leave the run to the person who started it.');
  }
  const stop = listenForStop();
  try {
    const served = await serveStudio(context, {
      port: options.port ?? 2024,
      origins: options.origin ?? [],
      tunnel: options.tunnel === true,
      onProblem: (line) => output.problem(`squad studio: ${plainLine(line, 500)}`),
    });
    printResult(output, options, { type: 'studio-started', url: served.url, studio: served.studio }, about(served));
    if (!stop.aborted.aborted) await new Promise((resolve) => stop.aborted.addEventListener('abort', resolve));
    await served.close();
  } finally {
    stop.stop();
  }
}

function about({ url, studio: page }: Served): readonly string[] {
  return [
    `Serving the runs of this repository at ${url}`,
    '',
    `  Studio: ${page}`,
    '',
    'That page comes from the internet: LangChain serves it, and it speaks to this server from your browser.',
    'Keep both addresses to yourself: they have a secret that lets a program of yours start and steer agents here.',
    'While squad studio runs, the page can start and steer agents here. Ctrl-C ends it, and no run with it.',
  ];
}
