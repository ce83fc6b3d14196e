// A fake agent that speaks version 1 of the Agent Client Protocol on stdio and plays a script instead of asking a model.
//
//   fake-acp-agent.mjs SCRIPT        the script as JSON, or the path of a file that holds it
//
//   { "initialize": {…}, "session": {…}, "auth": "method", "on": { "new": [step, …] },
//     "turns": [{ "when": "text of a prompt", "turn": 1, "steps": [step, …], "usage": {…}, "stop": "end_turn", "meta": {…},
//                 "repair": [step, …], "after": [step, …] }] }
//
// `initialize` and `session` change those answers. `auth`: no session before `authenticate` with this method. `on` holds
// steps that come before the answer of `start`, `initialize`, `authenticate`, `new`, `load`, `resume`, `set` or `cancel`.
// The first turn that fits is played; `repair` is for a later prompt of the same process, `after` comes after the answer.
// A `usage` of null tells none. `keeps` as `answered`: a session is there to go on with once a prompt of it was answered, as Gemini
// keeps them. `unlessThere` of a step: it is played once, and leaves this file. STEPS lists the steps.
//
// It leaves in `$HOME/.fake-acp` (or in `state` of the script): `received.jsonl`, `asked.jsonl` (permission requests, and
// each answer with the time it took), `pids.jsonl` (what it started), and `sessions/`, which another process can go on with.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const script = JSON.parse(process.argv[2].startsWith('{') ? process.argv[2] : readFileSync(process.argv[2], 'utf8'));
const state = script.state ?? join(homedir(), '.fake-acp');
mkdirSync(join(state, 'sessions'), { recursive: true });
const note = (file, value) => appendFileSync(join(state, file), `${JSON.stringify(value)}\n`);
const namespace = readlinkSync('/proc/self/ns/pid');
const OPTIONS = ['allow_once', 'allow_always', 'reject_once'].map((kind) => ({ optionId: kind, name: kind, kind }));
const EACH = { inputTokens: 100, outputTokens: 40, cachedReadTokens: 50, totalTokens: 190 };
const DEAF = "trap '' INT TERM HUP; while :; do sleep 1; done";

class RpcError extends Error {
  constructor({ code = -32603, message = 'Internal error', data }) {
    super(message);
    this.answer = { code, message, ...(data === undefined ? {} : { data }) };
  }
}

let session; // { id, cwd, turns, history } of this process
let mcp = []; // its MCP servers, as the client named them
let turn; // { id, prompt, abort, stop } of the prompt that is open
let lastPrompt = 0; // its id, also when it is answered
let after; // steps to play then
let prompts = 0;
let tools = 0;
let requests = 0;
let authenticated = script.auth === undefined;
let deaf = false;
const waiting = new Map();

