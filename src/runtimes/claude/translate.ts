import type { Failure, FailureKind } from '../../model/failure.ts';
import type { ToolKind, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { usageSince, type Usage } from '../../model/usage.ts';
import {
  kindOfEnd,
  kindOfError,
  kindOfStartProblem,
  parseLine,
  type ClaudeLine,
  type ClaudeResult,
  type ContentBlock,
  type ModelTokens,
} from './schema.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { limitNotice } from '../shared/limit-notice.ts';
import { MOST_REMEMBERED } from '../shared/remembered.ts';
import { parseRetryAt } from '../../text/retry-at.ts';

/** As promised by the `tool-ended` event. */
const MAX_OUTPUT = 4096;
const MOST_RESULTS = 16;

/** What one turn's output has said so far. Plain data; every line makes a new one. */
export interface ClaudeState {
  readonly requested: string | undefined;
  readonly wantsStructure: boolean;
  readonly required: readonly string[];
  /** The session's counters when the turn began. */
  readonly before: Usage | undefined;
  readonly announced: string | undefined;
  /** A required MCP server that is known not to work. */
  readonly missingServer: string | undefined;
  /** Tool calls that have not ended, by id. */
  readonly open: Readonly<Record<string, string>>;
  /** Refused calls, by id. */
  readonly denied: Readonly<Record<string, { tool: string; message?: string }>>;
  /** A tool that can change something has run, or may have. */
  readonly acted: boolean;
  /** Last text of the main agent that a model wrote. */
  readonly text: string;
  /** The main agent's latest message was written by the CLI itself, because a request failed. */
  readonly synthetic: { text: string; error: string | undefined; status: number | undefined } | undefined;
  readonly retry: { error: string | undefined; status: number | undefined; delayMs: number | undefined } | undefined;
  /** A subscription's limit was hit. `resetsAt` in seconds since the epoch. */
  readonly limit: { resetsAt: number | undefined } | undefined;
  readonly results: readonly ClaudeResult[];
  /** Something on stdout was no JSON: then not even "nothing happened" can be believed. */
  readonly garbled: boolean;
}

interface Step {
  state: ClaudeState;
  reports: TurnReport[];
}

export function begin(request: TurnRequest): ClaudeState {
  return {
    requested: request.session?.id,
    wantsStructure: request.outputSchema !== undefined,
    required: request.mcp.filter(({ required }) => required === true).map(({ name }) => name),
    before: request.session?.counters,
    announced: undefined,
    missingServer: undefined,
    open: {},
    denied: {},
    acted: false,
    text: '',
    synthetic: undefined,
    retry: undefined,
    limit: undefined,
    results: [],
    garbled: false,
  };
}

export function translate(state: ClaudeState, line: NativeLine): Step {
  if (line.type === 'text') {
    return { state: line.text.trim() === '' ? state : { ...state, garbled: true }, reports: [] };
  }
  const parsed = parseLine(line.value);
  return parsed === undefined ? { state, reports: [] } : translateLine(state, parsed);
}

/**
 * With background jobs switched off there is one result and nothing after it. A turn whose required server is missing
 * has nothing to wait for either: it is ended before it costs more.
 */
export function isTerminal(state: ClaudeState): boolean {
  return state.results.length > 0 || state.missingServer !== undefined;
}

function translateLine(state: ClaudeState, line: ClaudeLine): Step {
  switch (line.type) {
    case 'system':
      return translateSystem(state, line);
    case 'rate_limit_event': {
      if (line.rate_limit_info.status !== 'rejected') return { state, reports: [] };
      return { state: { ...state, limit: { resetsAt: line.rate_limit_info.resetsAt } }, reports: [] };
    }
    case 'stream_event': {
      const { text } = line.event.delta;
      return { state, reports: [{ type: 'text', text, delta: true, ...agentOf(line.parent_tool_use_id) }] };
    }
    case 'assistant':
      return translateAssistant(state, line);
    case 'user':
      return translateResults(state, line.message.content);
    case 'result':
      return { state: { ...state, results: withResult(state.results, line) }, reports: [] };
  }
}

/** The last result counts. A turn with many results is not from claude, and its usage is unknown. */
function withResult(results: readonly ClaudeResult[], line: ClaudeResult): readonly ClaudeResult[] {
  return [...results.slice(0, MOST_RESULTS - 1), line];
}

function withEntries<Value>(
  known: Readonly<Record<string, Value>>,
  entries: readonly (readonly [string, Value])[],
): Readonly<Record<string, Value>> {
  const room = MOST_REMEMBERED - Object.keys(known).length;
  return room <= 0 ? known : { ...known, ...Object.fromEntries(entries.slice(0, room)) };
}

function translateSystem(state: ClaudeState, line: Extract<ClaudeLine, { type: 'system' }>): Step {
  switch (line.subtype) {
    case 'init':
      return translateInit(state, line);
    case 'informational':
      return { state, reports: [{ type: 'notice', text: line.content.slice(0, MAX_OUTPUT) }] };
    case 'permission_denied': {
      const id = line.tool_use_id ?? `denied-${Object.keys(state.denied).length}`;
      const denial = { tool: line.tool_name, ...(line.message === undefined ? {} : { message: line.message }) };
      return { state: { ...state, denied: withEntries(state.denied, [[id, denial]]) }, reports: [] };
    }
    case 'api_retry': {
      const failure = kindOfError({ error: line.error, status: line.error_status, text: '' });
      const retry = { error: line.error, status: line.error_status, delayMs: line.retry_delay_ms };
      const message = `${line.error ?? 'unknown'}${line.error_status === undefined ? '' : ` (${line.error_status})`}`;
      const report: TurnReport = {
        type: 'retry-scheduled',
        failure,
        message,
        ...(line.attempt === undefined ? {} : { attempt: line.attempt }),
        ...(line.max_retries === undefined ? {} : { of: line.max_retries }),
        ...(line.retry_delay_ms === undefined ? {} : { delayMs: line.retry_delay_ms }),
      };
      return { state: { ...state, retry }, reports: [report] };
    }
  }
}

function translateInit(state: ClaudeState, line: Extract<ClaudeLine, { subtype: 'init' }>): Step {
  const servers = line.mcp_servers ?? [];
  const missing = state.required.find((name) => !servers.some((server) => server.name === name && mayWork(server)));
  const report: TurnReport = {
    type: 'session-announced',
    id: line.session_id,
    ...(line.model === undefined ? {} : { model: line.model }),
    resumed: state.requested === line.session_id,
    mcp: servers.map((server) => ({ name: server.name, status: statusOf(server) })),
  };
  const again = state.announced === line.session_id;
  return {
    state: { ...state, announced: line.session_id, missingServer: state.missingServer ?? missing },
    reports: again ? [] : [report],
  };
}

function mayWork(server: { status?: string | undefined }): boolean {
  return statusOf(server) !== 'failed';
}

function statusOf({ status }: { status?: string | undefined }): 'connected' | 'failed' | 'unknown' {
  if (status === 'connected') return 'connected';
  // `pending` may still connect; `needs-auth` and `disabled` cannot without a person.
  return status === undefined || status === 'pending' ? 'unknown' : 'failed';
}

function translateAssistant(state: ClaudeState, line: Extract<ClaudeLine, { type: 'assistant' }>): Step {
  const { content, model } = line.message;
  const agent = agentOf(line.parent_tool_use_id);
  const said = content.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('');
  if (line.error !== undefined || model === '<synthetic>') {
    if (agent.agent !== undefined) return { state, reports: [] };
    const synthetic = { text: said, error: line.error, status: line.api_error_status };
    return { state: { ...state, synthetic }, reports: [{ type: 'notice', text: said.slice(0, MAX_OUTPUT) }] };
  }
  const calls = content.filter(isToolCall);
  const main = agent.agent === undefined ? { synthetic: undefined, ...(said === '' ? {} : { text: said }) } : {};
  const open = withEntries(
    state.open,
    calls.map(({ id, name }) => [id, name] as const),
  );
  return { state: { ...state, ...main, open }, reports: content.flatMap((block) => reportsOf(block, agent)) };
}

type ToolCall = ContentBlock & { id: string; name: string };

function isToolCall(block: ContentBlock): block is ToolCall {
  return block.type === 'tool_use' && block.id !== undefined && block.name !== undefined;
}

function reportsOf(block: ContentBlock, agent: { agent?: string }): TurnReport[] {
  if (isToolCall(block)) return [toolStarted(block, agent)];
  if (block.type === 'text' && block.text) return [{ type: 'text', text: block.text, delta: false, ...agent }];
  if (block.type === 'thinking' && block.thinking) return [{ type: 'thinking', text: block.thinking }];
  return [];
}

function toolStarted({ id, name, input }: ToolCall, agent: { agent?: string }): TurnReport {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  const call = { type: 'tool-started' as const, id, input: input ?? {}, kind: kindOfTool(name), ...agent };
  return server === undefined || tool === undefined ? { ...call, tool: name } : { ...call, tool, server };
}

function kindOfTool(name: string): ToolKind {
  if (name.startsWith('mcp__')) return 'mcp';
  if (['Read', 'Glob', 'Grep', 'LS', 'NotebookRead'].includes(name)) return 'read';
  if (['Edit', 'MultiEdit', 'Write', 'NotebookEdit'].includes(name)) return 'edit';
  if (['Bash', 'PowerShell'].includes(name)) return 'execute';
  if (['WebFetch', 'WebSearch'].includes(name)) return 'fetch';
  return ['Agent', 'Task'].includes(name) ? 'agent' : 'other';
}

/** Looking, and giving the answer in the asked form, change nothing. */
function canAct(tool: string): boolean {
  return kindOfTool(tool) !== 'read' && tool !== 'StructuredOutput';
}

function translateResults(state: ClaudeState, content: readonly ContentBlock[]): Step {
  let { acted } = state;
  const open = { ...state.open };
  const reports: TurnReport[] = [];
  for (const block of content) {
    const id = block.tool_use_id;
    if (block.type !== 'tool_result' || id === undefined) continue;
    const denied = state.denied[id] !== undefined;
    const tool = open[id];
    if (tool !== undefined && !denied && canAct(tool)) acted = true;
    delete open[id];
    reports.push(toolEnded(id, block, denied));
  }
  return { state: { ...state, acted, open }, reports };
}

function toolEnded(id: string, block: ContentBlock, denied: boolean): TurnReport {
  const output = outputOf(block.content);
  const exitCode = block.is_error === true ? /^Exit code (\d{1,3})\b/.exec(output)?.[1] : undefined;
  return {
    type: 'tool-ended',
    id,
    ok: block.is_error !== true && !denied,
    denied,
    output: output.slice(0, MAX_OUTPUT),
    ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
  };
}

function outputOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((item: unknown) => {
      const text = typeof item === 'object' && item !== null && 'text' in item ? item.text : '';
      return typeof text === 'string' ? text : '';
    })
    .join('\n');
}

