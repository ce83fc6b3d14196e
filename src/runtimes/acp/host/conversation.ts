import { isJsonObject } from '../../../text/json.ts';
import type { McpServer } from '../../../model/turn-request.ts';
import { repairOf, structuredAnswer, withSchema } from './answer.ts';
import { askPerson } from './ask.ts';
import type { HostPlan } from './plan.ts';
import { decide, nameOf, optionFor, type RealPath } from './policy.ts';
import { RpcError, type createRpc, type Fields, type Noise, type RequestId } from './rpc.ts';
import { methodProblem, settingCall, wireServer } from './session-setup.ts';

type At = 'initialize' | 'authenticate' | 'session' | 'options' | 'prompt' | 'agent';

/** The conversation cannot continue; the fields of the line `error`. */
export class Halt extends Error {
  readonly fields: Fields;
  constructor(at: At, message: string, more: Fields = {}) {
    super(message);
    this.fields = { at, message, ...more };
  }
}

interface Ports {
  readonly rpc: () => ReturnType<typeof createRpc>;
  readonly emit: (line: Fields) => void;
  readonly noise: (what: Noise) => void;
  readonly realPath: RealPath;
  /** The same servers by HTTP, as long as the host is there. */
  readonly serveMcp: (servers: readonly McpServer[]) => Promise<readonly McpServer[]>;
  /** The session is open: what follows takes as long as it takes. */
  readonly opened: () => void;
}

/** Characters of an answer that are kept. */
const MOST_TEXT = 256 * 1024;
const MOST_STRUCTURED = 128 * 1024;