/** A pipe may not take all at once. */
function raw(bytes, descriptor = 1) {
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length;) {
    try {
      at += writeSync(descriptor, all, at);
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const send = (message) => raw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function update(content, sessionId = session.id) {
  if (sessionId === session?.id && session.history.length < 200) session.history.push(content);
  send({ method: 'session/update', params: { sessionId, update: content } });
}

/** Sends a request to the client and waits for its answer; `times` sends it so often with one id. */
function request(method, params, { id = requests++, times = 1 } = {}) {
  const answered = new Promise((settle) => waiting.set(id, settle));
  for (let sent = 0; sent < times; sent += 1) send({ id, method, params });
  return answered;
}

/** Asks for permission and returns what was answered: `allowed`, `rejected` or `cancelled`. */
async function permission(toolCall, { options = OPTIONS, wait = true, sessionId = session.id, ...how } = {}) {
  const asked = { at: Date.now(), id: how.id ?? requests, tool: toolCall, options };
  note('asked.jsonl', asked);
  const params = { sessionId, toolCall, ...(options === null ? {} : { options }) };
  const answered = request('session/request_permission', params, how).then(({ result, error }) => {
    note('asked.jsonl', { answerTo: asked.id, result, error, tookMs: Date.now() - asked.at });
    const chosen = result?.outcome?.outcome === 'selected' ? result.outcome.optionId : undefined;
    if (chosen === undefined) return 'cancelled';
    const { kind } = [options].flat().find((option) => option?.optionId === chosen) ?? {};
    return String(kind).startsWith('allow') ? 'allowed' : 'rejected';
  });
  if (!wait) return 'allowed';
  const aborted = turn?.abort.signal;
  return Promise.race([
    answered,
    new Promise((settle) => aborted?.addEventListener('abort', () => settle('cancelled'))),
  ]);
}

/** A tool call from its start to its end. `ask`: only with permission; `despite`: whatever the answer was; `kind`: as it is told. */
async function tool(usual, rawInput, how, act) {
  const { ask, despite, kind = usual, title = kind, name, toolCallId = `call-${(tools += 1)}` } = how;
  const call = { toolCallId, title, kind, rawInput, ...(name === undefined ? {} : { name }) };
  update({ sessionUpdate: 'tool_call', status: 'pending', ...call, content: [] });
  const answer = ask === undefined || ask === false ? 'allowed' : await permission(call, ask === true ? {} : ask);
  const end = (status, text, rawOutput = text) => {
    const content = [{ type: 'content', content: { type: 'text', text } }];
    update({ sessionUpdate: 'tool_call_update', toolCallId, status, content, rawOutput });
  };
  if (answer !== 'allowed' && despite !== true) return end('failed', `the user ${answer} this`);
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  const { ok, output, exitCode } = await act();
  appendFileSync(join(state, 'received.jsonl'), `${output}\n`);
  end(ok ? 'completed' : 'failed', output, exitCode === undefined ? output : { output, exitCode });
}

async function command(argv) {
  const [file, ...args] = typeof argv === 'string' ? ['/bin/sh', '-c', argv] : argv;
  const child = spawn(file, args, { cwd: session.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  note('pids.jsonl', { pid: child.pid, namespace });
  turn.abort.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const exitCode = await new Promise((settle) => {
    child.on('error', (error) => settle((output += error.message) && 127));
    child.on('exit', (code) => settle(code ?? 1));
  });
  return { ok: exitCode === 0, output: output || '(no output)', exitCode };
}

const STEPS = {
  say: (text, { chunks = 1 }) => {
    const whole = expand(text);
    const size = Math.max(1, Math.ceil(whole.length / chunks));
    for (let at = 0; at < whole.length || at === 0; at += size)
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: whole.slice(at, at + size) } });
  },
  think: (text) => update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }),
  update: (content, { of }) => update(content, of),
  run: (argv, how) => tool('execute', { command: [argv].flat().join(' ') }, how, () => command(argv)),
  write: ({ path, text }, how) =>
    tool('edit', { path: resolve(session.cwd, path) }, how, () => {
      try {
        mkdirSync(dirname(resolve(session.cwd, path)), { recursive: true });
        writeFileSync(resolve(session.cwd, path), expand(text));
        return { ok: true, output: path };
      } catch (error) {
        return { ok: false, output: error.message };
      }
    }),
  read: (path, how) =>
    tool('read', { path }, how, () => ({ ok: true, output: readFileSync(resolve(session.cwd, path), 'utf8') })),
  /** A tool of an MCP server. Gemini's way to name it, unless the step says otherwise. */
  mcp: (server, { tool: name, arguments: input = {}, ...how }) =>
    tool(
      'other',
      input,
      { name: `mcp_${server}_${name}`, title: `${name} (${server} MCP Server)`, ...how },
      async () => {
        const { isError, structuredContent, content } = await callMcp(server, name, input);
        return { ok: isError !== true, output: JSON.stringify(structuredContent ?? content) };
      },
    ),
  /** A request for permission that nothing follows. */
  ask: (toolCall, how) => permission({ toolCallId: `call-${(tools += 1)}`, ...toolCall }, how).then(() => undefined),
  request: async ({ method, params }) => note('answers.jsonl', { method, ...(await request(method, params)) }),
  notify: (message) => send(message),
  raw: (text) => raw(expand(text)),
  bytes: (base64) => raw(Buffer.from(base64, 'base64')),
  /** One line of `line` bytes; `sound`: an update like any other. */
  line: (bytes, { sound = true }) => {
    const content = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'x'.repeat(bytes) } };
    const params = { sessionId: session?.id, update: content };
    const whole = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params });
    raw(sound ? `${whole}\n` : `${whole.slice(0, -5)}\n`);
  },
  flood: async (count, { bytes = 100 }) => {
    const content = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'y'.repeat(bytes) } };
    for (let sent = 0; sent < count && !turn?.abort.signal.aborted; sent += 1) {
      send({ method: 'session/update', params: { sessionId: session?.id, update: content } });
      if (sent % 100 === 99) await sleep(0);
    }
  },
  replay: (count) => {
    const content = (text) => ({ content: { type: 'text', text } });
    for (let sent = 0; sent < count; sent += 1) {
      const kind = ['user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk'][sent % 3];
      send({
        method: 'session/update',
        params: { sessionId: session.id, update: { sessionUpdate: kind, ...content(`old ${sent}`) } },
      });
    }
  },
  stderr: (text) => raw(text, 2),
  sleep: (ms) => sleep(ms, undefined, { signal: turn?.abort.signal }).catch(() => undefined),
  /** Waits for a file. */
  until: async (path) => {
    while (!existsSync(path) && !turn?.abort.signal.aborted) await sleep(20);
  },
  touch: (path) => writeFileSync(path, String(Date.now())),
  hang: () =>
    turn === undefined
      ? new Promise(() => setInterval(() => undefined, 60_000))
      : sleep(2 ** 30, undefined, { signal: turn.abort.signal }).catch(() => undefined),
  /** Neither SIGINT nor SIGTERM ends it, nor a closed stdin, nor `session/cancel`, or only that is not heard. */
  deaf: (to) => {
    deaf = to;
    if (to === 'cancel') return;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);
    setInterval(() => undefined, 60_000);
  },
  /** Deaf processes; `apart`: of a session of their own, `nameless`: without environment, `orphaned`: without a parent. */
  children: (count, { apart = false, nameless = false, orphaned = false }) => {
    for (let started = 0; started < count; started += 1) {
      const env = nameless ? {} : process.env;
      if (orphaned) {
        const left = spawnSync('/bin/sh', ['-c', 'setsid /bin/sh -c "$0" >/dev/null 2>&1 & echo $!', DEAF], {
          env,
          encoding: 'utf8',
        });
        note('pids.jsonl', { pid: Number(left.stdout), namespace });
      } else {
        const child = spawn('/bin/sh', ['-c', DEAF], { detached: apart, stdio: ['ignore', 'inherit', 'inherit'], env });
        child.unref();
        note('pids.jsonl', { pid: child.pid, namespace });
      }
    }
  },
  /** An answer to the prompt, whether it has one or not. */
  reply: (result) => send({ id: lastPrompt, result }),
  replyTo: (message) => send(message),
  error: (error) => {
    const { resetsIn, ...rest } = error;
    const at = new Date(Date.now() + (resetsIn ?? 0)).toISOString();
    throw new RpcError(resetsIn === undefined ? rest : { ...rest, message: rest.message.replace('{reset}', at) });
  },
  exit: (code) => process.exit(code),
  kill: (signal) => process.kill(process.pid, signal),
  stop: (reason) => turn && (turn.stop = reason),
};

