import { assertNever } from '../../model/assert-never.ts';
import type { ToolKind, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { jsonSchema, parseJson } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import * as tools from '../shared/translation.ts';
import { shortOutput, step } from '../shared/translation.ts';
import { failureOf } from '../shared/turn-end.ts';
import { NAME } from './command.ts';
import { blameLogin, classifyCodexText, parseEvent, type CodexEvent, type CodexItem } from './schema.ts';

export interface CodexState {
  readonly wanted: Pick<TurnRequest, 'mcp'> & { readonly sessionId: string | undefined; readonly schema: boolean };
  readonly threadId?: string;
  readonly begun: boolean;
  /** The last message, unless a tool ran after it: commentary before a tool is not an answer. */
  readonly answer: string;
  /** The last message of all. After a cut stream Codex may repeat it. */
  readonly lastText: string;
  readonly reconnected: boolean;
  readonly tools: tools.ToolLog;
  readonly steps: number;
  readonly lastError: string;
  readonly end?: 'completed' | { readonly failed: string };
  readonly counters?: Usage;
}

type Step = tools.Step<CodexState>;
type ToolItem = Exclude<CodexItem, { type: 'agent_message' | 'reasoning' | 'error' | 'todo_list' }>;

export function beginCodex(request: TurnRequest): CodexState {
  return {
    wanted: { mcp: request.mcp, sessionId: request.session?.id, schema: request.outputSchema !== undefined },
    begun: false,
    answer: '',
    lastText: '',
    reconnected: false,
    tools: tools.NO_TOOLS,
    steps: 0,
    lastError: '',
  };
}

/** Translates one line of stdout. Pure. Ignores events that this version does not know. */
export function translateCodex(state: CodexState, line: NativeLine): Step {
  if (line.type === 'text') return closeCutItem(state, line.text);
  const event = parseEvent(line.value);
  return event === undefined ? step(state) : translateEvent(state, event);
}

/** Closes a tool whose last line was too long to keep. Left open, it would stop the idle watchdog for the whole turn. */
function closeCutItem(state: CodexState, text: string): Step {
  const id = /^\{"type":"item\.completed","item":\{"id":"([^"]{1,64})"/.exec(text)?.[1];
  if (id === undefined || !state.tools.open.has(id)) return step(state);
  const report = { type: 'tool-ended', id, ok: false, denied: false, output: shortOutput(text) } as const;
  return step({ ...state, tools: tools.closeTool(state.tools, id) }, report);
}

function translateEvent(state: CodexState, event: CodexEvent): Step {
  switch (event.type) {
    case 'thread.started':
      return announce(state, event.thread_id);
    case 'turn.started':
      return step({ ...state, begun: true });
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return translateItem(state, event.item, event.type === 'item.completed');
    case 'error':
      return translateError(state, event.message);
    case 'turn.completed': {
      const counters = event.usage ? { counters: readCounters(event.usage) } : {};
      return step({ ...state, ...counters, end: 'completed' });
    }
    case 'turn.failed':
      return step({ ...state, end: { failed: event.error.message } });
    default:
      return assertNever(event);
  }
}

function announce(state: CodexState, id: string): Step {
  // Codex exits before this line if a required server does not start. It never reports the other servers.
  const mcp = state.wanted.mcp.map(({ name, required }) => {
    return { name, status: required === true ? ('connected' as const) : ('unknown' as const) };
  });
  const resumed = state.wanted.sessionId === id;
  return step({ ...state, threadId: id }, { type: 'session-announced', id, resumed, mcp });
}

function translateItem(state: CodexState, item: CodexItem, completed: boolean): Step {
  switch (item.type) {
    case 'agent_message':
      return completed ? translateMessage(state, item.text) : step(state);
    case 'reasoning':
      return completed ? step(state, { type: 'thinking', text: item.text }) : step(state);
    case 'error':
      return completed ? step(state, { type: 'notice', text: item.message }) : step(state);
    case 'todo_list': {
      const lines = item.items.map(({ text, completed: done }) => `[${done ? 'x' : ' '}] ${text}`);
      return step(state, { type: 'notice', text: `plan:\n${lines.join('\n')}` });
    }
    default:
      return translateTool(state, item, completed);
  }
}

function translateMessage(state: CodexState, text: string): Step {
  const next = { ...state, answer: text, lastText: text, reconnected: false };
  const repeated = state.reconnected && text === state.lastText;
  return repeated ? step(next) : step(next, { type: 'text', text, delta: false });
}

function translateTool(state: CodexState, item: ToolItem, completed: boolean): Step {
  const { id } = item;
  const tool = toolCall(item);
  const started: TurnReport[] = state.tools.open.has(id) ? [] : [{ type: 'tool-started', id, ...tool }];
  const opened = tools.openTool(state.tools, id, tool.tool);
  const used = { ...state, answer: '', steps: state.steps + started.length, tools: opened };
  if (!completed) return step(used, ...started);
  const end = toolEnd(item);
  // A refused call counts as one that may have acted: only the text says that it was refused.
  const closed = tools.closeTool(opened, id);
  const log = end.denied ? tools.denyTool(closed, id, tool.tool, end.output) : closed;
  const ended: TurnReport[] = [...started, { type: 'tool-ended', id, ...end }];
  if (item.type === 'file_change' && end.ok) ended.push({ type: 'files-changed', changes: item.changes });
  return step({ ...used, tools: log }, ...ended);
}

function toolCall(item: ToolItem): { tool: string; kind: ToolKind; input: unknown; server?: string } {
  switch (item.type) {
    case 'command_execution':
      return { tool: 'shell', kind: 'execute', input: { command: item.command } };
    case 'file_change':
      return { tool: 'apply_patch', kind: 'edit', input: { changes: item.changes } };
    case 'mcp_tool_call':
      return { tool: item.tool, kind: 'mcp', input: item.arguments, server: item.server };
    case 'web_search':
      return { tool: 'web_search', kind: 'fetch', input: { query: item.query } };
    case 'collab_tool_call':
      return { tool: item.tool, kind: 'agent', input: {} };
    default:
      return assertNever(item);
  }
}

function toolEnd(item: ToolItem): { ok: boolean; denied: boolean; output?: string; exitCode?: number } {
  if (item.type === 'web_search') return { ok: true, denied: false };
  const completed = item.status === 'completed';
  const declined = item.status === 'declined';
  switch (item.type) {
    case 'command_execution': {
      const { exit_code: code, aggregated_output: output } = item;
      const ok = completed && code === 0;
      return defined({ ok, denied: declined, output: shortOutput(output), exitCode: code ?? undefined });
    }
    case 'mcp_tool_call': {
      const message = item.error?.message;
      const denied = declined || /requires approval|\b(declined|rejected)\b/i.test(message ?? '');
      const output = shortOutput(message ?? JSON.stringify(item.result ?? ''));
      return { ok: completed && message === undefined, denied, output };
    }
    case 'file_change':
    case 'collab_tool_call':
      return { ok: completed, denied: declined };
    default:
      return assertNever(item);
  }
}

/** `error` does not end the turn: Codex sends one for each reconnect, and one before `turn.failed`. */
function translateError(state: CodexState, message: string): Step {
  const next = { ...state, lastError: message };
  const retry = /^Reconnecting\.\.\.\s*(?:(\d+)\/(\d+)\s*)?(.*)$/s.exec(message);
  if (retry === null) return step(next);
  const [, attempt, of, cause = ''] = retry;
  const count = attempt === undefined ? {} : { attempt: Number(attempt), of: Number(of) };
  const failure = classifyCodexText(cause.replace(/^\((.*)\)$/s, '$1'))?.kind ?? 'network';
  return step({ ...next, reconnected: true }, { type: 'retry-scheduled', failure, message, ...count });
}

/** A turn completed only with `turn.completed`, exit 0, and (checked by the shared part) an answer. */
export function concludeCodex(state: CodexState, facts: TurnFacts): Verdict {
  const { end, answer, begun, lastError } = state;
  const acted = tools.mayHaveActed(state.tools);
  const said = begun ? lastError : startUpError(facts.stderr);
  const reason = typeof end === 'object' ? end.failed || lastError : '';
  const failure = failureOf(NAME, facts, {
    end: end && (end === 'completed' ? end : (classifyCodexText(reason) ?? { kind: 'server-error', message: reason })),
    answer,
    complaint: { text: said, cause: classifyCodexText(said) },
    // Once the turn has begun, missing output may hide changed files.
    mayHaveActed: acted || (end === undefined && begun),
  });
  return defined({
    text: answer,
    denials: [...state.tools.denied.values()],
    steps: state.steps,
    sessionId: state.threadId,
    counters: state.counters,
    mayHaveActed: acted,
    failure: failure && blameLogin(failure, facts.stderr),
    structured: failure === undefined && state.wanted.schema ? jsonSchema.safeParse(parseJson(answer)).data : undefined,
  });
}

/** The error on stderr. Before the first event only Codex itself writes there, no model. */
function startUpError(stderr: string): string {
  const lines = plainText(stderr).split('\n');
  const start = lines.findIndex((line) => /^error\b/i.test(line));
  const shown = start >= 0 ? lines.slice(start) : lines.filter((line) => !/^(WARNING|warning|Reading)\b/.test(line));
  return shown.join('\n').trim().slice(0, 2000) || 'codex ended at its start and printed no error';
}

function readCounters(usage: NonNullable<Extract<CodexEvent, { type: 'turn.completed' }>['usage']>): Usage {
  return {
    // Codex includes cached input in `input_tokens`.
    inputTokens: Math.max(0, usage.input_tokens - usage.cached_input_tokens),
    cachedInputTokens: usage.cached_input_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.reasoning_output_tokens,
  };
}
