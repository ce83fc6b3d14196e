import { assertNever } from '../../model/assert-never.ts';
import type { Failure, FailureKind } from '../../model/failure.ts';
import { jsonSchema, type Json } from '../../text/json.ts';
import type { ToolKind, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { limitNotice } from '../shared/limit-notice.ts';
import { remembered, rememberedAs } from '../shared/remembered.ts';
import { blameLogin, classifyCodexText, parseEvent, type CodexEvent, type CodexItem } from './schema.ts';

const MAX_OUTPUT_BYTES = 4096;

export interface CodexState {
  readonly wanted: Pick<TurnRequest, 'mcp'> & { readonly sessionId: string | undefined; readonly schema: boolean };
  readonly threadId?: string;
  readonly begun: boolean;
  /** The last words, as long as no tool has been used since: commentary before a tool is no answer. */
  readonly answer: string;
  /** The last words of all, to know a repetition after a cut stream by. */
  readonly lastText: string;
  readonly reconnected: boolean;
  readonly open: ReadonlyMap<string, string>;
  readonly denials: readonly { tool: string; message?: string }[];
  readonly acted: boolean;
  readonly steps: number;
  readonly lastError: string;
  readonly end?: { readonly type: 'completed' } | { readonly type: 'failed'; readonly message: string };
  readonly counters?: Usage;
}

type Step = { readonly state: CodexState; readonly reports: TurnReport[] };
type ToolItem = Exclude<CodexItem, { type: 'agent_message' | 'reasoning' | 'error' | 'todo_list' }>;

export function beginCodex(request: TurnRequest): CodexState {
  return {
    wanted: { mcp: request.mcp, sessionId: request.session?.id, schema: request.outputSchema !== undefined },
    begun: false,
    answer: '',
    lastText: '',
    reconnected: false,
    open: new Map(),
    denials: [],
    acted: false,
    steps: 0,
    lastError: '',
  };
}

/** Pure: one line of stdout. What this version does not know is ignored. */
export function translateCodex(state: CodexState, line: NativeLine): Step {
  if (line.type === 'text') return closeCutItem(state, line.text);
  const event = parseEvent(line.value);
  return event === undefined ? { state, reports: [] } : translateEvent(state, event);
}

/** A tool whose end was too long to be kept has ended all the same: left open, it would stop the idle watchdog for good. */
function closeCutItem(state: CodexState, text: string): Step {
  const id = /^\{"type":"item\.completed","item":\{"id":"([^"]{1,64})"/.exec(text)?.[1];
  if (id === undefined || !state.open.has(id)) return { state, reports: [] };
  const report: TurnReport = { type: 'tool-ended', id, ok: false, denied: false, output: cut(text) };
  return { state: { ...state, open: without(state.open, id) }, reports: [report] };
}

function translateEvent(state: CodexState, event: CodexEvent): Step {
  switch (event.type) {
    case 'thread.started':
      return announce(state, event.thread_id);
    case 'turn.started':
      return { state: { ...state, begun: true }, reports: [] };
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return translateItem(state, event.item, event.type === 'item.completed');
    case 'error':
      return translateError(state, event.message);
    case 'turn.completed': {
      const counters = event.usage === undefined || event.usage === null ? {} : { counters: usageOf(event.usage) };
      return { state: { ...state, ...counters, end: { type: 'completed' } }, reports: [] };
    }
    case 'turn.failed':
      return { state: { ...state, end: { type: 'failed', message: event.error.message } }, reports: [] };
    default:
      return assertNever(event);
  }
}

function announce(state: CodexState, id: string): Step {
  // A required server that does not start ends the process before this line; the others are never heard of.
  const mcp = state.wanted.mcp.map(({ name, required }) => {
    return { name, status: required === true ? ('connected' as const) : ('unknown' as const) };
  });
  const report: TurnReport = { type: 'session-announced', id, resumed: state.wanted.sessionId === id, mcp };
  return { state: { ...state, threadId: id }, reports: [report] };
}

function translateItem(state: CodexState, item: CodexItem, completed: boolean): Step {
  switch (item.type) {
    case 'agent_message':
      return completed ? speak(state, item.text) : { state, reports: [] };
    case 'reasoning':
      return { state, reports: completed ? [{ type: 'thinking', text: item.text }] : [] };
    case 'error':
      return { state, reports: completed ? [{ type: 'notice', text: item.message }] : [] };
    case 'todo_list': {
      const lines = item.items.map(({ text, completed: done }) => `[${done ? 'x' : ' '}] ${text}`);
      return { state, reports: [{ type: 'notice', text: `plan:\n${lines.join('\n')}` }] };
    }
    default:
      return useTool(state, item, completed);
  }
}

function speak(state: CodexState, text: string): Step {
  const again = state.reconnected && text === state.lastText;
  const next = { ...state, answer: text, lastText: text, reconnected: false };
  return { state: next, reports: again ? [] : [{ type: 'text', text, delta: false }] };
}

function useTool(state: CodexState, item: ToolItem, completed: boolean): Step {
  const { id } = item;
  const known = state.open.has(id);
  const tool = toolOf(item);
  const started: TurnReport = { type: 'tool-started', id, ...tool };
  const first = known ? [] : [started];
  const steps = state.steps + first.length;
  const used = { ...state, acted: true, answer: '', steps, open: rememberedAs(state.open, id, tool.tool) };
  if (!completed) return { state: used, reports: first };
  const end = endOf(item);
  const denial = { tool: tool.tool, ...(end.output === undefined ? {} : { message: end.output }) };
  const files: TurnReport[] =
    item.type === 'file_change' && end.ok ? [{ type: 'files-changed', changes: item.changes }] : [];
  return {
    state: {
      ...used,
      open: without(used.open, id),
      denials: end.denied ? remembered(state.denials, denial) : state.denials,
    },
    reports: [...first, { type: 'tool-ended', id, ...end }, ...files],
  };
}

function toolOf(item: ToolItem): { tool: string; kind: ToolKind; input: unknown; server?: string } {
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

function endOf(item: ToolItem): { ok: boolean; denied: boolean; output?: string; exitCode?: number } {
  switch (item.type) {
    case 'command_execution': {
      const { exit_code: exitCode, status, aggregated_output: output } = item;
      const exit = typeof exitCode === 'number' ? { exitCode } : {};
      return {
        ok: status === 'completed' && exitCode === 0,
        denied: status === 'declined',
        output: cut(output),
        ...exit,
      };
    }
    case 'mcp_tool_call': {
      const message = item.error?.message;
      const denied = item.status === 'declined' || /requires approval|\b(declined|rejected)\b/i.test(message ?? '');
      const output = message ?? JSON.stringify(item.result ?? '');
      return { ok: item.status === 'completed' && message === undefined, denied, output: cut(output) };
    }
    case 'web_search':
      return { ok: true, denied: false };
    case 'file_change':
    case 'collab_tool_call':
      return { ok: item.status === 'completed', denied: item.status === 'declined' };
    default:
      return assertNever(item);
  }
}

/** `error` is not terminal: Codex says it of each reconnect, and once more before `turn.failed`. */
function translateError(state: CodexState, message: string): Step {
  const next = { ...state, lastError: message };
  const retry = /^Reconnecting\.\.\.\s*(?:(\d+)\/(\d+)\s*)?(.*)$/s.exec(message);
  if (retry === null) return { state: next, reports: [] };
  const [, attempt, of, cause = ''] = retry;
  const count = attempt === undefined ? {} : { attempt: Number(attempt), of: Number(of) };
  const failure = classifyCodexText(cause.replace(/^\((.*)\)$/s, '$1'), 0)?.kind ?? 'network';
  return {
    state: { ...next, reconnected: true },
    reports: [{ type: 'retry-scheduled', failure, message, ...count }],
  };
}

/** Pure: the verdict. Completed only with `turn.completed`, a good exit and an answer. */
export function concludeCodex(state: CodexState, facts: TurnFacts): Verdict {
  const known = {
    text: state.answer,
    denials: state.denials,
    steps: state.steps,
    ...(state.threadId === undefined ? {} : { sessionId: state.threadId }),
    ...(state.counters === undefined ? {} : { counters: state.counters }),
  };
  const failure = failureOf(state, facts);
  if (failure !== undefined) return { ...known, failure: blameLogin(failure, facts.stderr) };
  const structured = state.wanted.schema ? parseAnswer(state.answer) : undefined;
  return structured === undefined ? known : { ...known, structured };
}

function failureOf(state: CodexState, facts: TurnFacts): Failure | undefined {
  const { threadId, wanted, end } = state;
  if (wanted.sessionId !== undefined && threadId !== undefined && threadId !== wanted.sessionId) {
    return fail(state, 'session-not-found', `codex opened thread ${threadId} instead of resuming ${wanted.sessionId}`);
  }
  if (end === undefined) return failureWithoutEnd(state, facts);
  if (end.type === 'failed') return said(state, end.message || state.lastError, facts.now, 'server-error');
  const notice = limitNotice(state.answer, facts.now);
  if (notice !== undefined) return { ...notice, mayHaveActed: state.acted };
  const { ending } = facts;
  if (ending.type === 'exited' && (ending.code !== 0 || ending.signal !== null)) {
    return fail(state, 'crashed', `codex ended with ${ending.signal ?? `exit ${ending.code}`} after its last word`);
  }
  if (state.answer.trim() === '') return fail(state, 'bad-output', 'codex ended the turn without an answer');
  if (wanted.schema && parseAnswer(state.answer) === undefined) {
    return fail(state, 'bad-output', 'the answer is not the JSON that was asked for');
  }
  return undefined;
}

/** The process is gone without `turn.completed` or `turn.failed`. */
function failureWithoutEnd(state: CodexState, { ending, stderr, now }: TurnFacts): Failure {
  // Silence after the start hides what was going on: from there on, files may have changed.
  const unsure = { ...state, acted: state.acted || state.begun };
  if (ending.type === 'never-started') return fail(state, 'never-started', 'codex never ran');
  if (ending.type === 'vanished') return fail(unsure, 'crashed', 'codex was killed before it ended its turn');
  if (ending.signal !== null) return fail(unsure, 'crashed', `codex was ended by ${ending.signal}`);
  if (ending.code === 0) return fail(unsure, 'protocol', 'codex ended well but without its last word');
  if (state.begun) return said(unsure, state.lastError || `codex ended with exit ${ending.code}`, now, 'crashed');
  if (ending.code === 2) return fail(state, 'cli-unsupported', `codex refused its arguments: ${startUpError(stderr)}`);
  return said(state, startUpError(stderr), now, 'crashed');
}

function said(state: CodexState, text: string, now: number, otherwise: FailureKind): Failure {
  const cause = classifyCodexText(text, now) ?? { kind: otherwise, message: text };
  return { ...cause, mayHaveActed: state.acted };
}

function fail(state: CodexState, kind: FailureKind, message: string): Failure {
  return { kind, message, mayHaveActed: state.acted };
}

/** Before the first event, stderr is Codex's own: nothing of a model can be in it yet. */
function startUpError(stderr: string): string {
  const lines = stderr.replaceAll(/\u001B\[[0-9;]*m/g, '').split('\n');
  const start = lines.findIndex((line) => /^error\b/i.test(line));
  const telling = start >= 0 ? lines.slice(start) : lines.filter((line) => !/^(WARNING|warning|Reading)\b/.test(line));
  return telling.join('\n').trim().slice(0, 2000) || 'codex ended at its start without saying why';
}

function parseAnswer(text: string): Json | undefined {
  try {
    return jsonSchema.parse(JSON.parse(text));
  } catch {
    // Prose instead of JSON: the caller turns "undefined" into a failure of its own.
    return undefined;
  }
}

function usageOf(usage: NonNullable<Extract<CodexEvent, { type: 'turn.completed' }>['usage']>): Usage {
  return {
    // Codex counts cached input twice: in `input_tokens` and apart.
    inputTokens: Math.max(0, usage.input_tokens - usage.cached_input_tokens),
    cachedInputTokens: usage.cached_input_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.reasoning_output_tokens,
  };
}

function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_OUTPUT_BYTES) return text;
  const head = Buffer.from(text.slice(0, MAX_OUTPUT_BYTES)).subarray(0, MAX_OUTPUT_BYTES - 3);
  return `${head.toString('utf8').replace(/\uFFFD$/, '')}…`;
}

function without(open: CodexState['open'], id: string): CodexState['open'] {
  const rest = new Map(open);
  rest.delete(id);
  return rest;
}