async function play(steps) {
  for (const step of steps ?? []) {
    if (turn?.abort.signal.aborted) return;
    const [name, value] = Object.entries(step)[0];
    if (step.unlessThere !== undefined && existsSync(step.unlessThere)) continue;
    if (step.unlessThere !== undefined) writeFileSync(step.unlessThere, '');
    if (STEPS[name] === undefined) throw new RpcError({ message: `the script has an unknown step: ${name}` });
    await STEPS[name](value, step);
  }
}

const METHODS = {
  initialize: async () => {
    await play(script.on?.initialize);
    const agentCapabilities = {
      loadSession: true,
      mcpCapabilities: { http: true, sse: false },
      promptCapabilities: { image: false, embeddedContext: true },
      sessionCapabilities: { resume: {} },
      ...script.initialize?.agentCapabilities,
    };
    const agentInfo = { name: 'fake-acp-agent', title: 'Fake', version: '1.0.0' };
    return { protocolVersion: 1, agentInfo, authMethods: [], ...script.initialize, agentCapabilities };
  },
  authenticate: async ({ methodId }) => {
    await play(script.on?.authenticate);
    if (script.auth !== undefined && methodId !== script.auth)
      throw new RpcError({ code: -32602, message: 'Unknown method' });
    authenticated = true;
    return {};
  },
  'session/new': async ({ cwd, mcpServers }) => {
    open({ id: script.session?.sessionId ?? randomUUID(), cwd, turns: 0, history: [] }, mcpServers);
    await play(script.on?.new);
    return { ...script.session, sessionId: session.id };
  },
  'session/load': async ({ sessionId, cwd, mcpServers }) => {
    const { history, ...known } = find(sessionId);
    open({ ...known, cwd, history: [] }, mcpServers);
    for (const old of history) update(old);
    await play(script.on?.load);
    return script.session ?? null;
  },
  'session/resume': async ({ sessionId, cwd, mcpServers }) => {
    open({ ...find(sessionId), cwd }, mcpServers);
    await play(script.on?.resume);
    return script.session ?? {};
  },
  'session/prompt': prompt,
  ...Object.fromEntries(
    ['mode', 'model', 'config_option'].map((what) => [
      `session/set_${what}`,
      async (params) => {
        await play(script.on?.set);
        note('set.jsonl', { what, ...params });
        return what === 'config_option' ? { configOptions: script.session?.configOptions ?? [] } : {};
      },
    ]),
  ),
};

