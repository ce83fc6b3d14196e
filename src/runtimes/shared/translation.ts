import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import { cutBytes } from '../../text/cut-bytes.ts';
import { defined } from '../../text/defined.ts';

/** A translator's state after one line of output, and what the line reports. */
export interface Step<State> {
  readonly state: State;
  readonly reports: TurnReport[];
}

export function step<State>(state: State, ...reports: TurnReport[]): Step<State> {
  return { state, reports };
}

/** One step for each part of a line, in order. */
export function steps<State, Part>(
  from: State,
  parts: readonly Part[],
  next: (state: State, part: Part) => Step<State>,
): Step<State> {
  const reports: TurnReport[] = [];
  let state = from;
  for (const part of parts) {
    const after = next(state, part);
    state = after.state;
    reports.push(...after.reports);
  }
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

/** The tools of a turn, as its translator knows them. Immutable: each change makes a new log. */
export interface ToolLog {
  /** The tools that have not ended, by call id. */
  readonly open: ReadonlyMap<string, { readonly tool: string; readonly canAct: boolean }>;
  /** Refused calls, by call id. */
  readonly denied: ReadonlyMap<string, { readonly tool: string; readonly message?: string }>;
  /** A tool that can change something has run. */
  readonly acted: boolean;
}

export const NO_TOOLS: ToolLog = { open: new Map(), denied: new Map(), acted: false };

/** `canAct`: whether this tool can change something. */
export function openTool(log: ToolLog, id: string, tool: string, canAct = true): ToolLog {
  return { ...log, open: rememberedAs(log.open, id, { tool, canAct }) };
}

type ToolCall = Omit<Extract<TurnReport, { type: 'tool-started' }>, 'type'> & { readonly canAct?: boolean };

/** A line about a tool: opens and reports it if it is new, and closes it if it has ended. */
export function useTool(
  log: ToolLog,
  { canAct, ...call }: ToolCall,
  end: ToolEnd | undefined,
): { readonly log: ToolLog; readonly reports: TurnReport[] } {
  const started: TurnReport[] = log.open.has(call.id) ? [] : [{ type: 'tool-started', ...call }];
  const opened = openTool(log, call.id, call.tool, canAct);
  if (end === undefined) return { log: opened, reports: started };
  const { log: closed, report } = endTool(opened, call.id, end);
  return { log: closed, reports: [...started, report] };
}

/** A call that is refused without its id gets one. */
export function denyTool(log: ToolLog, call: string | undefined, tool: string, message?: string): ToolLog {
  const id = call ?? `denied-${log.denied.size}`;
  if (log.denied.has(id)) return log;
  return { ...log, denied: rememberedAs(log.denied, id, defined({ tool, message })) };
}

/** How a tool ended, as its program reports it. */
export interface ToolEnd {
  readonly ok: boolean;
  /** The call was refused, which only its end says: it counts as one that may have acted. */
  readonly denied?: boolean;
  /** The whole of it, where the start had less. */
  readonly input?: unknown;
  readonly output?: string;
  readonly exitCode?: number | undefined;
}

/** Closes a tool and reports its end. */
export function endTool(
  log: ToolLog,
  id: string,
  { ok, denied = false, input, output, exitCode }: ToolEnd,
): { readonly log: ToolLog; readonly report: TurnReport } {
  const short = output === undefined ? undefined : shortOutput(output);
  const closed = closeTool(log, id);
  const after = denied ? denyTool(closed, id, log.open.get(id)?.tool ?? id, short) : closed;
  const isDenied = after.denied.has(id);
  const report = defined({ id, ok: ok && !isDenied, denied: isDenied, input, output: short, exitCode });
  return { log: after, report: { type: 'tool-ended', ...report } };
}

/** Closes a tool whose last line was too long to keep. Left open, it would stop the idle watchdog for the whole turn. */
export function endCutTool(
  log: ToolLog,
  id: string | undefined,
  text: string,
): { readonly log: ToolLog; readonly reports: TurnReport[] } {
  if (id === undefined || !log.open.has(id)) return { log, reports: [] };
  const { log: after, report } = endTool(log, id, { ok: false, output: text });
  return { log: after, reports: [report] };
}

function closeTool(log: ToolLog, id: string): ToolLog {
  const open = new Map(log.open);
  open.delete(id);
  const acted = log.open.get(id)?.canAct === true && !log.denied.has(id);
  return { ...log, open, acted: log.acted || acted };
}

/** A call that is still open may have run. */
export function mayHaveActed(log: ToolLog): boolean {
  return log.acted || [...log.open].some(([id, { canAct }]) => !log.denied.has(id) && canAct);
}

const MOST_OUTPUT_BYTES = 4096;

/** A tool's output as the event `tool-ended` carries it: at most 4 KiB, cut between characters. */
export function shortOutput(text: string): string {
  if (Buffer.byteLength(text) <= MOST_OUTPUT_BYTES) return text;
  return `${cutBytes(text, MOST_OUTPUT_BYTES - Buffer.byteLength('…')).text}…`;
}

/** `exit 3`, `signal SIGTERM`, or that the end was not seen. */
export function endingText(ending: TurnEnding): string {
  if (ending.type !== 'exited') return 'an unseen end';
  return ending.signal === null ? `exit ${ending.code}` : `signal ${ending.signal}`;
}

export function exitedCleanly(ending: TurnEnding): boolean {
  return ending.type === 'exited' && ending.code === 0 && ending.signal === null;
}
