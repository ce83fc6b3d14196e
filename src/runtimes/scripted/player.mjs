// The program behind the `scripted` runtime: a real process that plays a script instead of asking a model. It reads the
// prompt from stdin, picks the first entry whose `when` occurs in it and whose `turn` and `model` these are, and plays its steps; docs/scripted.md lists them.
// Standard modules only: it runs under any Node, from any folder, and a SIGKILL of it is a real SIGKILL.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const options = JSON.parse(process.argv[2]);
const prompt = readFileSync(0, 'utf8');
const emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const script = readScript(options.script);
/** MCP servers of this turn, and those of them that have been started: the required ones, and what a step has called. */
const servers = options.mcp === undefined ? [] : JSON.parse(readFileSync(options.mcp, 'utf8'));
const clients = new Map();

const sessions = join(options.home, 'sessions');
const sessionFile = join(sessions, `${options.session}.json`);
mkdirSync(sessions, { recursive: true });
let session = { turns: 0, input: 0, output: 0, usd: null, said: [] };
if (options.resume) {
  try {
    session = JSON.parse(readFileSync(sessionFile, 'utf8'));
  } catch {
    emit({ type: 'error', kind: 'session-not-found', message: `no session ${options.session}` });
    process.exit(1);
  }
}

let tools = 0;
let answer = '';
const steps = {
  say: (text) => emit({ type: 'text', text: expand(text) }),
  think: (text) => emit({ type: 'thinking', text }),
  sleep: (ms) => sleep(ms),
  answer: (text) => {
    answer = expand(text);
  },
  write: ({ path, text, append }) =>
    tool('write', 'edit', { path }, () => {
      const target = resolve(path);
      mkdirSync(dirname(target), { recursive: true });
      if (append) appendFileSync(target, expand(text));
      else writeFileSync(target, expand(text));
      return { ok: true, output: path };
    }),
  run: (argv) =>
    tool('run', 'execute', { argv }, () => {
      const done = spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' });
      const output = `${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}`;
      return { ok: done.status === 0, output, exitCode: done.status ?? 1 };
    }),
  mcp: async (server, { tool: name, arguments: input = {} }) => {
    const client = await clientOf(server);
    await tool(
      name,
      'mcp',
      input,
      async () => {
        if (client.tools?.includes(name) === false)
          return { ok: false, denied: true, output: `${name} is not allowed` };
        try {
          const { isError, structuredContent, content } = await client.call('tools/call', { name, arguments: input });
          return { ok: isError !== true, output: JSON.stringify(structuredContent ?? content) };
        } catch (error) {
          return { ok: false, output: error.message };
        }
      },
      { server },
    );
  },
  deny: (name) => tool(name, 'execute', {}, () => ({ ok: false, denied: true, output: 'refused by the script' })),
  retry: (failure) => emit({ type: 'retry', ...failure }),
  fail: ({ retryIn, ...failure }) => {
    saveSession();
    emit({ type: 'error', ...failure, ...(retryIn === undefined ? {} : { retryAt: Date.now() + retryIn }) });
    process.exit(1);
  },
  raw: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  exit: (code) => process.exit(code),
  hang: async () => {
    for (;;) await sleep(60_000);
  },
};

// Like the real programs: a session can be resumed from its announcement on, whatever becomes of the turn.
writeFileSync(sessionFile, JSON.stringify(session));
emit({ type: 'session', id: options.session, resumed: options.resume, model: options.model });
const entry = script.turns.find(
  ({ when, turn, model }) =>
    (when === undefined || prompt.includes(when)) &&
    (turn === undefined || turn === session.turns + 1) &&
    (model === undefined || model === options.model),
);
if (entry === undefined) {
  emit({ type: 'error', kind: 'bad-request', message: 'no entry of the script matches the prompt' });
  process.exit(1);
}
const played = JSON.stringify(entry).includes('{match:') ? withMatches(entry) : entry;
for (const { name, required } of servers) if (required) await clientOf(name);
for (const step of played.steps) {
  const [name, value] = Object.entries(step)[0];
  if (steps[name] === undefined) {
    emit({ type: 'error', kind: 'bad-request', message: `the script has an unknown step: ${name}` });
    process.exit(1);
  }
  await steps[name](value, step);
}
for (const client of clients.values()) (await client).end();
saveSession();
emit({
  type: 'result',
  text: answer,
  ...(played.structured === undefined ? {} : { structured: played.structured }),
  ...(entry.usage === null ? {} : { usage: counters() }),
});
if (entry.lingers) await steps.hang();