function agentOf(parent: string | undefined): { agent?: string } {
  return parent === undefined ? {} : { agent: parent };
}

/**
 * The verdict on a turn. Neither exit 0 (an interrupt has it) nor `subtype: "success"` (a 401 has it) is proof: a turn
 * completed only if the process exited with 0 and its last result says `is_error: false` and `completed`, in an announced
 * session, with a last message that a model wrote.
 */
export function conclude(state: ClaudeState, facts: TurnFacts): Verdict {
  const result = state.results.at(-1);
  const failure = failureOf(state, result, facts);
  const counters = countersOf(result);
  const usage = usageOf(state, counters);
  const sessionId = state.announced;
  const steps = state.results.reduce((sum, { num_turns }) => sum + (num_turns ?? 0), 0);
  return {
    ...(failure === undefined ? {} : { failure }),
    text: failure === undefined ? answerOf(state, result) : state.text,
    ...(result?.structured_output === undefined ? {} : { structured: result.structured_output }),
    ...(sessionId === undefined ? {} : { sessionId }),
    denials: denialsOf(state),
    ...(usage === undefined ? {} : { usage }),
    ...(counters === undefined ? {} : { counters }),
    ...(result === undefined ? {} : { steps }),
  };
}

function failureOf(state: ClaudeState, result: ClaudeResult | undefined, facts: TurnFacts): Failure | undefined {
  const failed = (kind: FailureKind, message: string, more: Partial<Failure> = {}): Failure => ({
    kind,
    message: message.trim().slice(0, 2000) || kind,
    mayHaveActed: mayHaveActed(state),
    ...more,
  });
  const { ending } = facts;
  if (ending.type === 'never-started') {
    return { kind: 'never-started', message: 'the agent never ran', mayHaveActed: false };
  }
  if (state.missingServer !== undefined) {
    return failed('mcp-unavailable', `the MCP server ${state.missingServer} did not start`, { setting: 'mcp' });
  }
  if (state.requested !== undefined && state.announced !== undefined && state.announced !== state.requested) {
    return failed('session-not-found', `opened session ${state.announced} instead of resuming ${state.requested}`);
  }
  if (result === undefined) return failed(...withoutResult(state, facts));
  if (!succeeded(state, result)) {
    const [kind, message] = kindOfResult(state, result);
    return failed(kind, message, {
      ...(result.api_error_status === undefined ? {} : { httpStatus: result.api_error_status }),
      ...retryOf(kind, message, state, facts.now),
    });
  }
  const notice = result.structured_output === undefined ? limitNotice(answerOf(state, result), facts.now) : undefined;
  if (notice !== undefined) {
    return failed(notice.kind, notice.message, retryOf(notice.kind, notice.message, state, facts.now));
  }
  if (ending.type !== 'exited' || ending.code !== 0 || ending.signal !== null) {
    return failed('crashed', `ended by ${endOf(facts)} after reporting success`);
  }
  if (state.wantsStructure && result.structured_output === undefined) {
    return failed('bad-output', 'the model did not give its answer in the requested schema');
  }
  if (!state.wantsStructure && answerOf(state, result).trim() === '') {
    return failed('bad-output', 'claude ended the turn without an answer');
  }
  return undefined;
}

