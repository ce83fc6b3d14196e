import { assertNever } from '../../model/assert-never.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import { parseJson } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { plainText } from '../../text/plain-text.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import * as tools from '../shared/translation.ts';
import { step } from '../shared/translation.ts';
import { verdictOf } from '../shared/turn-end.ts';
import { NAME } from './command.ts';
import { blameLogin, classifyCodexText, parseEvent, type CodexEvent, type CodexItem } from './schema.ts';

export interface CodexState {
  readonly request: TurnRequest;
  readonly threadId?: string;
  readonly begun: boolean;
  /** The last message, unless a tool ran after it: commentary before a tool is not an answer. */
  readonly answer: string;
  /** The last message of all. After a cut stream Codex may repeat it. */
  readonly lastText?: string;
  readonly reconnected?: boolean;
  readonly tools: tools.ToolLog;
  readonly steps: number;
  readonly lastError: string;
  readonly end?: 'completed' | { readonly failed: string };
  readonly counters?: Usage | undefined;
}

type Step = tools.Step<CodexState>;
type ToolItem = Exclude<CodexItem, { type: 'agent_message' | 'reasoning' | 'error' | 'todo_list' }>;

export function beginCodex(request: TurnRequest): CodexState {
  return { request, begun: false, answer: '', tools: tools.NO_TOOLS, steps: 0, lastError: '' };
}

/** Translates one line of stdout. Pure. Ignores events that this version does not know. */
export function translateCodex(state: CodexState, line: NativeLine): Step {
  if (line.type === 'text') return closeCutItem(state, line.text);
  const event = parseEvent(line.value);
  return event === undefined ? step(state) : translateEvent(state, event);
}

function closeCutItem(state: CodexState, text: string): Step {
  const id = /^\{"type":"item\.completed","item":\{"id":"([^"]{1,64})"/.exec(text)?.[1];
  const { log, reports } = tools.endCutTool(state.tools, id, text);
  return step({ ...state, tools: log }, ...reports);
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
    case 'turn.completed':
      return step({ ...state, counters: event.usage ?? state.counters, end: 'completed' });
    case 'turn.failed':
      return step({ ...state, end: { failed: event.error.message } });
    default:
      return assertNever(event);
  }
}

function announce(state: CodexState, id: string): Step {
  // Codex exits before this line if a required server does not start. It never reports the other servers.
  const { mcp: wanted, session } = state.request;
  const mcp = wanted.map(({ name, required }) => ({ name, status: required ? 'connected' : 'unknown' }) as const);
  const resumed = session?.id === id;
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
  if (state.reconnected && text === state.lastText) return step(next);
  return step(next, { type: 'text', text, delta: false });
}

function translateTool(state: CodexState, item: ToolItem, completed: boolean): Step {
  const { end, ...call } = readTool(item);
  const isNew = !state.tools.open.has(item.id);
  const { log, reports } = tools.useTool(state.tools, { id: item.id, ...call }, completed ? end : undefined);
  const used = { ...state, answer: '', steps: state.steps + Number(isNew), tools: log };
  const changed = completed && item.type === 'file_change' && end.ok;
  return step(used, ...reports, ...(changed ? [{ type: 'files-changed' as const, changes: item.changes }] : []));
}

type Tool = Pick<Extract<TurnReport, { type: 'tool-started' }>, 'tool' | 'kind' | 'input' | 'server'> & {
  /** Valid once the tool has ended. */
  readonly end: tools.ToolEnd;
};

function readTool(item: ToolItem): Tool {
  const status = item.type === 'web_search' ? 'completed' : item.status;
  const end = { ok: status === 'completed', denied: status === 'declined' };
  switch (item.type) {
    case 'command_execution': {
      const { command, exit_code: code, aggregated_output: output } = item;
      const ran = { ...end, ok: end.ok && code === 0, output, exitCode: code ?? undefined };
      return { tool: 'shell', kind: 'execute', input: { command }, end: ran };
    }
    case 'file_change':
      return { tool: 'apply_patch', kind: 'edit', input: { changes: item.changes }, end };
    case 'mcp_tool_call': {
      const { tool, server, error, result } = item;
      const ok = end.ok && !error;
      const denied = end.denied || /requires approval|\b(declined|rejected)\b/i.test(error?.message ?? '');
      const output = error?.message ?? JSON.stringify(result ?? '');
      return { tool, kind: 'mcp', input: item.arguments, server, end: { ok, denied, output } };
    }
    case 'web_search':
      return { tool: 'web_search', kind: 'fetch', input: { query: item.query }, end };
    case 'collab_tool_call':
      return { tool: item.tool, kind: 'agent', input: {}, end };
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
  const { end, answer, begun, lastError, steps, counters, threadId } = state;
  const said = begun ? lastError : startUpError(facts.stderr);
  const reason = typeof end === 'object' ? end.failed || lastError : '';
  const { failure, ...verdict } = verdictOf(NAME, facts, {
    end: end && (end === 'completed' ? end : (classifyCodexText(reason) ?? { kind: 'server-error', message: reason })),
    complaint: { text: said, cause: classifyCodexText(said) },
    unseen: end === undefined && begun,
    text: answer,
    tools: state.tools,
    steps,
    counters,
    sessionId: threadId,
    structured: state.request.outputSchema ? jsonSchema.safeParse(parseJson(answer)).data : undefined,
  });
  return { ...verdict, failure: failure && blameLogin(failure, facts.stderr) };
}

/** The error on stderr. Before the first event only Codex itself writes there, no model. */
function startUpError(stderr: string): string {
  const lines = plainText(stderr).split('\n');
  const start = lines.findIndex((line) => /^error\b/i.test(line));
  const shown =
    start >= 0
      ? lines.slice(start)
      : lines.filter((line) => !/^(WARNING|warning|Reading)\b/.test(line) && !SERVER_SAID.test(line));
  const words = lines.flatMap((line) => SERVER_SAID.exec(line)?.[1] ?? []).slice(-5);
  return [...words, ...shown].join('\n').trim().slice(0, 2000) || 'codex ended at its start and printed no error';
}

/** Codex's log line with the stderr of a required MCP server. */
const SERVER_SAID = /^\S+\s+INFO codex_rmcp_client::stdio_server_launcher: (MCP server stderr .{1,500})/;
