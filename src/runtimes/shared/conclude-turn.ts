import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { usageSchema, type Usage } from '../../model/usage.ts';
import type { TurnContext } from '../port/agent-runtime.ts';
import type { CliAdapter, Verdict } from './cli-adapter.ts';
import { removeSecrets } from './launch-files.ts';
import { resultOf } from './turn-verdict.ts';
import type { Started, TurnWatch, WatchedEnd, WatchPorts } from './turn-watch.ts';
import type { HostEnding } from './watchdog.ts';
import { failpoint } from '../../substrate/failpoint.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';

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

const MOST_TOKENS = 10_000_000_000;
const MOST_USD = 1_000_000;

/** More in one turn is no measurement. Low enough for the sum over a run to stay exact. */
const believableSchema = usageSchema.superRefine(({ costUsd = 0, ...tokens }, context) => {
  const tooMuch = (name: string): void => context.addIssue({ code: 'custom', path: [name], message: 'too much' });
  for (const [name, count = 0] of Object.entries(tokens)) if (count > MOST_TOKENS) tooMuch(name);
  if (costUsd > MOST_USD) tooMuch('costUsd');
});

/**
 * A verdict without numbers that cannot be true: negative, no number at all, or more than any turn uses. What is left out is
 * unknown, which is never zero; the work itself counts all the same. `onNotice` is told so.
 */
export function checkUsage(verdict: Verdict, onNotice: (text: string) => void): Verdict {
  const { usage: saidUsage, counters: saidCounters, ...rest } = verdict;
  const usage = plausible(saidUsage);
  const counters = plausible(saidCounters);
  const problems = [...new Set([...usage.wrong, ...counters.wrong])];
  if (problems.length === 0) return verdict;
  onNotice(`what the turn used is not known: its runtime said ${problems.join(', ')}`);
  return {
    ...rest,
    ...(usage.known === undefined ? {} : { usage: usage.known }),
    ...(counters.known === undefined ? {} : { counters: counters.known }),
  };
}

function plausible(said: Usage | undefined): { readonly known?: Usage; readonly wrong: readonly string[] } {
  const parsed = believableSchema.safeParse(said);
  if (said === undefined) return { wrong: [] };
  if (parsed.success) return { known: parsed.data, wrong: [] };
  const wrong = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  const values: Readonly<Record<string, unknown>> = { ...said };
  const texts = wrong.map((name) => `${name} ${String(values[name])}`);
  // Tokens that can be true are not given up for money that cannot.
  const { costUsd: _, ...tokens } = said;
  const known = believableSchema.safeParse(tokens).data;
  return known === undefined ? { wrong: texts } : { known, wrong: texts };
}