function answerOf(state: ClaudeState, result: ClaudeResult | undefined): string {
  return result?.result ?? state.text;
}

function succeeded(state: ClaudeState, result: ClaudeResult): boolean {
  return (
    result.is_error === false &&
    result.subtype === 'success' &&
    result.terminal_reason === 'completed' &&
    state.announced !== undefined &&
    state.synthetic === undefined
  );
}

/** An open call may have run; so may anything when the output cannot be read. */
function mayHaveActed(state: ClaudeState): boolean {
  const open = Object.entries(state.open).some(([id, tool]) => state.denied[id] === undefined && canAct(tool));
  return state.acted || state.garbled || open;
}

/** The CLI complained before it could say anything on stdout, or was ended before its result. */
function withoutResult(state: ClaudeState, facts: TurnFacts): [FailureKind, string] {
  const said = facts.stderr.trim();
  const { ending } = facts;
  const signal = ending.type === 'exited' ? ending.signal : 'SIGKILL';
  if (facts.endedByHost) return ['cancelled', 'ended by squad'];
  if (state.announced === undefined && said !== '') {
    const kind = kindOfStartProblem(said);
    if (kind !== undefined) return [kind, said];
  }
  if (signal !== null || (ending.type === 'exited' && ending.code > 128)) {
    return ['crashed', `ended by ${endOf(facts)} before its result${said === '' ? '' : `: ${said}`}`];
  }
  if (ending.type === 'exited' && ending.code === 0) return ['protocol', 'exit 0 without a result'];
  return ['crashed', said === '' ? `ended by ${endOf(facts)} without a result` : said];
}

