import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';

/** A translator's state after one line of output, and what the line reports. */
export interface Step<State> {
  readonly state: State;
  readonly reports: TurnReport[];
}

export function step<State>(state: State, ...reports: TurnReport[]): Step<State> {
  return { state, reports };
}

/**
 * Limit on entries of one kind (open tools, denials) in a translator or a watchdog. Each line creates a new state, so
 * without a limit a program that names millions of them would cost quadratic time.
 */
export const MOST_REMEMBERED = 200;

/** The list with one more item, unless it is full. */
export function remembered<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.length >= MOST_REMEMBERED ? list : [...list, item];
}

/** The map with one more entry, unless it is full. */
export function rememberedAs<Value>(
  map: ReadonlyMap<string, Value>,
  key: string,
  value: Value,
): ReadonlyMap<string, Value> {
  return map.size >= MOST_REMEMBERED && !map.has(key) ? map : new Map(map).set(key, value);
}

/** The map without an entry. */
export function forgotten<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

const MOST_OUTPUT_BYTES = 4096;

/** A tool's output as the event `tool-ended` carries it: at most 4 KiB, cut between characters. */
export function shortOutput(text: string): string {
  if (Buffer.byteLength(text) <= MOST_OUTPUT_BYTES) return text;
  const head = Buffer.from(text.slice(0, MOST_OUTPUT_BYTES)).subarray(0, MOST_OUTPUT_BYTES - 3);
  return `${head.toString('utf8').replace(/\uFFFD$/, '')}…`;
}

/** `exit 3`, `signal SIGTERM`, or that the end was not seen. */
export function endingText(ending: TurnEnding): string {
  if (ending.type !== 'exited') return 'an unseen end';
  return ending.signal === null ? `exit ${ending.code}` : `signal ${ending.signal}`;
}

export function exitedCleanly(ending: TurnEnding): boolean {
  return ending.type === 'exited' && ending.code === 0 && ending.signal === null;
}
