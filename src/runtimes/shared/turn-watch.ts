import { once } from 'node:events';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { TurnEvent, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { OutputLine, Processes, TurnEnding } from '../../substrate/ports/processes.ts';
import type { TurnActivity } from '../port/agent-runtime.ts';
import type { CliAdapter } from './cli-adapter.ts';
import { createOutputReader } from './output-reader.ts';
import { MOST_LINES, decideWatchdog, firstPulse, pulseAfter, type HostEnding, type Pulse } from './watchdog.ts';

/** Watchdogs fire at most this late. */
const WATCH_MS = 500;

export interface WatchPorts {
  readonly processes: Processes;
  readonly clock: Clock;
}

export interface WatchedEnd<State> {
  readonly ending: TurnEnding;
  readonly state: State;
  readonly pulse: Pulse;
}

/** When a turn was started: epoch ms for people and other engines, monotonic ms for how long it has run. */
export interface Started {
  readonly at: number;
  readonly monotonic: number;
}

/** Follows one process from its first byte to its end, and ends it when a watchdog says so. */
export interface TurnWatch<State> {
  /** undefined: detached. */
  readonly ended: Promise<WatchedEnd<State> | undefined>;
  /** Set once, by whoever ends the turn first. */
  endBy(ending: HostEnding): Promise<void>;
  hostEnding(): HostEnding | undefined;
  survivors(): readonly number[];
  detach(): void;
  activity(): TurnActivity;
}

export function watchTurn<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  turn: { request: TurnRequest; directory: string; identity: ProcessIdentity; startedAt: Started },
  onEvent: (event: TurnEvent) => void,
): TurnWatch<State> {
  const { processes, clock } = ports;
  const { request, directory, identity } = turn;
  const detached = new AbortController();
  const outputEnded = new AbortController();
  const reader = createOutputReader(adapter, request);
  let pulse = firstPulse(clock.monotonic());
  let lastSignOfLifeAt = clock.now();
  let firstToolAt: number | undefined;
  let hostEnding: HostEnding | undefined;
  let survivors: readonly number[] = [];
  let clearing: Promise<void> | undefined;

  const report = (item: TurnReport): void => {
    pulse = pulseAfter(pulse, item, clock.monotonic());
    if (item.type === 'tool-started') firstToolAt ??= clock.now();
    try {
      onEvent({ at: clock.now(), ...item });
    } catch {
      // It must not throw, and one that does (printing JSON deeper than the stack) loses its event, never the turn.
    }
  };
  const read = (line: OutputLine): void => {
    for (const item of reader.read(line)) report(item);
    pulse = { ...pulse, lines: pulse.lines + 1, acted: pulse.acted || line.type === 'gap' };
    if (pulse.terminalAt === undefined && adapter.isTerminal(reader.state())) {
      pulse = { ...pulse, terminalAt: clock.monotonic() };
    }
  };
  const readOutput = async (): Promise<void> => {
    const stop = AbortSignal.any([outputEnded.signal, detached.signal]);
    for await (const line of processes.tail(join(directory, 'stdout'), stop)) {
      if (detached.signal.aborted) return;
      read(line);
      // The watchdog ends the turn. Of the output until then, only the end is read.
      if (pulse.lines === MOST_LINES) await aborted(stop);
    }
  };
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
  const watch = async (stop: AbortSignal): Promise<void> => {
    let bytes = 0;
    while (!stop.aborted) {
      const grown = await processes.outputBytes(directory);
      if (grown !== bytes) {
        bytes = grown;
        lastSignOfLifeAt = clock.now();
        pulse = { ...pulse, lastLife: clock.monotonic() };
      }
      const monotonic = clock.monotonic();
      const time = { monotonic, ranMs: monotonic - turn.startedAt.monotonic };
      const ending = decideWatchdog(pulse, request.limits, time);
      // What is gone already ended by itself, be it long before a deadline that passed while no engine lived.
      if (ending !== undefined && (await processes.isAlive(identity))) return endBy(ending);
      await clock.sleep(WATCH_MS, stop);
    }
  };
  const follow = async (): Promise<WatchedEnd<State> | undefined> => {
    const output = readOutput();
    // Observed below; a failure of the reader must not become an unhandled rejection before that.
    output.catch(() => undefined);
    const watching = watch(AbortSignal.any([outputEnded.signal, detached.signal]));
    watching.catch(() => undefined);
    const ending = await processes.waitForEnding(identity, directory, detached.signal);
    if (ending === undefined) return undefined;
    // The agent is gone; what it started may not be. The turn is over when whoever ends it has seen to that too.
    clearing ??= clear([]);
    await clearing;
    outputEnded.abort();
    await Promise.all([output, watching]);
    return { ending, state: reader.state(), pulse };
  };

  return {
    ended: follow(),
    endBy,
    hostEnding: () => hostEnding,
    survivors: () => survivors,
    detach: () => detached.abort(),
    activity: () => ({
      lastSignOfLifeAt,
      ...(firstToolAt === undefined ? {} : { firstToolAt }),
      openTools: pulse.openTools.size,
    }),
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
