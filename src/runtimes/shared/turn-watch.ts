import { once } from 'node:events';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { TurnEvent, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { OutputLine, Processes, TurnEnding } from '../../substrate/ports/processes.ts';
import { defined } from '../../text/defined.ts';
import type { TurnActivity } from '../port/agent-runtime.ts';
import type { CliAdapter } from './cli-adapter.ts';
import { createOutputReader } from './output-reader.ts';
import { MOST_LINES, decideWatchdog, firstPulse, pulseAfter, type HostEnding, type Pulse } from './watchdog.ts';

/** A watchdog ends a turn at most this late. */
const WATCH_MS = 1_000;

export interface WatchPorts {
  readonly processes: Processes;
  readonly clock: Clock;
}

export interface WatchedEnd<State> {
  readonly ending: TurnEnding;
  readonly state: State;
  readonly pulse: Pulse;
}

/** When a turn was started: epoch ms for people and other engines, monotonic ms for its running time. */
export interface Started {
  readonly at: number;
  readonly monotonic: number;
}

/** Follows one process from its first byte to its end, and ends it when a watchdog says so. */
export interface TurnWatch<State> {
  /** undefined: detached. */
  readonly ended: Promise<WatchedEnd<State> | undefined>;
  /** Ends the turn. The first ending counts. */
  endBy(ending: HostEnding): Promise<void>;
  hostEnding(): HostEnding | undefined;
  survivors(): readonly number[];
  detach(): void;
  activity(): TurnActivity;
}

interface WatchedTurn {
  readonly request: TurnRequest;
  readonly directory: string;
  readonly identity: ProcessIdentity;
  readonly startedAt: Started;
}

export function watchTurn<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  turn: WatchedTurn,
  onEvent: (event: TurnEvent) => void,
): TurnWatch<State> {
  const { processes } = ports;
  const { identity, directory } = turn;
  const detached = new AbortController();
  const outputEnded = new AbortController();
  const stop = AbortSignal.any([outputEnded.signal, detached.signal]);
  const vitals = createVitals(adapter, ports.clock, turn.request, onEvent);
  let hostEnding: HostEnding | undefined;
  let survivors: readonly number[] = [];
  let clearing: Promise<void> | undefined;

  const clear = async (ladder: CliAdapter<Facts, State>['ladder']): Promise<void> => {
    survivors = await processes.endTurn(identity, directory, ladder);
  };
  const endBy = async (ending: HostEnding): Promise<void> => {
    if (clearing === undefined) {
      hostEnding = ending;
      clearing = clear(adapter.ladder);
    }
    await clearing;
  };
  const follow = async (): Promise<WatchedEnd<State> | undefined> => {
    const output = readOutput(processes, directory, stop, (line) => {
      // After a detach another engine reports the events.
      return detached.signal.aborted ? 'stop' : vitals.read(line) === MOST_LINES ? 'wait' : 'next';
    });
    const watching = runWatchdogs(ports, turn, vitals, stop, endBy);
    // Awaited below; until then a failure must not become an unhandled rejection.
    for (const work of [output, watching]) work.catch(() => undefined);
    const ending = await processes.waitForEnding(identity, directory, detached.signal);
    if (ending === undefined) return undefined;
    // The agent has exited, but processes that it started may remain. The turn is over when they have ended too.
    clearing ??= clear([]);
    await clearing;
    outputEnded.abort();
    await Promise.all([output, watching]);
    return { ending, state: vitals.state(), pulse: vitals.pulse() };
  };

  return {
    ended: follow(),
    endBy,
    hostEnding: () => hostEnding,
    survivors: () => survivors,
    detach: () => detached.abort(),
    activity: vitals.activity,
  };
}

/** The state of one turn's output: the translator's state, the pulse for the watchdogs, and the activity. */
function createVitals<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  clock: Clock,
  request: TurnRequest,
  onEvent: (event: TurnEvent) => void,
) {
  const reader = createOutputReader(adapter, request);
  let pulse = firstPulse(clock.monotonic());
  let lastSignOfLifeAt = clock.now();
  let firstToolAt: number | undefined;
  let outputBytes = 0;
  const report = (item: TurnReport): void => {
    pulse = pulseAfter(pulse, item, clock.monotonic(), clock.now());
    if (item.type === 'tool-started') firstToolAt ??= clock.now();
    if (item.type === 'session-announced' && item.id !== (request.session?.id ?? item.id)) {
      pulse = { ...pulse, strayed: true };
    }
    try {
      onEvent({ at: clock.now(), ...item });
    } catch {
      // A listener that throws (printing deeply nested JSON can) loses this event, not the turn.
    }
  };
  return {
    /** Returns the number of lines so far. */
    read: (line: OutputLine): number => {
      for (const item of reader.read(line)) report(item);
      pulse = { ...pulse, lines: pulse.lines + 1, acted: pulse.acted || line.type === 'gap' };
      if (pulse.terminalAt === undefined && adapter.isTerminal(reader.state())) {
        pulse = { ...pulse, terminalAt: clock.monotonic() };
      }
      return pulse.lines;
    },
    /** Growing output is a sign of life. */
    sawOutput: (bytes: number): void => {
      if (bytes === outputBytes) return;
      outputBytes = bytes;
      lastSignOfLifeAt = clock.now();
      pulse = { ...pulse, lastLife: clock.monotonic() };
    },
    state: () => reader.state(),
    pulse: () => pulse,
    activity: (): TurnActivity => defined({ lastSignOfLifeAt, firstToolAt, openTools: pulse.openTools.size }),
  };
}

async function readOutput(
  processes: Processes,
  directory: string,
  stop: AbortSignal,
  read: (line: OutputLine) => 'next' | 'wait' | 'stop',
): Promise<void> {
  for await (const line of processes.tail(join(directory, 'stdout'), stop)) {
    const next = read(line);
    if (next === 'stop') return;
    // After so many lines the watchdog ends the turn. Then only the last lines of the output are read.
    if (next === 'wait' && !stop.aborted) await once(stop, 'abort');
  }
}

async function runWatchdogs(
  { processes, clock }: WatchPorts,
  { request, identity, directory, startedAt }: WatchedTurn,
  vitals: { sawOutput(bytes: number): void; pulse(): Pulse },
  stop: AbortSignal,
  endBy: (ending: HostEnding) => Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    vitals.sawOutput(await processes.outputBytes(directory));
    const monotonic = clock.monotonic();
    const ending = decideWatchdog(vitals.pulse(), request.limits, {
      monotonic,
      ranMs: monotonic - startedAt.monotonic,
    });
    // A process that is gone ended by itself, perhaps before a deadline that passed while no engine ran.
    if (ending !== undefined && (await processes.isAlive(identity))) return endBy(ending);
    await clock.sleep(WATCH_MS, stop);
  }
}
