import type { TurnEvent } from '../../model/turn-event.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Span } from './span.ts';

/** LangSmith takes 25,000 spans in one trace. */
const MOST_TOOLS = 300;
const MOST_TEXT = 8192;

export type ToolEvent = Extract<TurnEvent, { type: 'tool-started' | 'tool-ended' }>;

interface Tool {
  /** The runtime's, and how many calls of the turn had it before. */
  readonly id: string;
  readonly time: number;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly error: string | undefined;
  readonly metadata: Span['metadata'];
  readonly input: string | undefined;
  readonly output: string | undefined;
}

/** The tool calls of one turn. */
export interface Tools {
  /** In order. */
  readonly calls: readonly Tool[];
  /** How many more there were. */
  readonly left: number;
}

export const NO_TOOLS: Tools = { calls: [], left: 0 };

export function withTool({ calls, left }: Tools, event: ToolEvent, content: boolean): Tools {
  if (event.type === 'tool-started') {
    if (calls.length >= MOST_TOOLS) return { calls, left: left + 1 };
    return { calls: [...calls, started(calls, event, content)], left };
  }
  const { id, at: endedAt, ok, denied, input, output, exitCode } = event;
  const index = calls.findLastIndex((call) => call.id === id && call.endedAt === undefined);
  const tool = calls[index];
  if (tool === undefined) return { calls, left };
  const ended: Tool = {
    ...tool,
    endedAt,
    error: denied ? 'denied' : ok ? undefined : 'failed',
    metadata: { ...tool.metadata, ok, denied, ...defined({ exitCode }) },
    ...(content && input !== undefined ? { input: shownInput(input) } : {}),
    output: content ? withoutCutWord(output ?? '') : undefined,
  };
  return { calls: calls.with(index, ended), left };
}

function started(
  calls: Tools['calls'],
  { id, at, tool, kind, input, server, agent }: Extract<ToolEvent, { type: 'tool-started' }>,
  content: boolean,
): Tool {
  const name = plainLine(tool, 200);
  const more = { server: server && plainLine(server, 200), subagent: agent && plainLine(agent, 200) };
  return {
    ...{ id, name, startedAt: at, endedAt: undefined, error: 'not-ended', output: undefined },
    time: calls.filter((call) => call.id === id).length,
    metadata: { call: plainLine(id, 200), tool: name, kind, ...defined(more) },
    input: content ? shownInput(input) : undefined,
  };
}

/** A secret that is cut off at the end cannot be recognised. */
function withoutCutWord(text: string): string {
  return Buffer.byteLength(text) < 4000 ? text : text.replace(/\S{1,400}$/, '');
}

function shownInput(input: unknown): string {
  return withoutCutWord(textOf(input).slice(0, MOST_TEXT));
}

function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  return JSON.stringify(input) ?? '';
}

/** A call that has no end when its turn ends, ends with it. */
export function toolSpans({ calls }: Tools, turn: Span, idOf: (id: string, time: number) => string): Span[] {
  const names = new Set(['thread_id', 'run', 'segment', 'attempt', 'task', 'agent', 'role', 'session']);
  const common = Object.fromEntries(Object.entries(turn.metadata).filter(([name]) => names.has(name)));
  return calls.map(({ id, time, name, startedAt, endedAt, error, metadata, input, output }) => {
    const from = Math.min(Math.max(startedAt, turn.startedAt), turn.endedAt);
    return {
      ...{ id: idOf(id, time), startedAt: from, endedAt: Math.min(Math.max(endedAt ?? Infinity, from), turn.endedAt) },
      above: [...turn.above, { id: turn.id, startedAt: turn.startedAt }],
      ...{ kind: 'tool', name, error, metadata: { ...common, ...metadata } },
      ...(input === undefined ? {} : { content: { input, output: output ?? '' } }),
    };
  });
}
