import type { ToolKind } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import type { NativeLine, TurnFacts, Verdict } from '../shared/cli-adapter.ts';
import { HOOK_FAILED } from '../shared/hooks.ts';
import * as tools from '../shared/translation.ts';
import { shortOutput, step } from '../shared/translation.ts';
import { verdictOf, type Cause } from '../shared/turn-end.ts';
import { NAME } from './command.ts';
import {
  causeOfResult,
  kindOfRequest,
  parseLine,
  startProblem,
  type ClaudeLine,
  type ClaudeResult,
  type ContentBlock,
  type Failing,
} from './schema.ts';

/** The state of a turn's translation. Plain data; every line makes a new state. */
export interface ClaudeState extends Failing {
  readonly request: TurnRequest;
  readonly announced?: string;
  /** A required MCP server that does not work. */
  readonly missingServer?: string | undefined;
  /** The last words of a hook whose failure ends the turn. */
  readonly failedHook?: string;
  readonly tools: tools.ToolLog;
  /** Last text of the main agent that a model wrote. */
  readonly text: string;
  readonly steps: number;
  /** The last result counts. */
  readonly result?: ClaudeResult;
  /** Stdout held text that is not JSON, so the turn may have acted unseen. */
  readonly garbled: boolean;
}

type Step = tools.Step<ClaudeState>;

export function begin(request: TurnRequest): ClaudeState {
  return { request, tools: tools.NO_TOOLS, text: '', steps: 0, garbled: false };
}

export function translate(state: ClaudeState, line: NativeLine): Step {
  if (line.type === 'text') return step(line.text.trim() === '' ? state : { ...state, garbled: true });
  const parsed = parseLine(line.value);
  return parsed === undefined ? step(state) : translateLine(state, parsed);
}

/** Without background jobs nothing follows the result. A turn without a required server or hook ends before it costs more. */
export function isTerminal({ result, missingServer, failedHook }: ClaudeState): boolean {
  return (result ?? missingServer ?? failedHook) !== undefined;
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
      return tools.steps(state, line.message.content, translateToolResult);
    case 'result': {
      const denied = line.permission_denials ?? [];
      const log = denied.reduce((all, one) => tools.denyTool(all, one.tool_use_id, one.tool_name), state.tools);
      return step({ ...state, tools: log, result: line, steps: state.steps + (line.num_turns ?? 0) });
    }
  }
}

function translateSystem(state: ClaudeState, line: Extract<ClaudeLine, { type: 'system' }>): Step {
  switch (line.subtype) {
    case 'init':
      return translateInit(state, line);
    case 'hook_response':
      return translateHook(state, line);
    case 'informational':
      return step(state, { type: 'notice', text: shortOutput(line.content) });
    case 'permission_denied':
      return step({ ...state, tools: tools.denyTool(state.tools, line.tool_use_id, line.tool_name, line.message) });
    case 'api_retry': {
      const { error, error_status: status, retry_delay_ms: delayMs, attempt, max_retries: of } = line;
      const failure = kindOfRequest({ error, status, text: '' });
      const message = `${error ?? 'unknown'}${status === undefined ? '' : ` (${status})`}`;
      const report = defined({ type: 'retry-scheduled', failure, message, attempt, of, delayMs });
      return step({ ...state, retry: { error, delayMs } }, report);
    }
  }
}

function translateInit(state: ClaudeState, line: Extract<ClaudeLine, { subtype: 'init' }>): Step {
  const { session_id: id, model } = line;
  const { mcp: wanted, session } = state.request;
  const mcp = (line.mcp_servers ?? []).map(({ name, status }) => ({ name, status: serverStatus(status) }));
  const working = new Set(mcp.flatMap(({ name, status }) => (status === 'failed' ? [] : [name])));
  const missing = wanted.find(({ name, required }) => required === true && !working.has(name))?.name;
  const next = { ...state, announced: id, missingServer: state.missingServer ?? missing };
  if (state.announced === id) return step(next);
  return step(next, defined({ type: 'session-announced', id, model, resumed: session?.id === id, mcp }));
}

/**
 * A hook for a tool that objects is heard: the CLI refuses the call, or tells the model. Any other failure, also an answer that
 * does not come in time, the CLI passes over. The user's own hooks are the CLI's affair.
 */
function translateHook(
  state: ClaudeState,
  { outcome, output = '' }: Extract<ClaudeLine, { subtype: 'hook_response' }>,
): Step {
  const own = HOOK_FAILED.exec(output);
  if (outcome === 'success' || (own === null && state.request.home === 'mine')) return step(state);
  const words = shortOutput(own === null ? `a hook gave no answer: ${output}` : output).trim();
  if (own?.[1] === 'tool') return step(state, { type: 'notice', text: words });
  return step({ ...state, failedHook: words });
}

function serverStatus(status: string | undefined): 'connected' | 'failed' | 'unknown' {
  if (status === 'connected') return 'connected';
  // `pending` may still connect; `needs-auth` and `disabled` need a person.
  return status === undefined || status === 'pending' ? 'unknown' : 'failed';
}

function translateAssistant(state: ClaudeState, line: Extract<ClaudeLine, { type: 'assistant' }>): Step {
  const { content, model } = line.message;
  const agent = line.parent_tool_use_id;
  const text = content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  if (line.error !== undefined || model === '<synthetic>') {
    if (agent !== undefined) return step(state);
    const synthetic = { text, error: line.error, status: line.api_error_status };
    return step({ ...state, synthetic }, { type: 'notice', text: shortOutput(text) });
  }
  const main = agent === undefined ? { synthetic: undefined, ...(text === '' ? {} : { text }) } : {};
  return tools.steps({ ...state, ...main }, content, (before, block) => translateBlock(before, block, agent));
}

