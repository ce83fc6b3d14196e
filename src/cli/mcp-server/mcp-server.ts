import { resolve } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { insideTurn } from '../../substrate/system/process/process-table.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { errorText } from '../../model/errors.ts';
import { MOST_LINE_BYTES, serveTools } from '../mcp/serve-tools.ts';
import { createRunTools } from './run-tools.ts';
import type { Caller } from '../mcp/wire.ts';
import { version } from '../version.ts';

/** Serves the runs of this repository over stdin and stdout, until the client has gone. */
export async function mcpServer(
  context: CommandContext,
  { allow, repository, ...limits }: Options<'mcp-server'>,
): Promise<void> {
  const { host, output } = context;
  refuseInTurn(host);
  if (process.stdin.isTTY)
    output.problem(
      'This serves a program over stdin and stdout. `squad mcp-server --help` says how to set one up; Ctrl-C ends it.',
    );
  const place = { ...host, workingDirectory: resolve(host.workingDirectory, repository ?? '.') };
  const tools = createRunTools({ command: { ...context, host: place }, allowed: new Set(allow), limits });
  const gone = new AbortController();
  const stop = listenForStop();
  const end = (): void => gone.abort();
  stop.aborted.addEventListener('abort', end);
  process.stdout.on('error', end);
  const ended = new Promise<void>((done) => gone.signal.addEventListener('abort', () => done()));
  const report = (problem: unknown): void => output.problem(`squad mcp-server: ${errorText(problem)}`);
  const call: typeof tools.call = (id, name, given, caller) =>
    tools.call(id, name, given, leaving(caller, gone.signal));
  const { stdin: input, stdout } = process;
  serveTools({ input, output: stdout, mostLineBytes: MOST_LINE_BYTES, end, report }, { ...tools, call }, version());
  await ended;
  // An engine that is being started has its run by then, or has said why not.
  await tools.idle();
  stop.stop();
  context.exit(stop.exitCode());
}

/** An agent of a run that its own configuration gives this server must not approve or start anything with it. */
function refuseInTurn({ environment, pid }: CommandContext['host']): void {
  if (!insideTurn(environment, pid)) return;
  throw wrongEnvironment(
    'an agent of a run cannot steer runs, and this process belongs to a turn of one',
    'Take the server out of what agents get (`home: mine`, or `mcp` of an agent in squad.yaml), and give it to your own assistant only.',
  );
}

function leaving(caller: Caller, gone: AbortSignal): Caller {
  return { ...caller, signal: AbortSignal.any([caller.signal, gone]) };
}
