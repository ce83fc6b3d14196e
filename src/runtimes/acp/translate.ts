import { isDeepStrictEqual } from 'node:util';
import type { ToolKind, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { usageSince, type Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { asObject, isJsonObject, objectsIn } from '../../text/json.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { causeOfWords } from '../shared/failed-request.ts';
import * as tools from '../shared/translation.ts';
import { shortOutput, step } from '../shared/translation.ts';
import { limitNotice } from '../shared/limit-notice.ts';
import { verdictOf, type Cause } from '../shared/turn-end.ts';
import type { HostPlan } from './host/plan.ts';
import { mcpTool, nameOf } from './host/policy.ts';
import { causeOfError, parseLine, usageOf, type LineOf, type Update } from './schema.ts';

export interface AcpState {
  /** `acp/<agent>`. */
  readonly name: string;
  readonly quirks: HostPlan['quirks'];
  readonly request: TurnRequest;
  readonly sessionId?: string;
  readonly tools: tools.ToolLog;
  /** The last calls that have ended: what the agent reports of them later counts for nothing. */
  readonly ended: ReadonlySet<string>;
  /** Inputs of the calls that have not ended: `said` at the start, `last` the newest since. */
  readonly inputs: ReadonlyMap<string, { readonly said: unknown; readonly last: unknown }>;
  /** USD of the whole session, as the agent counts it: before the prompt, and now. */
  readonly cost: { readonly before?: number; readonly now?: number };
  readonly steps: number;
  /** The last message: some agents report a failed request as one, after half an answer. */
  readonly last: string;
  /** A failed request that the agent reports beside its updates. */
  readonly trouble?: { readonly text: string; readonly isFinal: boolean };
  readonly end?: LineOf<'result' | 'error'>;
}

type Step = tools.Step<AcpState>;

const MOST_SAID = 16_384;

export function begin(name: string, quirks: HostPlan['quirks'], request: TurnRequest): AcpState {
  return {
    name,
    quirks,
    request,
    tools: tools.NO_TOOLS,
    ended: new Set(),
    inputs: new Map(),
    cost: {},
    steps: 0,
    last: '',
  };
}

/** Translates one line of the host. Ignores lines that this version does not know. */
export function translate(state: AcpState, native: NativeLine): Step {
  const line = native.type === 'json' ? parseLine(native.value) : undefined;
  switch (line?.type) {
    case 'session': {
      // The host waits for the required servers, and nothing reports the others.
      const status = (required = false) => (required ? ('connected' as const) : ('unknown' as const));
      const mcp = state.request.mcp.map(({ name, required }) => ({ name, status: status(required) }));
      const { id, resumed } = line;
      return step({ ...state, sessionId: id }, { type: 'session-announced', id, resumed, mcp });
    }
    case 'update':
      return line.replayed === true
        ? step(readCost(state, line.update, 'before'))
        : translateUpdate(state, line.update);
    case 'ask':
      return askPerson(state, line);
    case 'permission':
      return translatePermission(state, line);
    case 'retry':
      return step(state, retryOf(line.message.replace(/"$/, '')));
    case 'noise':
      return step(state, { type: 'notice', text: `lines that break the protocol (${line.what}): ${line.count}` });
    case 'result':
    case 'error':
      return step({ ...state, end: line });
    default:
      return step(state);
  }
}

function askPerson(state: AcpState, line: LineOf<'ask'>): Step {
  const opened = line.id === undefined ? step(state) : openTool(state, line.id, { ...line, name: line.tool });
  const text = shortOutput(`asks for permission: ${line.title ?? line.tool}. \`squad answer yes\` or \`no\` answers`);
  return { ...opened, reports: [...opened.reports, { type: 'notice', text, asks: true }] };
}

function retryOf(message: string): TurnReport {
  return { type: 'retry-scheduled', failure: causeOfWords(message)?.kind ?? 'server-error', message };
}

function translateUpdate(state: AcpState, update: Update): Step {
  const { sessionUpdate, entries = [], content } = update;
  const text = textOf(content);
  switch (sessionUpdate) {
    case 'agent_message_chunk':
      if (text === '') return step(state);
      if (!state.quirks.notices?.some((start) => text.startsWith(start))) {
        return step({ ...state, last: text.slice(0, MOST_SAID) }, { type: 'text', text, delta: true });
      }
      return step(state, /\bRetrying\b/.test(text) ? retryOf(text) : { type: 'notice', text: shortOutput(text) });
    case 'agent_thought_chunk':
      return text === '' ? step(state) : step(state, { type: 'thinking', text });
    case 'tool_call':
    case 'tool_call_update':
      return translateTool(state, update);
    case 'plan': {
      const lines = entries.map((entry) => `[${entry.status === 'completed' ? 'x' : ' '}] ${entry.content ?? ''}`);
      return step(state, { type: 'notice', text: shortOutput(`plan:\n${lines.join('\n')}`) });
    }
    case 'usage_update':
      return step(readCost(state, update, 'now'));
    default:
      return translateTrouble(state, update);
  }
}

/** Another currency says nothing about dollars. */
function readCost(state: AcpState, { sessionUpdate, cost }: Update, at: 'before' | 'now'): AcpState {
  if (sessionUpdate !== 'usage_update' || cost?.currency !== 'USD') return state;
  return { ...state, cost: { ...state.cost, [at]: cost.amount } };
}

function textOf(content: Update['content']): string {
  const parts = objectsIn([content].flat());
  const texts = parts.map((part) => asObject(part['content'])['text'] ?? part['text']);
  return texts.filter((text) => typeof text === 'string').join('');
}

/** Codex reports errors beside its updates. It may retry; `systemError` says that it does not. */
function translateTrouble(state: AcpState, { _meta: meta }: Update): Step {
  const { error, threadStatus } = asObject(meta?.['codex']);
  const hasStopped = asObject(threadStatus)['type'] === 'systemError';
  if (hasStopped && state.trouble) return step({ ...state, trouble: { ...state.trouble, isFinal: true } });
  if (!isJsonObject(error)) return step(state);
  const { message, additionalDetails: details, willRetry } = error;
  const text = shortOutput([message, details].filter((one) => typeof one === 'string').join(': '));
  const next = { ...state, trouble: { text, isFinal: willRetry !== true } };
  return willRetry === true ? step(next, retryOf(text)) : step(next);
}

function translateTool(state: AcpState, update: Update): Step {
  const { toolCallId: id, status, rawOutput: raw, content } = update;
  if (id === undefined) return step(state);
  const opened = withInput(openTool(state, id, update), id, update.rawInput);
  if (!opened.state.tools.open.has(id) || (status !== 'completed' && status !== 'failed')) return opened;
  const fields = asObject(raw);
  const exitCode = exitCodeOf(fields);
  const said = fields['error'] ?? fields['message'] ?? raw ?? '';
  const output = textOf(content) || (typeof said === 'string' ? said : JSON.stringify(said));
  return endTool(opened, id, { ok: status === 'completed' && (exitCode ?? 0) === 0, output, exitCode });
}

/** Where agents put it: at the top, in `metadata`, or in the one of `contents` that is a shell's. */
function exitCodeOf({ exitCode, exit_code: code, metadata, contents }: Record<string, unknown>): number | undefined {
  const parts = objectsIn([metadata, contents].flat());
  const inner = parts.flatMap((part) => [part['exit'], part['exitCode']]);
  return [exitCode, code, ...inner].find((one): one is number => Number.isInteger(one));
}

/** Some agents say later what a call does. */
function withInput({ state, reports }: Step, id: string, input: Update['rawInput']): Step {
  const known = state.inputs.get(id);
  if (known === undefined || input === undefined) return { state, reports };
  return { state: { ...state, inputs: new Map(state.inputs).set(id, { ...known, last: input }) }, reports };
}

const TOOL_KINDS: Readonly<Record<string, ToolKind>> = {
  ...{ read: 'read', search: 'read', think: 'read', fetch: 'fetch' },
  ...{ edit: 'edit', delete: 'edit', move: 'edit', execute: 'execute' },
};

/** Opens a call that is new: some agents begin it by asking for permission, and some report only its end. */
function openTool(state: AcpState, id: string, call: Partial<Update>): Step {
  if (state.tools.open.has(id) || state.ended.has(id)) return step(state);
  const { request, quirks } = state;
  const name = nameOf({ ...call, toolCallId: id }, quirks);
  const { server, tool } = request.mcp.flatMap((one) => {
    const found = mcpTool(one.name, name);
    return found === undefined ? [] : [{ server: one.name, tool: found }];
  })[0] ?? { server: undefined, tool: name };
  const ofKind = TOOL_KINDS[quirks.toolKinds?.[name] ?? call.kind ?? ''] ?? 'other';
  const kind = server === undefined ? ofKind : 'mcp';
  const input = call.rawInput ?? defined({ title: call.title, paths: call.locations?.map(({ path }) => path) });
  const log = tools.openTool(state.tools, id, name, kind !== 'read');
  const report: TurnReport = { ...defined({ type: 'tool-started', id, tool, kind, server }), input };
  const inputs = log.open.has(id) ? new Map(state.inputs).set(id, { said: input, last: input }) : state.inputs;
  return step({ ...state, tools: log, inputs, steps: state.steps + 1 }, report);
}

function endTool({ state, reports }: Step, id: string, end: tools.ToolEnd): Step {
  const { said, last } = state.inputs.get(id) ?? {};
  const input = isDeepStrictEqual(said, last) ? undefined : last;
  const { log, report } = tools.endTool(state.tools, id, { ...end, input });
  const inputs = new Map(state.inputs);
  inputs.delete(id);
  const ended = new Set([...state.ended].slice(1 - tools.MOST_REMEMBERED)).add(id);
  return { state: { ...state, tools: log, inputs, ended }, reports: [...reports, report] };
}

function translatePermission(state: AcpState, line: LineOf<'permission'>): Step {
  const { id, tool, answer, reason: output } = line;
  const opened = openTool(state, id, { ...line, name: tool });
  if (answer === 'allowed' || !opened.state.tools.open.has(id)) return opened;
  const { state: next } = opened;
  const denied = answer === 'rejected' ? tools.denyTool(next.tools, id, tool, output) : next.tools;
  return endTool({ ...opened, state: { ...next, tools: denied } }, id, { ok: false, output });
}

const STOPS: Readonly<Record<string, Cause>> = {
  refusal: { kind: 'model-refused', message: 'the model refused to continue' },
  max_tokens: { kind: 'output-truncated', message: 'the answer was longer than the model may write' },
  max_turn_requests: { kind: 'step-limit', message: 'the agent made as many requests as it may in one turn' },
  cancelled: { kind: 'cancelled', message: 'the agent ended the turn as cancelled' },
};

/** `end_turn` proves nothing: after a failed request some agents say so in words or beside their updates. */
function endOf(
  { quirks, trouble, last }: AcpState,
  { stopReason, problem, text }: LineOf<'result'>,
  now: number,
): 'completed' | Cause {
  if (stopReason !== 'end_turn') {
    return STOPS[stopReason] ?? { kind: 'protocol', message: `the agent ended the turn as ${stopReason}` };
  }
  const failed = quirks.failures?.some((start) => last.trimStart().startsWith(start)) ? last : undefined;
  const words = trouble?.isFinal ? trouble.text : failed;
  if (words !== undefined) return { kind: 'server-error', ...causeOfWords(words), message: words };
  // A notice of a limit has no schema either, and `verdictOf` finds it.
  if (problem === undefined || limitNotice(text, now) !== undefined) return 'completed';
  return { kind: 'bad-output', message: problem };
}

export function conclude(state: AcpState, facts: TurnFacts): Verdict {
  const { name, request, quirks, sessionId, steps, end } = state;
  const result = end?.type === 'result' ? end : undefined;
  const verdict = verdictOf(name, facts, {
    end:
      end?.type === 'error'
        ? causeOfError(end, name, request.session !== undefined)
        : result && endOf(state, result, facts.now),
    complaint: { text: facts.stderr.trim().slice(-2000) },
    text: result?.text ?? '',
    tools: state.tools,
    unseen: end === undefined && sessionId !== undefined,
    ...{ structured: result?.structured, sessionId, steps },
  });
  const counted = result && quirks.usage !== 'unknown' ? usageOf(result) : undefined;
  const before = result?.before && quirks.usage !== 'process' ? usageOf(result.before) : undefined;
  const tokens = before && counted ? sumOf(before, counted) : counted;
  const counters = state.cost.now === undefined ? undefined : { costUsd: state.cost.now };
  const usage = defined({ ...tokens, costUsd: counters && turnCost(state, counters) });
  return defined({ ...verdict, counters, usage: counters === undefined ? tokens : usage });
}

/** USD of the session since its last turn; undefined: its cost before this turn is unknown. */
function turnCost({ cost, request: { session } }: AcpState, now: Usage): number | undefined {
  if (session === undefined) return now.costUsd;
  const before = cost.before === undefined ? session.counters : { costUsd: cost.before };
  return before === undefined ? undefined : usageSince(now, before).costUsd;
}

function sumOf(one: Usage, other: Usage): Usage {
  const sum = (name: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') => (one[name] ?? 0) + (other[name] ?? 0);
  return {
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
  };
}