function translateBlock(state: ClaudeState, block: ContentBlock, agent: string | undefined): Step {
  const { type, id, name, input = {}, text, thinking } = block;
  if (type === 'tool_use' && id !== undefined && name !== undefined) {
    const [, server, tool = name] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
    const report = {
      ...defined({ type: 'tool-started' as const, id, kind: toolKind(name), tool, server, agent }),
      input,
    };
    // Reading, and giving the structured answer, change nothing.
    const answers = name === 'StructuredOutput';
    const opened = tools.openTool(state.tools, id, name, report.kind !== 'read' && !answers);
    return step({ ...state, tools: opened }, answers ? { ...report, answers } : report);
  }
  if (type === 'text' && text) return step(state, defined({ type: 'text', text, delta: false, agent }));
  return type === 'thinking' && thinking ? step(state, { type: 'thinking', text: thinking }) : step(state);
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

const OBJECTION = /^PreToolUse:\S+ hook error: \[[^\n]*\]: (the hook [^]*)$/;

function translateToolResult(state: ClaudeState, block: ContentBlock): Step {
  const { type, tool_use_id: id, is_error: isError = false, content: output } = block;
  if (type !== 'tool_result' || id === undefined) return step(state);
  const code = isError ? /^Exit code (\d{1,3})\b/.exec(output)?.[1] : undefined;
  const exitCode = code === undefined ? undefined : Number(code);
  const [, objection] = (isError && state.request.hooks && OBJECTION.exec(output)) || [];
  const before =
    objection === undefined
      ? state.tools
      : tools.denyTool(state.tools, id, state.tools.open.get(id)?.tool ?? id, objection);
  const { log, report } = tools.endTool(before, id, { ok: !isError, output: objection ?? output, exitCode });
  return step({ ...state, tools: log }, report);
}

/**
 * Neither exit 0 (also after an interrupt) nor `subtype: "success"` (also after a 401) is proof. It takes exit 0, a last result with
 * `is_error: false` and `completed`, an announced session, and a last message that a model wrote.
 */
export function conclude(state: ClaudeState, facts: TurnFacts): Verdict {
  const { result, announced, limit } = state;
  const end = endOf(state, facts);
  const complaint = facts.stderr.replaceAll(LOGGED, '').trim();
  const verdict = verdictOf(NAME, facts, {
    end,
    // Before it announces its session, only the CLI itself writes to stderr.
    complaint: { text: complaint, cause: announced === undefined ? startProblem(complaint) : undefined },
    resetsAt: limit?.resetsAt === undefined ? undefined : Math.round(limit.resetsAt * 1000),
    pauseMs: state.retry?.delayMs,
    tools: state.tools,
    unseen: state.garbled,
    text: (end === 'completed' ? result?.result : undefined) ?? state.text,
    structured: result?.structured_output,
    sessionId: announced,
    counters: readCounters(result),
    steps: result && state.steps,
  });
  const { failure, ...rest } = verdict;
  // The CLI gives up on a form that the turn does not owe.
  const hasOnlyNoForm = failure?.kind === 'bad-output' && state.request.outputIsOptional === true;
  return hasOnlyNoForm ? { ...rest, structured: null } : verdict;
}

/** The CLI's log lines about MCP servers, which it prints if one of them is required. */
const LOGGED = /^\S+Z \[(?:DEBUG|ERROR)\] (?:\[MCP\]|MCP server) .*\n?/gm;

function endOf(state: ClaudeState, { stderr }: TurnFacts): 'completed' | Cause | undefined {
  const { result, missingServer, failedHook, announced, synthetic } = state;
  if (missingServer !== undefined) {
    const errors = stderr
      .split(/^\S+Z (?=\[(?:DEBUG|ERROR)\] )/m)
      .map((entry) => entry.split(`[ERROR] MCP server "${missingServer}" `)[1]?.trim());
    const words = errors
      .filter((said) => said !== undefined)
      .join('; ')
      .slice(-1000);
    const message = `the MCP server ${missingServer} did not start${words === '' ? '' : `: ${words}`}`;
    return { kind: 'mcp-unavailable', setting: 'mcp', message };
  }
  if (failedHook !== undefined) return { kind: 'hook-failed', setting: 'hooks', message: failedHook };
  if (result === undefined) return undefined;
  const proven = result.is_error === false && result.subtype === 'success' && result.terminal_reason === 'completed';
  if (proven && announced !== undefined && synthetic === undefined) return 'completed';
  return defined({ ...causeOfResult(result, state), httpStatus: result.api_error_status });
}

/**
 * Counters of the whole session, sub-agents and requests that were cut short included. undefined: the session's last
 * reading stays valid. Input includes tokens written to the prompt cache (they are billed as input), not those read from it.
 */
function readCounters(result: ClaudeResult | undefined): Usage | undefined {
  if (result?.modelUsage === undefined) return undefined;
  const models = Object.values(result.modelUsage);
  const sum = (count: (model: (typeof models)[number]) => number | null | undefined): number =>
    Math.round(models.reduce((total, model) => total + (count(model) ?? 0), 0));
  return defined({
    inputTokens: sum((model) => model.inputTokens + (model.cacheCreationInputTokens ?? 0)),
    cachedInputTokens: sum((model) => model.cacheReadInputTokens),
    outputTokens: sum((model) => model.outputTokens),
    reasoningTokens: sum((model) => model.thinkingTokens) || undefined,
    costUsd: result.total_cost_usd,
  });
}