/** Over the whole session, as the real programs tell it. */
function counters() {
  const { input, output, usd } = session;
  return { inputTokens: input, cachedInputTokens: 0, outputTokens: output, ...(usd === null ? {} : { costUsd: usd }) };
}

function saveSession() {
  const { inputTokens = 10 + prompt.length, outputTokens = 5 + answer.length, costUsd } = entry.usage ?? {};
  session = {
    turns: session.turns + 1,
    input: session.input + inputTokens,
    output: session.output + outputTokens,
    usd: costUsd === undefined ? session.usd : (session.usd ?? 0) + costUsd,
    said: [...session.said, answer],
  };
  writeFileSync(sessionFile, JSON.stringify(session));
}

function readScript(path) {
  try {
    const read = JSON.parse(readFileSync(path, 'utf8'));
    if (Array.isArray(read.turns)) return read;
    throw new Error('it has no list `turns`');
  } catch (error) {
    emit({ type: 'error', kind: 'bad-request', message: `the script ${path} cannot be played: ${error.message}` });
    process.exit(1);
  }
}

async function tool(name, kind, input, act, more = {}) {
  tools += 1;
  const id = `tool-${tools}`;
  emit({ type: 'tool-started', id, tool: name, kind, input, ...more });
  const done = await act();
  emit({ type: 'tool-ended', id, denied: false, ...done, output: String(done.output).slice(0, 4096) });
}

/** A started server, once; the turn fails where it cannot be started. */
async function clientOf(name) {
  if (!clients.has(name)) {
    const server = servers.find((one) => one.name === name);
    clients.set(
      name,
      server === undefined ? Promise.reject(new Error('this turn has none of that name')) : start(server),
    );
  }
  try {
    return await clients.get(name);
  } catch (error) {
    emit({
      type: 'error',
      kind: 'mcp-unavailable',
      message: `the MCP server ${name} cannot be used: ${error.message}`,
    });
    process.exit(1);
  }
}

/** A server over stdio, after its handshake: JSON-RPC, one object a line. */
async function start({ command, args, env, tools: allowed }) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let last = 0;
  let lost;
  const gone = (error) => {
    lost ??= error;
    waiting.forEach(({ reject }) => reject(lost));
  };
  child.on('error', gone);
  child.on('exit', (code, signal) => gone(new Error(`it ended (${signal ?? code})`)));
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error.message));
    waiting.delete(id);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const call = (method, params) =>
    new Promise((resolved, rejected) => {
      if (lost !== undefined) return rejected(lost);
      last += 1;
      waiting.set(last, { resolve: resolved, reject: rejected });
      send({ id: last, method, params });
    });
  const clientInfo = { name: 'player', version: '1' };
  await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  return { tools: allowed, call, end: () => child.stdin.end() };
}

/** The SKILL.md of a skill of this turn; nothing of any other. */
function skillText(name) {
  return Object.hasOwn(options.skills, name) ? readFileSync(join(options.skills[name], 'SKILL.md'), 'utf8') : '';
}

/** `{match:PATTERN}` becomes what the pattern finds in the prompt: its first group, or else all of it. */
function matched(text) {
  return text.replaceAll(/\{match:([^{}]+)\}/g, (_, pattern) => {
    const found = new RegExp(pattern, 'su').exec(prompt);
    return found?.[1] ?? found?.[0] ?? '';
  });
}

function withMatches(value) {
  return JSON.parse(JSON.stringify(value), (_, one) => (typeof one === 'string' ? matched(one) : one));
}

/** `{prompt}`, `{cwd}`, `{turn}` (from 1), `{env:NAME}` and `{skill:NAME}` in a text. */
function expand(text) {
  return text
    .replaceAll('{prompt}', () => prompt)
    .replaceAll('{cwd}', () => process.cwd())
    .replaceAll('{turn}', () => String(session.turns + 1))
    .replaceAll(/\{env:([A-Z_]+)\}/g, (_, name) => process.env[name] ?? '')
    .replaceAll(/\{skill:([a-z0-9-]+)\}/g, (_, name) => skillText(name));
}
