import type { ToolKind, TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import type { NativeLine } from '../shared/cli-adapter.ts';
import { kindOfError } from './failures.ts';
import { parseLine, type ClaudeLine, type ClaudeResult, type ContentBlock } from './schema.ts';

/** As promised by the `tool-ended` event. */
const MAX_OUTPUT = 4096;

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
      return { state: { ...state, results: [...state.results, line] }, reports: [] };
  }
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
      return { state: { ...state, denied: { ...state.denied, [id]: denial } }, reports: [] };
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
  const open = { ...state.open, ...Object.fromEntries(calls.map(({ id, name }) => [id, name])) };
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
export function canAct(tool: string): boolean {
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
