import type { ToolKind } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { usageSince } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { isJsonObject } from '../../text/json.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { unstarted } from '../shared/outside-servers.ts';
import * as tools from '../shared/translation.ts';
import { step } from '../shared/translation.ts';
import { verdictOf, type Cause } from '../shared/turn-end.ts';
import { NAME } from './command.ts';
import { causeOf, errorLine, parseLine, PRINT_TIMEOUT, type AgyResult, type AgyStep } from './schema.ts';

export interface AntigravityState {
  readonly request: TurnRequest;
  readonly conversation?: string;
  /** The response that is being written, and its step. */
  readonly response?: { readonly index: number; readonly text: string };
  readonly tools: tools.ToolLog;
  readonly result?: AgyResult;
  /** Stdout held text that is not JSON, so the turn may have acted unseen. */
  readonly garbled: boolean;
}

type Step = tools.Step<AntigravityState>;

export function begin(request: TurnRequest): AntigravityState {
  return { request, tools: tools.NO_TOOLS, garbled: false };
}

/** Pure. Ignores lines that this version does not know, and what follows the result. */
export function translate(state: AntigravityState, line: NativeLine): Step {
  if (line.type === 'text') {
    const { log, reports } = tools.endCutTool(state.tools, `step-${ENDED_STEP.exec(line.text)?.[1]}`, line.text);
    return step({ ...state, tools: log, garbled: state.garbled || line.text.trim() !== '' }, ...reports);
  }
  const parsed = state.result === undefined ? parseLine(line.value) : undefined;
  switch (parsed?.event) {
    case 'init':
      return announce(state, parsed.conversation_id, parsed.init.model);
    case 'step_update':
      return translateStep(state, parsed.step_update);
    case 'result': {
      const denied = parsed.result.denied_actions.map((one) => one.display_name ?? one.action ?? 'an action');
      const log = denied.reduce((all, tool) => tools.denyTool(all, undefined, tool), state.tools);
      return step({ ...state, tools: log, result: parsed.result });
    }
    case undefined:
      return step(state);
  }
}

function announce(state: AntigravityState, id: string, model: string | undefined): Step {
  if (state.conversation !== undefined) return step(state);
  const { mcp: wanted, session } = state.request;
  const mcp = wanted.map(({ name }) => ({ name, status: 'unknown' }) as const);
  const report = defined({ type: 'session-announced' as const, id, resumed: session?.id === id, mcp, model });
  return step({ ...state, conversation: id }, report);
}

function translateStep(state: AntigravityState, update: AgyStep): Step {
  const { step_index: index, step_type: type, state: stage, text_delta: delta } = update;
  if (type === 'tool' || type === 'subagent') return translateTool(state, update);
  // Text in another conversation than the one to resume does not count.
  const isForeign = state.conversation !== (state.request.session?.id ?? state.conversation);
  if (type !== 'agent_response' || isForeign) return step(state);
  // It comes in pieces; the whole of it is reported once it is done.
  const text = (state.response?.index === index ? state.response.text : '') + delta;
  const next = { ...state, response: { index, text: stage === 'ACTIVE' ? text : '' } };
  const isDone = stage !== 'ACTIVE';
  if ((isDone ? text : delta).trim() === '') return step(next);
  return step(next, { type: 'text', text: isDone ? text.trim() : delta, delta: !isDone });
}

function translateTool(state: AntigravityState, update: AgyStep): Step {
  const { state: stage, tool_info: { output, error = '' } = {} } = update;
  const end = stage === 'ACTIVE' ? undefined : { ok: stage === 'DONE', output: output ?? error };
  const { log, reports } = tools.useTool(state.tools, readTool(update), end);
  return step({ ...state, tools: log }, ...reports);
}

function readTool({ step_index: index, step_type: type, tool_name: name = type, tool_info: info }: AgyStep) {
  const kind = type === 'subagent' ? 'agent' : (KINDS.find(([, names]) => names.test(name))?.[0] ?? 'other');
  const input = info?.parameters ?? {};
  const call = { id: `step-${index}`, kind, canAct: kind !== 'read' };
  const { ServerName: server, ToolName: tool, Arguments: given = {} } = isJsonObject(input) ? input : {};
  const isCall = kind === 'mcp' && typeof server === 'string' && typeof tool === 'string';
  return isCall ? { ...call, tool, server, input: given } : { ...call, tool: name, input };
}

const KINDS: readonly (readonly [ToolKind, RegExp])[] = [
  ['mcp', /^call_mcp_tool$/],
  ['execute', /^(?:run_command|send_command_input)$/],
  ['edit', /^(?:write|replace|multi_replace|edit|create|delete)_/],
  ['fetch', /^(?:search_web|read_url\w*|browser_\w*)$/],
  ['read', /^(?:view|list|find|grep|read|search)_/],
];

/** The line of a tool's end that was too long to keep. */
const ENDED_STEP = /^\{"event":"step_update".{0,120}"step_index":(\d{1,9}),"state":"(?:DONE|ERROR)"/;

/** `agy` calls more a success than is one: completed is only `SUCCESS` with exit 0, use of this turn's own and no refused action. */
export function conclude(state: AntigravityState, facts: TurnFacts): Verdict {
  const { result, conversation, request } = state;
  const { stderr } = facts;
  return verdictOf(NAME, facts, {
    end: unstarted(request.mcp, stderr) ?? (result && endOf(state, result, stderr)),
    // Once it works, its tools write to stderr too.
    complaint: { text: errorLine(stderr), cause: conversation === undefined ? causeOf('', stderr) : undefined },
    tools: state.tools,
    unseen: state.garbled || (result === undefined && conversation !== undefined),
    text: result?.response.trim() ?? '',
    structured: result?.structured_output,
    sessionId: conversation,
    // Zeros are no reading: the next turn's use would count from them.
    counters: result?.usage?.outputTokens === 0 ? undefined : result?.usage,
  });
}

function endOf(state: AntigravityState, result: AgyResult, stderr: string): 'completed' | Cause {
  const { status, error, response, usage } = result;
  const message = `${NAME} calls this a success: ${response}`;
  if (status === 'ERROR') return causeOf(error, stderr) ?? { kind: 'server-error', message: error };
  if (status !== 'SUCCESS' || state.conversation === undefined)
    return { kind: 'protocol', message: `${status}: ${error}` };
  const timeout = PRINT_TIMEOUT.exec(stderr)?.[0];
  const idle = usage && usageSince(usage, state.request.session?.counters).outputTokens === 0;
  if (timeout !== undefined || idle === true)
    return { kind: 'output-truncated', message: timeout ?? `no use, and ${message}` };
  const refused = [...state.tools.denied.values()].map(({ tool }) => tool).join(', ');
  return refused === '' ? 'completed' : { kind: 'bad-output', message: `${refused} was refused, and ${message}` };
}
