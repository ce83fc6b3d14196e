import { join, basename, dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rpc, RpcError, type Fields, type Noise, type RequestId } from '../../../substrate/system/process/json-rpc.ts';
import { serveMcp } from '../../../substrate/system/process/mcp-by-http.ts';
import { pickVariables } from '../../../text/defined.ts';
import { asObject, isJsonObject } from '../../../text/json.ts';
import { repairOf, structuredAnswer } from '../../shared/text-answer.ts';
import { writeLine } from './lines.ts';
import { absolutePath } from '../../../text/absolute-path.ts';
import { Permits } from './permits.ts';
import type { HostPlan } from './plan.ts';
import { checkMethod, Halt, modelCall, wireServer, type Place } from './session-setup.ts';
import { readdirSync, renameSync } from 'node:fs';

/** Characters of an answer that are kept, alone and beside a structured one. */
const MOST_TEXT = 256 * 1024;
const MOST_TEXT_BESIDE = 16 * 1024;
const SILENT_MS = 250;
const MOST_REPLAY_MS = 10_000;
/** Each MCP server gets these besides its own variables. The last one marks the processes of the turn. */
const SERVER_VARIABLES = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SQUAD_TURN_ID'];
/** The protocol's code for a login that is missing. */
const AUTH_REQUIRED = -32000;

type Environment = Readonly<Record<string, string | undefined>>;

/** One turn of an agent, from `initialize` to the stop reason. */
export class Conversation {
  readonly rpc: Rpc;
  readonly #plan: HostPlan;
  readonly #environment: Environment;
  readonly #noise: (what: Noise | 'other-session', line?: string) => void;
  readonly #permits: Permits;
  readonly #open = new Set<RequestId>();
  #session: string | undefined;
  #isPrompted = false;
  #text = '';
  #isToolSince = false;
  #isCancelled = false;
  #updates = 0;

  /** `environment` and `input`: the agent's. */
  constructor(
    plan: HostPlan,
    environment: Environment,
    input: Writable,
    noise: (what: Noise | 'other-session', line?: string) => void,
  ) {
    this.#plan = plan;
    this.#environment = environment;
    this.#noise = noise;
    this.#permits = new Permits(plan, (session) => this.#isPrompted && session === this.#session);
    this.rpc = new Rpc(input, {
      request: (...request) => this.#request(...request),
      notice: (...notice) => this.#notice(...notice),
      noise,
    });
  }

