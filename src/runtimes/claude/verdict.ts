import { usageSince, type Usage } from '../../model/usage.ts';
import type { Failure, FailureKind } from '../../model/failure.ts';
import type { TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { parseRetryAt } from '../shared/retry-at.ts';
import type { ClaudeResult, ModelTokens } from './schema.ts';
import { kindOfEnd, kindOfError, kindOfStartProblem } from './failures.ts';
import { canAct, type ClaudeState } from './translate.ts';

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
    text: failure === undefined ? (result?.result ?? state.text) : state.text,
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
  if (ending.type !== 'exited' || ending.code !== 0 || ending.signal !== null) {
    return failed('crashed', `ended by ${endOf(facts)} after reporting success`);
  }
  if (state.wantsStructure && result.structured_output === undefined) {
    return failed('bad-output', 'the model did not give its answer in the requested schema');
  }
  return undefined;
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

/** Readings over the whole session, sub-agents included. */
function countersOf(result: ClaudeResult | undefined): Usage | undefined {
  if (result?.modelUsage === undefined && result?.total_cost_usd === undefined) return undefined;
  const tokens = sumOf(Object.values(result.modelUsage ?? {}));
  return { ...tokens, ...(result.total_cost_usd === undefined ? {} : { costUsd: result.total_cost_usd }) };
}

/**
 * This turn alone. `model_usage_since_last_result` is preferred to `usage`, which leaves out sub-agents and requests that
 * were cut short. Input includes what was written to the prompt cache (it is billed as input), not what was read from it.
 */
function usageOf(state: ClaudeState, counters: Usage | undefined): Usage | undefined {
  const { results } = state;
  if (results.length === 0) return undefined;
  const tokens = sumOf(results.flatMap(tokensOf));
  const costUsd = counters && usageSince(counters, state.before).costUsd;
  return { ...tokens, ...(costUsd === undefined ? {} : { costUsd }) };
}

function tokensOf(result: ClaudeResult): ModelTokens[] {
  const { usage, model_usage_since_last_result: since } = result;
  if (since !== undefined) return Object.values(since);
  if (usage === undefined) return [];
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
  const sum = (of: (tokens: ModelTokens) => number | undefined): number =>
    Math.round(all.reduce((total, tokens) => total + (of(tokens) ?? 0), 0));
  const reasoningTokens = sum(({ thinkingTokens }) => thinkingTokens);
  return {
    inputTokens: sum(({ inputTokens, cacheCreationInputTokens = 0 }) => (inputTokens ?? 0) + cacheCreationInputTokens),
    cachedInputTokens: sum(({ cacheReadInputTokens }) => cacheReadInputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...(reasoningTokens === 0 ? {} : { reasoningTokens }),
  };
}
