import { randomUUID } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { Processes } from '../ports/processes.ts';
import { sweep } from './end-turn.ts';
import { startHelperHost, type HelperHost } from './helper-host.ts';
import { MARKER_VARIABLE } from './process-table.ts';
import { runChild, type ChildAnswer, type ChildRequest } from './run-child.mjs';

/** A command that only looks something up is over before that; a run makes thousands. */
const FIRST_CALLS = 6;
/** A machine on which the host does not stay alive has none. */
const MOST_BROKEN = 3;

type Run = Processes['run'];

/** Runs short helpers, each in its own process group: a series of calls by a small process that is quicker to fork. */
export function createHelperRunner(clock: Clock, platform: NodeJS.Platform): Run {
  const hostOf = platform === 'linux' ? createHosts() : () => undefined;
  return async (command, args, options) => {
    const run = async (request: ChildRequest): Promise<ChildAnswer> =>
      (request.cwd === undefined ? undefined : hostOf(request.env['TMPDIR'])?.run(request)) ?? runChild(request);
    return runHelper(run, command, args, options, clock);
  };
}

/** One helper by a given way. Never rejects. See the port. */
export async function runHelper(
  run: (request: ChildRequest) => Promise<ChildAnswer>,
  command: Parameters<Run>[0],
  args: Parameters<Run>[1],
  { cwd, env, timeoutMs }: Parameters<Run>[2],
  clock: Clock,
): ReturnType<Run> {
  const marker = `helper-${randomUUID()}`;
  const { drained, ...answer } = await run({
    command,
    args,
    cwd,
    env: { ...env, [MARKER_VARIABLE]: marker },
    timeoutMs,
  });
  if (!drained && process.platform === 'linux') await sweep(marker, clock);
  return answer;
}

/**
 * A host for those who share a folder for temporary files, once they have called a few times. By that folder, because it
 * marks them for a later engine, which must find the host with them.
 */
function createHosts(): (temporary: string | undefined) => HelperHost | undefined {
  const hosts = new Map<string, HelperHost>();
  const calls = new Map<string, number>();
  let broken = 0;
  return (temporary) => {
    if (temporary === undefined) return undefined;
    const host = hosts.get(temporary);
    if (host !== undefined || broken >= MOST_BROKEN) return host;
    const called = (calls.get(temporary) ?? 0) + 1;
    calls.set(temporary, called);
    if (called <= FIRST_CALLS) return undefined;
    calls.delete(temporary);
    try {
      const started = startHelperHost(temporary, (isBroken) => {
        hosts.delete(temporary);
        if (isBroken) broken += 1;
      });
      hosts.set(temporary, started);
      return started;
    } catch {
      // It is a help and no more: the helper that may not be started either says why.
      broken += 1;
      return undefined;
    }
  };
}
