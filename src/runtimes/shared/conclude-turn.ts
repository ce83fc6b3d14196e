import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../../substrate/failpoint.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import type { TurnContext } from '../port/agent-runtime.ts';
import type { CliAdapter } from './cli-adapter.ts';
import { removeSecrets } from './launch-files.ts';
import type { Started, TurnWatch, WatchedEnd, WatchPorts } from './turn-watch.ts';
import { resultOf } from './turn-verdict.ts';
import { checkUsage } from './usage-check.ts';
import type { HostEnding } from './watchdog.ts';

const STDERR_FOR_VERDICT = 16 * 1024;
const STDERR_FOR_PEOPLE = 4 * 1024;

export interface Concluding<State> {
  readonly request: TurnRequest;
  readonly context: Pick<TurnContext, 'directory' | 'onEvent'>;
  readonly home: string | undefined;
  readonly startedAt: Started;
  /** By this engine, to its end: how long it ran is measured, not reckoned. */
  readonly seenFromStart: boolean;
  readonly watch: TurnWatch<State>;
  readonly end: WatchedEnd<State>;
  readonly seenAlive: boolean;
}

/** The one result of a turn whose process has ended. */
export async function conclude<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  turn: Concluding<State>,
): Promise<TurnResult> {
  failpoint('turn.ended');
  await removeSecrets(turn.context.directory);
  const { end, watch } = turn;
  const stderr = await readTail(join(turn.context.directory, 'stderr'), STDERR_FOR_VERDICT);
  const terminal = adapter.isTerminal(end.state);
  const hostEnding = watch.hostEnding();
  const now = ports.clock.now();
  const endedAt = Math.min(now, (await readEndedAt(turn.context.directory)) ?? now);
  const concluded = adapter.conclude(end.state, {
    ending: terminal ? lastWordOf(end.ending, hostEnding) : end.ending,
    stderr,
    endedByHost: hostEnding?.why === 'failure',
    now: endedAt,
  });
  const verdict = checkUsage(concluded, (text) => turn.context.onEvent?.({ type: 'notice', at: now, text }));
  return resultOf({
    runtime: adapter.name,
    request: turn.request,
    home: turn.home,
    verdict,
    ending: end.ending,
    hostEnding,
    terminal,
    acted: end.pulse.acted,
    neverSeenAlive: !turn.seenAlive,
    survivors: watch.survivors(),
    stderrTail: stderr.slice(-STDERR_FOR_PEOPLE),
    startedAt: turn.startedAt.at,
    durationMs: turn.seenFromStart
      ? Math.round(ports.clock.monotonic() - turn.startedAt.monotonic)
      : Math.max(0, endedAt - turn.startedAt.at),
  });
}

/**
 * A runtime that has said its last word is judged by that word alone when it was not the runtime that ended its process:
 * a host that ended a hanging process, a kernel that ran out of memory, or a machine that went down must not turn a
 * finished turn into a failed one.
 */
function lastWordOf(ending: TurnEnding, hostEnding: HostEnding | undefined): TurnEnding {
  const byOthers =
    hostEnding !== undefined ||
    ending.type === 'vanished' ||
    (ending.type === 'exited' && (ending.endedBy !== undefined || ending.signal === 'SIGKILL'));
  return byOthers ? { type: 'exited', code: 0, signal: null } : ending;
}

/** When the wrapper wrote the exit status, which may be hours before an engine harvests it. undefined: it never did. */
async function readEndedAt(directory: string): Promise<number | undefined> {
  const found = await stat(join(directory, 'exit')).catch(() => undefined);
  return found === undefined ? undefined : Math.floor(found.mtimeMs);
}

/** Empty when the process never came to write it. */
async function readTail(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, bytes));
    await file.read(buffer, 0, buffer.length, Math.max(0, size - bytes));
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}
