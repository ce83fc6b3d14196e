import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from '../../engine/machine.ts';
import { wrongEnvironment } from '../../model/errors.ts';
import type { OpenedWorkspace } from '../../squad/open-workspace.ts';
import { findService, serviceFolder } from '../../squad/service/service-lock.ts';
import { startLogged, type DetachedProgram } from '../../substrate/system/process/start-detached.ts';
import { plainText } from '../../text/plain-text.ts';
import { ownProgram, type CommandContext, type Options } from '../command-context.ts';
import { printResult } from '../output.ts';

const LOOK_MS = 50;

/** Starts the service so that it outlives this terminal, and waits until it serves. If it ends before that, prints what it said. */
export async function serveDetach(
  { host, output, exit }: CommandContext,
  { repository, directory, composition }: OpenedWorkspace<Machine>,
  options: Options<'serve'>,
): Promise<void> {
  const log = join(serviceFolder(directory), 'service.log');
  const command = [...ownProgram(host), 'serve', '--background'];
  const service = await startLogged(command, { cwd: repository.root, environment: host.environment }, log);
  const serves = (): boolean => findService(directory)?.holder?.pid === service.pid;
  const ended = await endedBefore(service, serves, composition.clock);
  if (ended !== undefined) {
    const { code, problem } = ended;
    if (problem !== undefined)
      throw wrongEnvironment(`the service could not be started: ${problem}`, 'Run `squad doctor`.');
    output.problem(plainText((await readFile(log, 'utf8')).trimEnd()));
    return exit(code ?? 1);
  }
  printResult(output, options, { type: 'service-started', pid: service.pid, log }, [
    `squad serve works in the background (process ${service.pid ?? 'unknown'}).`,
    '  status  squad serve status',
    '  stop    squad serve stop',
    `  output  ${log}`,
  ]);
}

/** How the program ended before it served; undefined: it serves. */
async function endedBefore(
  { ended }: DetachedProgram,
  serves: () => boolean,
  clock: Machine['clock'],
): Promise<Awaited<DetachedProgram['ended']> | undefined> {
  for (;;) {
    const end = await Promise.race([ended, clock.sleep(LOOK_MS)]);
    if (serves()) return undefined;
    if (end !== undefined) return end;
  }
}
