import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { usageSchema, type Usage } from '../../model/usage.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import { defined } from '../../text/defined.ts';
import type { TurnContext } from '../port/agent-runtime.ts';
import type { CliAdapter, Verdict } from './cli-adapter.ts';
import { removeSecrets } from './launch-files.ts';
import { explainNetwork, type NetworkSettings } from './network-failure.ts';
import { resultOf } from './turn-verdict.ts';
import type { Started, TurnWatch, WatchedEnd, WatchPorts } from './turn-watch.ts';
import type { HostEnding } from './watchdog.ts';

const STDERR_FOR_VERDICT = 16 * 1024;
const STDERR_FOR_PEOPLE = 4 * 1024;

export interface Concluding<State> {
  readonly request: TurnRequest;
  readonly context: Pick<TurnContext, 'directory' | 'onEvent'>;
  readonly home: string | undefined;
  readonly startedAt: Started;
  /** This engine started the turn, so its duration is measured. */
  readonly seenFromStart: boolean;
  readonly watch: TurnWatch<State>;
  readonly end: WatchedEnd<State>;
  readonly seenAlive: boolean;
}

/** The result of a turn whose process has ended. */
export async function conclude<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  turn: Concluding<State>,
): Promise<TurnResult> {
  failpoint('turn.ended');
  const { end, watch, startedAt } = turn;
  const { directory, onEvent } = turn.context;
  await removeSecrets(directory);
  const stderr = await readTail(join(directory, 'stderr'), STDERR_FOR_VERDICT);
  const terminal = adapter.isTerminal(end.state);
  const hostEnding = watch.hostEnding();
  const now = ports.clock.now();
  const endedAt = Math.min(now, (await readEndedAt(directory)) ?? now);
  const concluded = adapter.conclude(end.state, {
    ending: terminal ? endingAfterResult(end.ending, hostEnding) : end.ending,
    stderr,
    endedByHost: hostEnding?.why === 'failure',
    now: endedAt,
  });
  const result = resultOf({
    runtime: adapter.name,
    request: turn.request,
    home: turn.home,
    verdict: checkUsage(concluded, (text) => onEvent?.({ type: 'notice', at: now, text })),
    ending: end.ending,
    hostEnding,
    terminal,
    acted: end.pulse.acted,
    neverSeenAlive: !turn.seenAlive,
    survivors: watch.survivors(),
    stderrTail: stderr.slice(-STDERR_FOR_PEOPLE),
    startedAt: startedAt.at,
    durationMs: turn.seenFromStart
      ? Math.round(ports.clock.monotonic() - startedAt.monotonic)
      : durationOf(turn, endedAt, ports.clock.monotonic()),
  });
  return withNetwork(result, stderr, adapter.network);
}

/** Names the host and the variable that a person needs to know where the network failed. */
function withNetwork(result: TurnResult, stderr: string, network: NetworkSettings | undefined): TurnResult {
  const { failure } = result;
  if (failure?.kind !== 'network' || network === undefined) return result;
  return { ...result, failure: { ...failure, message: explainNetwork(failure.message, stderr, network) } };
}

/**
 * The ending by which the adapter judges a turn whose runtime has printed its result. If something else ended the process
 * (the host, a kernel without memory, a machine that went down), it counts as exit 0, so that a finished turn does not fail.
 */
function endingAfterResult(ending: TurnEnding, hostEnding: HostEnding | undefined): TurnEnding {
  const endedByOthers =
    hostEnding !== undefined ||
    ending.type === 'vanished' ||
    (ending.type === 'exited' && (ending.endedBy !== undefined || ending.signal === 'SIGKILL'));
  return endedByOthers ? { type: 'exited', code: 0, signal: null } : ending;
}

/**
 * ms of a turn that another engine started. One that was found alive was measured; of another one, the time of day tells, which may
 * have been set since: it ran no longer than its wrapper lets it.
 */
function durationOf(
  { request, startedAt, seenAlive }: Pick<Concluding<unknown>, 'request' | 'startedAt' | 'seenAlive'>,
  endedAt: number,
  now: number,
): number {
  const ranMs = seenAlive ? Math.round(now - startedAt.monotonic) : endedAt - startedAt.at;
  return Math.min(Math.max(0, ranMs), request.limits.wallMs);
}

/** When the wrapper wrote the exit status, perhaps hours before an engine reads it. undefined: it did not. */
async function readEndedAt(directory: string): Promise<number | undefined> {
  const found = await stat(join(directory, 'exit')).catch(() => undefined);
  return found === undefined ? undefined : Math.floor(found.mtimeMs);
}

/** Empty if the process never wrote the file. */
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

/** No turn uses more. The bounds also keep the sum over a run exact. */
const plausibleSchema = usageSchema.superRefine(({ costUsd = 0, ...tokens }, context) => {
  const tooMuch = (name: string): void => context.addIssue({ code: 'custom', path: [name], message: 'too much' });
  for (const [name, count = 0] of Object.entries(tokens)) if (count > MOST_TOKENS) tooMuch(name);
  if (costUsd > MOST_USD) tooMuch('costUsd');
});

/**
 * The verdict without impossible use: negative, not a number, or more than any turn uses. Such use becomes unknown, not
 * zero, and `onNotice` reports it. The rest of the verdict stands.
 */
export function checkUsage(verdict: Verdict, onNotice: (text: string) => void): Verdict {
  const usage = plausible(verdict.usage);
  const counters = plausible(verdict.counters);
  const problems = [...new Set([...usage.wrong, ...counters.wrong])];
  if (problems.length > 0) onNotice(`the use of the turn is unknown: its runtime reported ${problems.join(', ')}`);
  return defined({ ...verdict, usage: usage.known, counters: counters.known });
}

function plausible(said: Usage | undefined): { readonly known?: Usage | undefined; readonly wrong: readonly string[] } {
  if (said === undefined) return { wrong: [] };
  const parsed = plausibleSchema.safeParse(said);
  if (parsed.success) return { known: parsed.data, wrong: [] };
  const wrong = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  const values: Readonly<Record<string, unknown>> = { ...said };
  // An impossible cost does not discard plausible tokens.
  const { costUsd: _, ...tokens } = said;
  const known = plausibleSchema.safeParse(tokens).data;
  return { known, wrong: wrong.map((name) => `${name} ${String(values[name])}`) };
}