function open(wanted, mcpServers) {
  if (!authenticated) throw new RpcError({ code: -32000, message: 'Authentication required' });
  session = wanted;
  mcp = mcpServers ?? [];
  keep();
}

function find(id) {
  const path = join(state, 'sessions', `${encodeURIComponent(id)}.json`);
  if (!existsSync(path))
    throw new RpcError(script.unknownSession ?? { code: -32002, message: `Resource not found: ${id}` });
  return JSON.parse(readFileSync(path, 'utf8'));
}

function keep(isAnswered = false) {
  if (script.keeps === 'answered' && !isAnswered) return;
  writeFileSync(join(state, 'sessions', `${encodeURIComponent(session.id)}.json`), JSON.stringify(session));
}

async function prompt({ prompt: blocks, sessionId }, id) {
  if (sessionId !== session?.id) throw new RpcError({ code: -32602, message: `Unknown session ${sessionId}` });
  const text = blocks.map((block) => block.text ?? '').join('\n');
  const open = { id, prompt: text, abort: new AbortController(), stop: 'end_turn' };
  turn = open;
  lastPrompt = id;
  session.history.push({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: text.slice(0, 1000) } });
  const entry = script.turns.find(
    ({ when, turn: number }) =>
      (when === undefined || text.includes(when)) &&
      (number === undefined || number === session.turns + (prompts > 0 ? 0 : 1)),
  );
  if (entry === undefined) throw new RpcError({ message: 'no turn of the script fits the prompt' });
  prompts += 1;
  if (prompts === 1) session.turns += 1;
  keep();
  after = entry.after;
  await play(prompts > 1 && entry.repair !== undefined ? entry.repair : entry.steps);
  keep(true);
  const { usage = EACH, meta, stop } = { stop: open.stop, ...entry };
  turn = undefined;
  const stopReason = open.abort.signal.aborted ? 'cancelled' : open.stop === 'end_turn' ? stop : open.stop;
  return { stopReason, ...(usage === null ? {} : { usage }), ...(meta === undefined ? {} : { _meta: meta }) };
}

