import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import { defined } from '../../text/defined.ts';

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

/** The map with one more entry, unless it is full. */
function rememberedAs<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): ReadonlyMap<string, Value> {
  return map.size >= MOST_REMEMBERED && !map.has(key) ? map : new Map(map).set(key, value);
}

/** What a translator remembers of a turn's tools. Each change makes a new log. */
export interface ToolLog {
  /** Names of the tools that have not ended, by call id. */
  readonly open: ReadonlyMap<string, string>;
  /** Refused calls, by call id. */
  readonly denied: ReadonlyMap<string, { readonly tool: string; readonly message?: string }>;
  /** A tool that can change something has run. */
  readonly acted: boolean;
}

export const NO_TOOLS: ToolLog = { open: new Map(), denied: new Map(), acted: false };

export function openTool(log: ToolLog, id: string, tool: string): ToolLog {
  return { ...log, open: rememberedAs(log.open, id, tool) };
}

export function denyTool(log: ToolLog, id: string, tool: string, message?: string): ToolLog {
  if (log.denied.has(id)) return log;
  return { ...log, denied: rememberedAs(log.denied, id, defined({ tool, message })) };
}

/** `canAct`: whether this tool can change something. */
export function closeTool(log: ToolLog, id: string, canAct: (tool: string) => boolean = () => true): ToolLog {
  const open = new Map(log.open);
  open.delete(id);
  const tool = log.open.get(id);
  return { ...log, open, acted: log.acted || (tool !== undefined && !log.denied.has(id) && canAct(tool)) };
}

/** A call that is still open may have run. */
export function mayHaveActed(log: ToolLog, canAct: (tool: string) => boolean = () => true): boolean {
  return log.acted || [...log.open].some(([id, tool]) => !log.denied.has(id) && canAct(tool));
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