function endOf({ ending }: TurnFacts): string {
  if (ending.type !== 'exited') return 'an unseen end';
  return ending.signal === null ? `exit ${ending.code}` : `signal ${ending.signal}`;
}

function kindOfResult(state: ClaudeState, result: ClaudeResult): [FailureKind, string] {
  const text = result.errors?.join('; ') ?? result.result ?? state.synthetic?.text ?? '';
  const reason = result.terminal_reason ?? '';
  const known = kindOfEnd(result.subtype ?? '', reason);
  if (known !== undefined) return [known, text || reason];
  if (/No conversation found/i.test(text)) return ['session-not-found', text];
  if (/sandbox required but unavailable/i.test(text)) return ['sandbox-unavailable', text];
  if (result.stop_reason === 'refusal') return ['model-refused', text];
  if (result.api_error === 'max_output_tokens') return ['output-truncated', text];
  if (result.api_error === 'connection_failed') return ['network', text];
  if (result.api_error === 'usage_limit_reached' || state.limit !== undefined) return ['quota-exhausted', text];
  const error = state.synthetic?.error ?? (result.is_error === true ? state.retry?.error : undefined);
  const status = result.api_error_status ?? state.synthetic?.status;
  const kind = kindOfError({ error, status, text });
  const apiFailed = result.is_error === true || error !== undefined || status !== undefined || kind !== 'server-error';
  return apiFailed ? [kind, text] : ['protocol', text || `ended with ${result.subtype ?? 'no subtype'} ${reason}`];
}