async function answer({ id, method, params }) {
  try {
    if (METHODS[method] === undefined) throw new RpcError({ code: -32601, message: `Method not found: ${method}` });
    send({ id, result: await METHODS[method](params, id) });
    if (method === 'session/prompt') await play(after);
  } catch (error) {
    if (method === 'session/prompt') turn = undefined;
    send({ id, error: error instanceof RpcError ? error.answer : { code: -32603, message: error.message } });
  }
}

/** `{prompt}`, `{cwd}`, `{turn}` and `{env:NAME}` in a text. */
function expand(text) {
  return text
    .replaceAll('{prompt}', () => turn?.prompt ?? '')
    .replaceAll('{cwd}', () => session?.cwd ?? '')
    .replaceAll('{turn}', () => String(session?.turns ?? 0))
    .replaceAll(/\{env:([A-Z_]+)\}/g, (_, name) => process.env[name] ?? '');
}

/** One call of a tool, with a handshake before it. */
async function callMcp(name, tool, input) {
  const server = mcp.find((one) => one.name === name);
  if (server === undefined) throw new RpcError({ message: `no MCP server ${name}` });
  const client = server.type === 'http' ? overHttp(server) : overStdio(server);
  const clientInfo = { name: 'fake-acp-agent', version: '1' };
  await client.call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  await client.notify('notifications/initialized');
  const result = await client.call('tools/call', { name: tool, arguments: input });
  client.end();
  return result;
}

function overStdio({ command: file, args, env }) {
  const child = spawn(file, args, {
    env: { ...process.env, ...Object.fromEntries(env.map((one) => [one.name, one.value])) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const open = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    open.get(id)?.(error === undefined ? result : { isError: true, content: error });
  });
  child.on('error', (error) => open.forEach((settle) => settle({ isError: true, content: error.message })));
  let last = 0;
  const write = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    call: (method, params) =>
      new Promise((settle) => {
        open.set((last += 1), settle);
        write({ id: last, method, params });
      }),
    notify: (method) => write({ method }),
    end: () => child.stdin.end(),
  };
}

function overHttp({ url, headers = [] }) {
  const own = Object.fromEntries(headers.map((one) => [one.name, one.value]));
  let more = {};
  const post = async (message) => {
    const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const answered = await fetch(url, { method: 'POST', headers: { ...accept, ...own, ...more }, body });
    const id = answered.headers.get('mcp-session-id');
    if (id !== null) more = { 'mcp-session-id': id };
    const text = await answered.text();
    if (!answered.ok) return { isError: true, content: `HTTP ${answered.status} ${text}` };
    if (text === '') return undefined;
    const data = text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)?.[1];
    const { result, error } = JSON.parse(data);
    return error === undefined ? result : { isError: true, content: error };
  };
  return {
    call: (method, params) => post({ id: 1, method, params }),
    notify: (method) => post({ method }),
    end: () => undefined,
  };
}

function take(line) {
  appendFileSync(join(state, 'received.jsonl'), `${line}\n`);
  const message = JSON.parse(line);
  if (message.method === undefined) {
    const settle = waiting.get(message.id);
    if (settle === undefined) note('asked.jsonl', { answerTo: message.id, again: true, result: message.result });
    settle?.(message);
    waiting.delete(message.id);
  } else if (message.id !== undefined) void answer(message);
  else if (message.method === 'session/cancel' && !deaf) void play(script.on?.cancel).then(() => turn?.abort.abort());
}

await play(script.on?.start);
let rest = '';
process.stdin
  .setEncoding('utf8')
  .on('data', (text) => {
    // At newlines alone: readline also splits at U+2028, which a message may hold.
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) take(line);
  })
  .on('end', () => deaf || process.exit(0));
