import type { Failure, FailureKind } from '../../model/failure.ts';
import type { ToolKind, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { usageSince, type Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { isJsonObject } from '../../text/json.ts';
import { parseRetryAt } from '../../text/retry-at.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { limitNotice } from '../shared/limit-notice.ts';
import {
  endingText,
  exitedCleanly,
  forgotten,
  rememberedAs,
  shortOutput,
  step,
  type Step as StepOf,
} from '../shared/translation.ts';
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

const MOST_RESULTS = 16;

/** The state of a turn's translation. Plain data; every line makes a new state. */
export interface ClaudeState {
  readonly requested: string | undefined;
  readonly required: readonly string[];
  /** The session's counters when the turn began. */
  readonly before: Usage | undefined;
  readonly announced: string | undefined;
  /** A required MCP server that does not work. */
  readonly missingServer: string | undefined;
  /** Names of the tools that have not ended, by call id. */
  readonly open: ReadonlyMap<string, string>;
  /** Refused calls, by id. */
  readonly denied: ReadonlyMap<string, { tool: string; message?: string }>;
  /** A tool that can change something has run, or may have. */
  readonly acted: boolean;
  /** Last text of the main agent that a model wrote. */
  readonly text: string;
  /** The main agent's latest message, if the CLI itself wrote it because a request failed. */
  readonly synthetic: { text: string; error: string | undefined; status: number | undefined } | undefined;
  readonly retry: { error: string | undefined; status: number | undefined; delayMs: number | undefined } | undefined;
  /** A subscription's limit was reached. `resetsAt` in seconds since the epoch. */
  readonly limit: { resetsAt: number | undefined } | undefined;
  readonly results: readonly ClaudeResult[];
  /** Stdout held text that is not JSON, so the turn may have acted unseen. */
  readonly garbled: boolean;
}

type Step = StepOf<ClaudeState>;

export function begin(request: TurnRequest): ClaudeState {
  return {
    requested: request.session?.id,
    required: request.mcp.filter(({ required }) => required === true).map(({ name }) => name),
    before: request.session?.counters,
    announced: undefined,
    missingServer: undefined,
    open: new Map(),
    denied: new Map(),
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
  if (line.type === 'text') return step(line.text.trim() === '' ? state : { ...state, garbled: true });
  const parsed = parseLine(line.value);
  return parsed === undefined ? step(state) : translateLine(state, parsed);
}

/**
 * Without background jobs nothing follows the result. A turn whose required server is missing is ended at once, before it
 * costs more.
 */
export function isTerminal(state: ClaudeState): boolean {
  return state.results.length > 0 || state.missingServer !== undefined;
}

function translateLine(state: ClaudeState, line: ClaudeLine): Step {
  switch (line.type) {
    case 'system':
      return translateSystem(state, line);
    case 'rate_limit_event': {
      const { status, resetsAt } = line.rate_limit_info;
      return step(status === 'rejected' ? { ...state, limit: { resetsAt } } : state);
    }
    case 'stream_event': {
      const { text } = line.event.delta;
      return step(state, defined({ type: 'text', text, delta: true, agent: line.parent_tool_use_id }));
    }
    case 'assistant':
      return translateAssistant(state, line);
    case 'user':
      return translateResults(state, line.message.content);
    case 'result':
      // The last result counts. claude never prints so many, so the use of such a turn is unknown.
      return step({ ...state, results: [...state.results.slice(0, MOST_RESULTS - 1), line] });
  }
}

function translateSystem(state: ClaudeState, line: Extract<ClaudeLine, { type: 'system' }>): Step {
  switch (line.subtype) {
    case 'init':
      return translateInit(state, line);
    case 'informational':
      return step(state, { type: 'notice', text: shortOutput(line.content) });
    case 'permission_denied': {
      const id = line.tool_use_id ?? `denied-${state.denied.size}`;
      const denial = defined({ tool: line.tool_name, message: line.message });
      return step({ ...state, denied: rememberedAs(state.denied, id, denial) });
    }
    case 'api_retry': {
      const { error, error_status: status, retry_delay_ms: delayMs, attempt, max_retries: of } = line;
      const failure = kindOfError({ error, status, text: '' });
      const message = `${error ?? 'unknown'}${status === undefined ? '' : ` (${status})`}`;
      const report = defined({ type: 'retry-scheduled', failure, message, attempt, of, delayMs });
      return step({ ...state, retry: { error, status, delayMs } }, report);
    }
  }
}

function translateInit(state: ClaudeState, line: Extract<ClaudeLine, { subtype: 'init' }>): Step {
  const { session_id: id, model } = line;
  const mcp = (line.mcp_servers ?? []).map(({ name, status }) => ({ name, status: serverStatus(status) }));
  const missing = state.required.find((name) => !mcp.some((one) => one.name === name && one.status !== 'failed'));
  const next = { ...state, announced: id, missingServer: state.missingServer ?? missing };
  if (state.announced === id) return step(next);
  return step(next, defined({ type: 'session-announced', id, model, resumed: state.requested === id, mcp }));
}

function serverStatus(status: string | undefined): 'connected' | 'failed' | 'unknown' {
  if (status === 'connected') return 'connected';
  // `pending` may still connect; `needs-auth` and `disabled` need a person.
  return status === undefined || status === 'pending' ? 'unknown' : 'failed';
}

function translateAssistant(state: ClaudeState, line: Extract<ClaudeLine, { type: 'assistant' }>): Step {
  const { content, model } = line.message;
  const agent = line.parent_tool_use_id;
  const said = content.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('');
  if (line.error !== undefined || model === '<synthetic>') {
    if (agent !== undefined) return step(state);
    const synthetic = { text: said, error: line.error, status: line.api_error_status };
    return step({ ...state, synthetic }, { type: 'notice', text: shortOutput(said) });
  }
  const main = agent === undefined ? { synthetic: undefined, ...(said === '' ? {} : { text: said }) } : {};
  let { open } = state;
  for (const { id, name } of content.filter(isToolCall)) open = rememberedAs(open, id, name);
  return step({ ...state, ...main, open }, ...content.flatMap((block) => blockReports(block, agent)));
}

type ToolCall = ContentBlock & { id: string; name: string };

function isToolCall(block: ContentBlock): block is ToolCall {
  return block.type === 'tool_use' && block.id !== undefined && block.name !== undefined;
}

function blockReports(block: ContentBlock, agent: string | undefined): TurnReport[] {
  if (isToolCall(block)) return [toolStarted(block, agent)];
  if (block.type === 'text' && block.text) return [defined({ type: 'text', text: block.text, delta: false, agent })];
  if (block.type === 'thinking' && block.thinking) return [{ type: 'thinking', text: block.thinking }];
  return [];
}

function toolStarted({ id, name, input = {} }: ToolCall, agent: string | undefined): TurnReport {
  const [, server, tool = name] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return { ...defined({ type: 'tool-started', id, kind: toolKind(name), tool, server, agent }), input };
}

const TOOL_KINDS: readonly (readonly [ToolKind, readonly string[]])[] = [
  ['read', ['Read', 'Glob', 'Grep', 'LS', 'NotebookRead']],
  ['edit', ['Edit', 'MultiEdit', 'Write', 'NotebookEdit']],
  ['execute', ['Bash', 'PowerShell']],
  ['fetch', ['WebFetch', 'WebSearch']],
  ['agent', ['Agent', 'Task']],
];

function toolKind(name: string): ToolKind {
  if (name.startsWith('mcp__')) return 'mcp';
  return TOOL_KINDS.find(([, names]) => names.includes(name))?.[0] ?? 'other';
}

/** Reading, and giving the structured answer, change nothing. */
function canAct(tool: string): boolean {
  return toolKind(tool) !== 'read' && tool !== 'StructuredOutput';
}

function translateResults(state: ClaudeState, content: readonly ContentBlock[]): Step {
  let { acted, open } = state;
  const reports: TurnReport[] = [];
  for (const block of content) {
    const id = block.tool_use_id;
    if (block.type !== 'tool_result' || id === undefined) continue;
    const denied = state.denied.has(id);
    const tool = open.get(id);
    if (tool !== undefined && !denied && canAct(tool)) acted = true;
    open = forgotten(open, id);
    reports.push(toolEnded(id, block, denied));
  }
  return step({ ...state, acted, open }, ...reports);
}

function toolEnded(id: string, block: ContentBlock, denied: boolean): TurnReport {
  const isError = block.is_error === true;
  const output = shortOutput(resultText(block.content));
  const code = isError ? /^Exit code (\d{1,3})\b/.exec(output)?.[1] : undefined;
  const exitCode = code === undefined ? undefined : Number(code);
  return defined({ type: 'tool-ended', id, ok: !isError && !denied, denied, output, exitCode });
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((item: unknown) => (isJsonObject(item) ? item['text'] : undefined));
  return texts.map((text) => (typeof text === 'string' ? text : '')).join('\n');
}

/**
 * The verdict on a turn. Neither exit 0 (also after an interrupt) nor `subtype: "success"` (also after a 401) is proof. A
 * turn completed only if the process exited with 0 and its last result says `is_error: false` and `completed`, in an
 * announced session, with a last message that a model wrote.
 */
export function conclude(state: ClaudeState, facts: TurnFacts): Verdict {
  const result = state.results.at(-1);
  const failure = verdictFailure(state, result, facts);
  const counters = readCounters(result);
  const steps = state.results.reduce((sum, { num_turns }) => sum + (num_turns ?? 0), 0);
  return defined({
    failure,
    text: failure === undefined ? answer(state, result) : state.text,
    structured: result?.structured_output,
    sessionId: state.announced,
    denials: allDenials(state),
    mayHaveActed: mayHaveActed(state),
    usage: turnUsage(state, counters),
    counters,
    steps: result === undefined ? undefined : steps,
  });
}

function verdictFailure(state: ClaudeState, result: ClaudeResult | undefined, facts: TurnFacts): Failure | undefined {
  const failed = (kind: FailureKind, message: string, more: Partial<Failure> = {}): Failure => ({
    kind,
    message: message.trim().slice(0, 2000) || kind,
    mayHaveActed: mayHaveActed(state),
    ...more,
  });
  const { ending, now } = facts;
  if (ending.type === 'never-started') return failed('never-started', 'the agent never ran', { mayHaveActed: false });
  if (state.missingServer !== undefined) {
    return failed('mcp-unavailable', `the MCP server ${state.missingServer} did not start`, { setting: 'mcp' });
  }
  if (result === undefined) return failed(...failureWithoutResult(state, facts));
  if (!succeeded(state, result)) {
    const [kind, message] = kindOfResult(state, result);
    const httpStatus = result.api_error_status;
    return failed(kind, message, defined({ httpStatus, retryAt: retryTime(kind, message, state, now) }));
  }
  const notice = result.structured_output === undefined ? limitNotice(answer(state, result), now) : undefined;
  if (notice !== undefined) {
    const retryAt = retryTime(notice.kind, notice.message, state, now);
    return failed(notice.kind, notice.message, defined({ retryAt }));
  }
  if (exitedCleanly(ending)) return undefined;
  return failed('crashed', `ended by ${endingText(ending)} after reporting success`);
}

function answer(state: ClaudeState, result: ClaudeResult | undefined): string {
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

/** An open call may have run; so may anything if the output cannot be read. */
function mayHaveActed(state: ClaudeState): boolean {
  const open = [...state.open].some(([id, tool]) => !state.denied.has(id) && canAct(tool));
  return state.acted || state.garbled || open;
}

/** The CLI complained before it printed anything on stdout, or was ended before its result. */
function failureWithoutResult(state: ClaudeState, { ending, stderr, endedByHost }: TurnFacts): [FailureKind, string] {
  const said = stderr.trim();
  if (endedByHost) return ['cancelled', 'ended by squad'];
  const startProblem = state.announced === undefined && said !== '' ? kindOfStartProblem(said) : undefined;
  if (startProblem !== undefined) return [startProblem, said];
  const end = endingText(ending);
  if (ending.type !== 'exited' || ending.signal !== null || ending.code > 128) {
    return ['crashed', `ended by ${end} before its result${said === '' ? '' : `: ${said}`}`];
  }
  if (ending.code === 0) return ['protocol', 'exit 0 without a result'];
  return ['crashed', said === '' ? `ended by ${end} without a result` : said];
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

/** When to try again: the limit's own reset, a time in the text, or the delay of the CLI's last retry. */
function retryTime(kind: FailureKind, text: string, state: ClaudeState, now: number): number | undefined {
  if (!['quota-exhausted', 'billing', 'rate-limited', 'overloaded'].includes(kind)) return undefined;
  const resetsAt = state.limit?.resetsAt;
  const delay = kind === 'rate-limited' ? state.retry?.delayMs : undefined;
  if (resetsAt !== undefined) return Math.round(resetsAt * 1000);
  return parseRetryAt(text, now) ?? (delay === undefined ? undefined : Math.ceil(now + delay));
}

function allDenials(state: ClaudeState): Verdict['denials'] {
  const seen = new Map(state.denied);
  for (const { tool_use_id, tool_name } of state.results.flatMap((result) => result.permission_denials ?? [])) {
    const id = tool_use_id ?? `result-${seen.size}`;
    if (!seen.has(id)) seen.set(id, { tool: tool_name });
  }
  return [...seen.values()];
}

/** Counters of the whole session, sub-agents included. undefined: the session's last reading stays valid. */
function readCounters(result: ClaudeResult | undefined): Usage | undefined {
  if (result?.modelUsage === undefined) return undefined;
  return defined({ ...sumTokens(Object.values(result.modelUsage)), costUsd: result.total_cost_usd });
}

/**
 * The use of this turn alone. Prefers `model_usage_since_last_result` to `usage`, which leaves out sub-agents and requests
 * that were cut short. Input includes tokens written to the prompt cache (they are billed as input), not those read from it.
 */
function turnUsage(state: ClaudeState, counters: Usage | undefined): Usage | undefined {
  const readings = state.results.map(resultTokens).filter((reading) => reading !== undefined);
  // If one result does not report its use, the use of the turn is unknown.
  const known = readings.length === state.results.length && readings.length < MOST_RESULTS;
  if (readings.length === 0 || !known) return undefined;
  return defined({ ...sumTokens(readings.flat()), costUsd: counters && usageSince(counters, state.before).costUsd });
}

function resultTokens(result: ClaudeResult): ModelTokens[] | undefined {
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

function sumTokens(all: readonly ModelTokens[]): Usage {
  const sum = (count: (tokens: ModelTokens) => number | null | undefined): number =>
    Math.round(all.reduce((total, tokens) => total + (count(tokens) ?? 0), 0));
  return defined({
    inputTokens: sum(({ inputTokens, cacheCreationInputTokens }) => inputTokens + (cacheCreationInputTokens ?? 0)),
    cachedInputTokens: sum(({ cacheReadInputTokens }) => cacheReadInputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    reasoningTokens: sum(({ thinkingTokens }) => thinkingTokens) || undefined,
  });
}