/** When to try again: the limit's own reset, a time in the text, or the delay of the CLI's last own retry. */
function retryOf(kind: FailureKind, text: string, state: ClaudeState, now: number): { retryAt?: number } {
  if (!['quota-exhausted', 'billing', 'rate-limited', 'overloaded'].includes(kind)) return {};
  const stated = state.limit?.resetsAt === undefined ? undefined : Math.round(state.limit.resetsAt * 1000);
  const delay = kind === 'rate-limited' ? state.retry?.delayMs : undefined;
  const retryAt = stated ?? parseRetryAt(text, now) ?? (delay === undefined ? undefined : Math.ceil(now + delay));
  return retryAt === undefined ? {} : { retryAt };
}

function denialsOf(state: ClaudeState): Verdict['denials'] {
  const seen = new Map(Object.entries(state.denied));
  for (const { tool_use_id, tool_name } of state.results.flatMap((result) => result.permission_denials ?? [])) {
    const id = tool_use_id ?? `result-${seen.size}`;
    if (!seen.has(id)) seen.set(id, { tool: tool_name });
  }
  return [...seen.values()];
}

/** Readings over the whole session, sub-agents included. Without one the session's last reading stays the one to subtract. */
function countersOf(result: ClaudeResult | undefined): Usage | undefined {
  if (result?.modelUsage === undefined) return undefined;
  const tokens = sumOf(Object.values(result.modelUsage));
  return { ...tokens, ...(result.total_cost_usd === undefined ? {} : { costUsd: result.total_cost_usd }) };
}

/**
 * This turn alone. `model_usage_since_last_result` is preferred to `usage`, which leaves out sub-agents and requests that
 * were cut short. Input includes what was written to the prompt cache (it is billed as input), not what was read from it.
 */
function usageOf(state: ClaudeState, counters: Usage | undefined): Usage | undefined {
  const readings = state.results.map(tokensOf).filter((reading) => reading !== undefined);
  // What one of them does not say is not known of the turn.
  const known = readings.length === state.results.length && readings.length < MOST_RESULTS;
  if (readings.length === 0 || !known) return undefined;
  const tokens = sumOf(readings.flat());
  const costUsd = counters && usageSince(counters, state.before).costUsd;
  return { ...tokens, ...(costUsd === undefined ? {} : { costUsd }) };
}

function tokensOf(result: ClaudeResult): ModelTokens[] | undefined {
  const { usage, model_usage_since_last_result: since } = result;
  if (since !== undefined) return Object.values(since);
  if (usage === undefined) return undefined;
  return [
    {
      inputTokens: usage.input_tokens,
      cacheCreationInputTokens: usage.cache_creation_input_tokens,
      cacheReadInputTokens: usage.cache_read_input_tokens,
      outputTokens: usage.output_tokens,
      thinkingTokens: undefined,
    },
  ];
}

function sumOf(all: readonly ModelTokens[]): Usage {
  const sum = (of: (tokens: ModelTokens) => number | null | undefined): number =>
    Math.round(all.reduce((total, tokens) => total + (of(tokens) ?? 0), 0));
  const reasoningTokens = sum(({ thinkingTokens }) => thinkingTokens);
  return {
    inputTokens: sum(({ inputTokens, cacheCreationInputTokens }) => inputTokens + (cacheCreationInputTokens ?? 0)),
    cachedInputTokens: sum(({ cacheReadInputTokens }) => cacheReadInputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...(reasoningTokens === 0 ? {} : { reasoningTokens }),
  };
}