  /** The line `result`. Throws `Halt`. */
  async run(prompt: string): Promise<Fields> {
    const { outputSchema: schema, outputIsOptional, limits, prompts } = this.#plan;
    const late = new Error(`did not answer within ${limits.openMs / 1000} s`);
    const opening = setTimeout(() => this.rpc.fail(late), limits.openMs);
    await this.#openSession(await this.#initialize()).finally(() => clearTimeout(opening));
    const first = await this.#prompt(prompt);
    if (schema === undefined) return this.#resultOf(first);
    const checked = await structuredAnswer(schema, this.#text);
    if (outputIsOptional === true) return this.#resultOf(first, 'structured' in checked ? checked : {});
    if ('structured' in checked || first['stopReason'] !== 'end_turn' || this.#isCancelled)
      return this.#resultOf(first, checked);
    const second = await this.#prompt(await repairOf(checked.problem, prompts));
    return { ...this.#resultOf(second, await structuredAnswer(schema, this.#text)), before: useOf(first) };
  }

  #request(id: RequestId, method: string, params: Fields | undefined): void {
    if (method !== 'session/request_permission') {
      writeLine({ type: 'declined', method: method.slice(0, 128) });
      this.rpc.decline(id, -32601, 'squad offers no such method');
    } else if (this.#open.has(id)) this.rpc.decline(id, -32600, 'a request with this id is open');
    else {
      this.#open.add(id);
      void this.#permits.outcomeOf(id, params).then((outcome) => this.#open.delete(id) && this.rpc.answer(id, outcome));
    }
  }

  #notice(method: string, { sessionId, update }: Fields): void {
    if (method !== 'session/update') return;
    if (this.#session !== undefined && sessionId !== this.#session) this.#noise('other-session');
    else if (!isJsonObject(update)) this.#noise('bad-line');
    else {
      this.#updates += 1;
      if (this.#isPrompted) this.#follow(update);
      writeLine({ type: 'update', ...(this.#isPrompted ? {} : { replayed: true }), update });
    }
  }

  /** Asks the agent to stop. False: it is not at work yet. */
  cancel(): boolean {
    this.#isCancelled = true;
    this.#permits.cancel();
    if (this.#isPrompted) this.rpc.notify('session/cancel', { sessionId: this.#session });
    return this.#isPrompted;
  }

  async #call(at: Place, method: string, params: object): Promise<Fields> {
    try {
      return await this.rpc.request(method, params);
    } catch (error) {
      if (error instanceof RpcError) throw new Halt(at, error.message, { code: error.code, data: error.data });
      throw new Halt(at === 'prompt' ? 'agent' : at, `${this.#plan.agent} ${(error as Error).message} (${method})`);
    }
  }

  async #initialize(): Promise<{ load: boolean; resume: boolean; http: boolean }> {
    const { agent, auth } = this.#plan;
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
    const clientInfo = { name: 'squad', version: '1' };
    const said = await this.#call('initialize', 'initialize', { protocolVersion: 1, clientCapabilities, clientInfo });
    const { protocolVersion, agentInfo, agentCapabilities, authMethods } = said;
    if (protocolVersion !== 1) {
      const other = JSON.stringify(protocolVersion)?.slice(0, 40) ?? 'none';
      throw new Halt('initialize', `squad speaks version 1 of the protocol; ${agent} answered with ${other}`);
    }
    const { loadSession, sessionCapabilities, mcpCapabilities } = asObject(agentCapabilities);
    const { name, version } = asObject(agentInfo);
    const resume = isJsonObject(asObject(sessionCapabilities)['resume']);
    const able = { load: loadSession === true, resume, http: asObject(mcpCapabilities)['http'] === true };
    writeLine({ type: 'agent', protocol: 1, name, version, ...able });
    if (auth === undefined) return able;
    checkMethod(authMethods, auth);
    await this.#call('authenticate', 'authenticate', { methodId: auth });
    return able;
  }

  async #openSession(able: { load: boolean; resume: boolean; http: boolean }): Promise<void> {
    const { agent, cwd, limits, mcp, model, quirks, session: known } = this.#plan;
    const isServed = quirks.mcp === 'http';
    if (!able.http && mcp.some(({ transport }) => isServed || transport.type === 'http')) {
      throw new Halt('session', `${agent} takes no MCP server by HTTP`, { setting: 'mcp' });
    }
    const environment = pickVariables(this.#environment, SERVER_VARIABLES);
    const served = isServed ? serveMcp(mcp, environment, limits.openMs / 2) : Promise.resolve(mcp);
    const servers = await served.catch((error: Error) => {
      throw new Halt('session', error.message, { setting: 'mcp' });
    });
    const method = known === undefined ? 'new' : able.resume ? 'resume' : 'load';
    if (method === 'load' && !able.load) throw new Halt('session', `${agent} cannot resume a session`);
    this.#session = known?.id;
    this.#prepare(method);
    const params = { ...(known && { sessionId: known.id }), cwd, mcpServers: servers.map(wireServer) };
    const found = await this.#call('session', `session/${method}`, params).catch((error: Halt) => {
      throw error.fields['code'] === AUTH_REQUIRED
        ? new Halt('authenticate', error.message, { ...error.fields, setting: 'auth' })
        : error;
    });
    const id = found['sessionId'] ?? known?.id;
    if (typeof id !== 'string' || !/^[!-~]{1,256}$/.test(id) || (known !== undefined && id !== known.id)) {
      throw new Halt('session', `${agent} opened the session ${JSON.stringify(id)?.slice(0, 80)}`);
    }
    this.#session = id;
    if (method === 'load') await this.#silence();
    const { modes, models } = found;
    const names = servers.map(({ name }) => name);
    writeLine({ type: 'session', id, resumed: known !== undefined, mcp: names, options: { modes, models } });
    const next = model === undefined ? undefined : modelCall(agent, found, model);
    if (next !== undefined) await this.#call('options', next.method, { sessionId: id, ...next.params });
  }

  #prepare(method: string): void {
    const { agent, quirks, session } = this.#plan;
    const { opensWithinMs = Infinity, sessions } = quirks;
    const home = absolutePath(this.#environment['HOME']);
    if (method === 'load' && session !== undefined && sessions !== undefined && home !== undefined)
      keepSession(join(home, sessions), session.id);
    const took = performance.now();
    if (method === 'new' && took > opensWithinMs) {
      const why = 'and may then run what the repository plants';
      throw new Halt('agent', `${agent} took ${Math.round(took)} ms to start, ${why}`);
    }
  }

  /** Some agents replay history after they have answered. */
  async #silence(): Promise<void> {
    const until = performance.now() + MOST_REPLAY_MS;
    for (let seen = -1; seen !== this.#updates && performance.now() < until; await sleep(SILENT_MS))
      seen = this.#updates;
  }

  async #prompt(text: string): Promise<Fields> {
    this.#text = '';
    writeLine({ type: 'prompted' });
    this.#isPrompted = true;
    const params = { sessionId: this.#session, prompt: [{ type: 'text', text }] };
    const end = await this.#call('prompt', 'session/prompt', params);
    if (typeof end['stopReason'] === 'string') return end;
    throw new Halt('prompt', `${this.#plan.agent} ended the turn without a stop reason`);
  }

  /** The answer is what the agent says after its last tool; before it, if nothing follows. */
  #follow(update: Fields): void {
    const { sessionUpdate, content } = update;
    if (sessionUpdate === 'tool_call' || sessionUpdate === 'tool_call_update') {
      this.#isToolSince = true;
      this.#permits.saw(update);
    }
    const { type, text } = asObject(content);
    if (sessionUpdate !== 'agent_message_chunk' || type !== 'text' || typeof text !== 'string') return;
    if (this.#plan.quirks.notices?.some((start) => text.startsWith(start))) return;
    if (this.#isToolSince && text.trim() !== '') this.#text = '';
    this.#isToolSince &&= text.trim() === '';
    if (this.#text.length < MOST_TEXT) this.#text += text;
  }

  #resultOf(end: Fields, checked: Fields = {}): Fields {
    const text = 'structured' in checked ? this.#text.slice(0, MOST_TEXT_BESIDE) : this.#text;
    return { type: 'result', stopReason: end['stopReason'], text, ...useOf(end), ...checked };
  }
}

function useOf({ usage, _meta: meta }: Fields): Fields {
  return { usage, meta };
}

/**
 * Gives the file of a session (`session-<minute>-<start of its id>.jsonl`) a name that no new file gets. Agents find it by its
 * content.
 */
export function keepSession(folder: string, id: string): void {
  const end = `-${id.slice(0, 8)}.jsonl`;
  const files = filesIn(folder).filter((file) => basename(file).startsWith('session-') && file.endsWith(end));
  // The first one has the conversation; each later one is empty.
  const [first] = files.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1));
  if (first !== undefined) renameSync(join(folder, first), join(folder, dirname(first), `session-0${end}`));
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    // There was no session yet.
    return [];
  }
}