/** One turn of an agent, from `initialize` to its stop reason. */
export function createConversation(plan: HostPlan, { rpc, emit, noise, realPath, serveMcp, opened }: Ports) {
  const cancelled = new AbortController();
  const open = new Set<RequestId>();
  const answer = { text: '', isOver: false };
  let session: string | undefined;
  let prompting = false;
  let asks = 0;

  async function call(at: At, method: string, params: object): Promise<Fields> {
    try {
      return await rpc().request(method, params);
    } catch (error) {
      if (error instanceof RpcError) throw new Halt(at, error.message, { code: error.code, data: error.data });
      throw new Halt(at === 'prompt' ? 'agent' : at, `${plan.agent} ${(error as Error).message} (${method})`);
    }
  }

  async function run(): Promise<Fields> {
    const agent = await call('initialize', 'initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'squad', version: '1' },
    });
    const { protocolVersion, agentInfo, authMethods } = agent;
    if (protocolVersion !== 1) {
      const said = JSON.stringify(protocolVersion)?.slice(0, 40) ?? 'no version';
      throw new Halt('initialize', `${plan.agent} speaks ${said} of the Agent Client Protocol; squad speaks 1`);
    }
    const can = fields(agent['agentCapabilities']);
    const able = {
      load: can['loadSession'] === true,
      resume: isJsonObject(fields(can['sessionCapabilities'])['resume']),
      http: fields(can['mcpCapabilities'])['http'] === true,
    };
    const { name, version } = fields(agentInfo);
    emit({ type: 'agent', protocol: 1, name, version, ...able });
    await authenticate(authMethods);
    await openSession(able);
    opened();
    return plan.outputSchema === undefined ? resultOf(await prompt(plan.prompt)) : answerBy(plan.outputSchema);
  }

  async function authenticate(methods: unknown): Promise<void> {
    if (plan.auth === undefined) return;
    const problem = methodProblem(methods, plan.auth);
    if (problem !== undefined) throw new Halt('authenticate', problem, { setting: 'auth' });
    await call('authenticate', 'authenticate', { methodId: plan.auth });
  }

  async function openSession(able: { load: boolean; resume: boolean; http: boolean }): Promise<void> {
    const byHttp = plan.quirks.mcp === 'http';
    const servers = byHttp ? await serveMcp(plan.mcp) : plan.mcp;
    if (!able.http && servers.some(({ transport }) => transport.type === 'http')) {
      throw new Halt('options', `${plan.agent} takes no MCP server by HTTP`, { setting: 'mcp' });
    }
    const known = plan.session?.id;
    const method = known === undefined ? 'new' : able.resume ? 'resume' : 'load';
    if (method === 'load' && !able.load) throw new Halt('session', `${plan.agent} can resume no session`);
    const params = { cwd: plan.cwd, mcpServers: servers.map(wireServer), ...(known && { sessionId: known }) };
    // Updates of another session are not replayed history.
    session = known;
    const found = await call('session', `session/${method}`, params).catch((error: Halt) => {
      // The protocol's code for a login that is missing.
      throw error.fields['code'] === -32000 ? new Halt('authenticate', error.message, error.fields) : error;
    });
    const id = found['sessionId'] ?? known;
    if (typeof id !== 'string' || !/^[!-~]{1,256}$/.test(id) || (known !== undefined && id !== known)) {
      throw new Halt('session', `${plan.agent} named the session ${JSON.stringify(id)?.slice(0, 80)}`);
    }
    session = id;
    const { modes, models } = found;
    const mcp = servers.map(({ name }) => name);
    emit({ type: 'session', id, resumed: known !== undefined, mcp, options: { modes, models } });
    for (const setting of ['mode', 'model'] as const) {
      const wanted = plan[setting];
      const next = wanted === undefined ? undefined : settingCall(found, setting, wanted);
      if (next?.type === 'refused') throw new Halt('options', `${plan.agent} ${next.why}`, { setting });
      if (next !== undefined) await call('options', next.method, { sessionId: id, ...next.params });
    }
  }

  async function prompt(text: string, repair: Fields = {}): Promise<Fields> {
    answer.text = '';
    emit({ type: 'prompted', ...repair });
    prompting = true;
    const end = await call('prompt', 'session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] });
    if (typeof end['stopReason'] !== 'string') throw new Halt('prompt', `${plan.agent} ended without a stop reason`);
    return end;
  }

  async function answerBy(schema: NonNullable<HostPlan['outputSchema']>): Promise<Fields> {
    const first = await prompt(withSchema(plan.prompt, schema));
    const checked = await structuredAnswer(schema, answer.text);
    if ('structured' in checked || first['stopReason'] !== 'end_turn' || cancelled.signal.aborted) {
      return resultOf(first, checked);
    }
    const { usage, _meta: meta } = first;
    const second = await prompt(repairOf(checked.problem), { repair: true, usage, meta });
    return resultOf(second, await structuredAnswer(schema, answer.text));
  }

  function resultOf({ stopReason, usage, _meta: meta }: Fields, checked: Fields = {}): Fields {
    const { structured } = checked;
    const result = { type: 'result', stopReason, text: answer.text, usage, meta };
    if (structured === undefined) return { ...result, ...checked };
    // Whole or not at all: lines are cut.
    if (Buffer.byteLength(JSON.stringify(structured)) > MOST_STRUCTURED) {
      return { ...result, problem: `the structured answer is larger than ${MOST_STRUCTURED} bytes` };
    }
    return { ...result, text: answer.text.slice(0, 16_384), structured };
  }

  async function permit(id: RequestId, params: Fields | undefined): Promise<void> {
    if (open.has(id)) {
      rpc().decline(id, -32600, 'a request with this id is open');
      return;
    }
    open.add(id);
    const call_ = fields(params?.['toolCall']);
    const tool = nameOf(call_, plan.quirks);
    const { kind, title, toolCallId } = call_;
    const verdict = await judge(params, call_, tool);
    const isAllowed = verdict.answer === 'allowed';
    const isCancelled = cancelled.signal.aborted;
    const wanted = isAllowed ? 'allow' : 'reject';
    const option = optionFor(params?.['options'], wanted, !isAllowed || plan.policy.access === 'full');
    const said =
      isAllowed && option === undefined ? { by: 'policy', reason: 'it offers no single permission' } : verdict;
    const granted = isAllowed && option !== undefined;
    emit({
      ...{ type: 'permission', id: typeof toolCallId === 'string' ? toolCallId : String(id), tool, kind, title },
      answer: isCancelled ? 'cancelled' : granted ? 'allowed' : 'rejected',
      ...{ by: said.by, reason: said.reason },
    });
    const selected = !isCancelled && option !== undefined;
    rpc().answer(id, { outcome: selected ? { outcome: 'selected', optionId: option } : { outcome: 'cancelled' } });
    open.delete(id);
  }

  async function judge(params: Fields | undefined, toolCall: Fields, tool: string) {
    const no = (reason: string) => ({ answer: 'rejected', by: 'policy', reason });
    if (cancelled.signal.aborted) return no('the turn was cancelled');
    if (params === undefined) return no('it is too large to judge');
    if (!prompting || params['sessionId'] !== session) return no('it belongs to no prompt of this turn');
    const verdict = decide(toolCall, plan, realPath);
    if (verdict.answer !== 'unknown') return { ...verdict, by: 'policy' };
    if (plan.ask === undefined) return no(verdict.reason);
    const n = (asks += 1);
    const deadline = Date.now() + plan.ask.deadlineMs;
    const { title, rawInput: input } = toolCall;
    emit({ type: 'ask', n, tool, title, deadline });
    const yes = await askPerson(
      { folder: plan.ask.folder, n, question: { n, tool, title, input, deadline }, deadline },
      cancelled.signal,
    );
    if (yes === undefined) return { answer: 'rejected', by: 'deadline', reason: 'nobody answered in time' };
    return { answer: yes ? 'allowed' : 'rejected', by: 'person', reason: 'a person answered' };
  }

  return {
    run,
    request(id: RequestId, method: string, params: Fields | undefined): void {
      if (method === 'session/request_permission') {
        void permit(id, params);
        return;
      }
      emit({ type: 'declined', method: method.slice(0, 128) });
      rpc().decline(id, -32601, 'squad offers no such method');
    },
    notice(method: string, { sessionId, update }: Fields): void {
      if (method !== 'session/update') return;
      if (session !== undefined && sessionId !== session) noise('other-session');
      else if (!isJsonObject(update)) noise('bad-line');
      else {
        if (prompting) follow(update);
        emit({ type: 'update', ...(prompting ? {} : { replayed: true }), update });
      }
    },
    /** Whether the agent was asked to stop: there is a prompt. */
    cancel(): boolean {
      cancelled.abort();
      if (prompting) rpc().notify('session/cancel', { sessionId: session });
      return prompting;
    },
  };

  /** The answer is what the agent says after its last tool. */
  function follow({ sessionUpdate, content }: Fields): void {
    if (sessionUpdate === 'tool_call') answer.isOver = true;
    const { type, text } = fields(content);
    if (sessionUpdate !== 'agent_message_chunk' || type !== 'text' || typeof text !== 'string') return;
    if (answer.isOver) Object.assign(answer, { text: '', isOver: false });
    if (answer.text.length < MOST_TEXT) answer.text += text;
  }
}

function fields(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
