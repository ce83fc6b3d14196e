// Emulates Antigravity's `agy` 1.3 by what is known of it: flags, stream-json on stdin and stdout, settings and conversations in the
// home, permission rules, MCP servers, results and exit codes. No line of it comes from the real program. It plays a script as the
// scripted runtime does, with real edits, commands and calls: `fake-agy.mjs SCRIPT FLAG...`. What its model would get is in
// `$HOME/received.log`.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [scriptFile, ...argv] = process.argv.slice(2);
const script = JSON.parse(readFileSync(scriptFile, 'utf8'));
const flags = readFlags(argv);
if (flags.version) {
  console.log(script.version ?? '1.3.2');
  process.exit(0);
}

const home = process.env.HOME ?? '';
const state = join(home, '.gemini', 'antigravity-cli');
const settings = readJson(join(state, 'settings.json')) ?? {};
const rules = settings.permissions?.allow ?? [];
const skips = flags['dangerously-skip-permissions'] === true;
const cwd = process.cwd();
const NOTHING = { input_tokens: 0, output_tokens: 0, thinking_tokens: 0, cache_read_tokens: 0, total_tokens: 0 };

const prompt = readPrompt();
appendFileSync(join(home, 'received.log'), `${JSON.stringify({ prompt, flags })}\n`);
for (const name of ['AGENTS.md', 'GEMINI.md']) {
  if (existsSync(name)) appendFileSync(join(home, 'received.log'), `${readFileSync(name, 'utf8')}\n`);
}

let conversation = '';
let index = 0;
let response = '';
const denied = [];
/** What a tool has started. Like the real one, SIGINT ends it and the turn. */
let running;
process.on('SIGINT', () => {
  if (script.deaf) return;
  running?.kill('SIGKILL');
  end('ERROR', { error: 'interrupted' }, 1);
});

if (!process.env.GEMINI_API_KEY || settings.modelProvider !== 'gemini') {
  fail('authentication failed or timed out', 1);
}
if (flags.model !== undefined && !(script.models ?? ['m']).includes(flags.model)) {
  const known = 'is not recognized as a known model or custom model in settings';
  fail(`invalid model selection (--model): model ${flags.model} ${known}`, 1);
}

const sessions = join(state, 'conversations');
const session = openSession();
emit('init', {
  init: {
    cwd,
    model: flags.model ?? 'm',
    tools: ['run_command', 'view_file', 'write_to_file', 'call_mcp_tool', 'search_web'],
    permission_mode: skips ? 'always-proceed' : 'request-review',
  },
});
step({ state: 'DONE', step_type: 'user_input' });
const servers = await startServers();

const steps = {
  say: (text) => speak(expand(text)),
  sleep: (ms) => sleep(ms),
  answer: (text) => {
    response = expand(text);
  },
  write: ({ path, text, append }) => {
    const target = resolve(path);
    return tool('write_to_file', { TargetFile: target }, writes(target), () => {
      mkdirSync(dirname(target), { recursive: true });
      if (append) appendFileSync(target, expand(text));
      else writeFileSync(target, expand(text));
      return { ok: true, output: target };
    });
  },
  run: (words) => {
    const line = words.join(' ');
    return tool('run_command', { CommandLine: line }, rules.includes(`command(${line})`), () => run(words));
  },
  mcp: (server, { tool: name, arguments: given = {} }) => {
    const allowed = rules.includes(`mcp(${server}/*)`) || rules.includes(`mcp(${server}/${name})`);
    return tool('call_mcp_tool', { ServerName: server, ToolName: name, Arguments: given }, allowed, async () => {
      const client = servers.get(server);
      if (client === undefined) return { ok: false, output: `no server ${server}` };
      const { isError, structuredContent, content } = await client('tools/call', { name, arguments: given });
      return { ok: isError !== true, output: JSON.stringify(structuredContent ?? content) };
    });
  },
  deny: () => refuse('RunCommand', 'command'),
  /** It gave up waiting for itself. */
  timeout: (text) => {
    process.stderr.write('[agy] print timeout after 5m0s with turn in progress; returning partial output\n');
    end('SUCCESS', { response: text, usage: NOTHING }, 0);
  },
  fail: ({ error, code, exit = 1, said = true }) => {
    process.stderr.write(`error: ${error}\n`);
    const details = { short_error: `(code ${code}): ${error}`, status: 'FAILED', error_code: code, code_kind: 'http' };
    if (code !== undefined) process.stderr.write(`AGY_ERROR: ${JSON.stringify(details)}\n`);
    if (said) end('ERROR', { error }, exit);
    process.exit(exit);
  },
  result: ({ exit = 0, ...result }) => end('SUCCESS', result, exit),
  raw: (text) => process.stdout.write(text),
  flood: (bytes) => new Promise((done) => process.stderr.write('x'.repeat(bytes), done)),
  stderr: (text) => process.stderr.write(text),
  exit: (code) => process.exit(code),
  hang: async () => {
    for (;;) await sleep(60_000);
  },
};

const entry = script.turns.find(
  ({ when, turn }) =>
    (when === undefined || prompt.includes(when)) && (turn === undefined || turn === session.turns + 1),
);
if (entry === undefined) fail('no entry of the script matches the prompt', 1);
for (const one of entry.steps) {
  const [[name, value]] = Object.entries(one);
  await steps[name](value, one);
}
if (response !== '') speak(response);
end('SUCCESS', { response: response === '' ? '' : `${response}\n` }, 0);

/** Flags as Go reads them: `-x v`, `--x=v`; `-p` eats the next word. */
function readFlags(words) {
  const found = { 'add-dir': [] };
  const alone = ['disable-slash-commands', 'dangerously-skip-permissions', 'sandbox', 'version', 'help'];
  const valued = [
    'input-format',
    'output-format',
    'print-timeout',
    'model',
    'effort',
    'mode',
    'json-schema',
    'log-file',
  ];
  for (let at = 0; at < words.length; at += 1) {
    const [, name, value] = /^--?([a-z_-]+)(?:=(.*))?$/s.exec(words[at]) ?? [];
    if (name === 'add-dir') found['add-dir'].push(value ?? words[++at]);
    else if (alone.includes(name)) found[name] = true;
    else if ([...valued, 'conversation', 'gemini_dir', 'p', 'print', 'prompt'].includes(name))
      found[name] = value ?? words[++at];
    else if (words[at].startsWith('-')) {
      process.stderr.write(`flags provided but not defined: -${name ?? words[at]}\n`);
      process.exit(2);
    } else {
      // A prompt in place of a flag starts the terminal's interface, which has none here.
      process.stderr.write('could not open a new TTY\n');
      process.exit(0);
    }
  }
  return found;
}

function readPrompt() {
  const given = flags.p ?? flags.print ?? flags.prompt;
  if (flags['input-format'] !== 'stream-json') return given || readFileSync(0, 'utf8');
  const { event, message } = JSON.parse(readFileSync(0, 'utf8').split('\n')[0]);
  if (event !== 'user' || message.role !== 'user') fail('the first line is no message of a user', 1);
  return message.content;
}

/** An unknown conversation is begun anew, under another id and with exit 0. */
function openSession() {
  const known = flags.conversation && readJson(join(sessions, `${flags.conversation}.json`));
  if (flags.conversation && !known)
    process.stderr.write(`conversation ${flags.conversation} not found, starting a new one\n`);
  conversation = known ? flags.conversation : randomUUID();
  const opened = known || { turns: 0, input: 0, output: 0 };
  mkdirSync(sessions, { recursive: true });
  writeFileSync(join(sessions, `${conversation}.json`), JSON.stringify(opened));
  return opened;
}

function emit(event, payload) {
  process.stdout.write(`${JSON.stringify({ event, conversation_id: conversation, ...payload })}\n`);
}

function step(update) {
  const of = { conversation_id: conversation, step_index: update.step_index ?? index++, ...update };
  process.stdout.write(`${JSON.stringify({ event: 'step_update', step_update: of })}\n`);
  return of.step_index;
}

function speak(text) {
  const at = step({ state: 'ACTIVE', step_type: 'agent_response', text_delta: text });
  step({ step_index: at, state: 'DONE', step_type: 'agent_response', text_delta: '\n', duration_seconds: 1.2 });
}

async function tool(name, parameters, allowed, act) {
  if (!skips && !allowed) return refuse(name, name);
  const info = { name, parameters };
  const at = step({ state: 'ACTIVE', step_type: 'tool', tool_name: name, tool_info: info });
  const { ok, output } = await Promise.resolve()
    .then(act)
    .catch((error) => ({ ok: false, output: error.message }));
  step({
    step_index: at,
    state: ok ? 'DONE' : 'ERROR',
    step_type: 'tool',
    tool_name: name,
    tool_info: { ...info, output },
  });
}

/** Nobody can be asked, so the turn is over, and a success. */
function refuse(display, action) {
  denied.push({ action, display_name: display });
  process.stderr.write(
    `jetski: no output produced — a tool required the "${action}" permission that headless mode cannot prompt for, so it was auto-denied.\n`,
  );
  end('SUCCESS', { response: '' }, 0);
}

function writes(target) {
  if (flags.mode === 'plan') return false;
  return rules.some((rule) => {
    const folder = /^write_file\((.*)\)$/.exec(rule)?.[1];
    return folder !== undefined && (target === folder || target.startsWith(folder + sep));
  });
}

function run(words) {
  return new Promise((done) => {
    const child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    running = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => done({ ok: false, output: error.message }));
    child.on('exit', (code) =>
      setImmediate(() => done({ ok: code === 0, output: code ? `${output}\nexit status ${code}` : output })),
    );
  });
}

function fail(error, exit) {
  process.stderr.write(`error: ${error}\n`);
  end('ERROR', { error, num_turns: 0, usage: NOTHING }, exit);
}

/** Counters of the whole conversation. Prints the result and ends at once, whatever still runs. */
function end(status, result, exit) {
  if (session !== undefined) {
    session.turns += 1;
    session.input += 10 + prompt.length;
    session.output += 5 + response.length;
    if (conversation !== '') writeFileSync(join(sessions, `${conversation}.json`), JSON.stringify(session));
  }
  const { turns = 0, input = 0, output = 0 } = session ?? {};
  const usage = { ...NOTHING, input_tokens: input, output_tokens: output, total_tokens: input + output };
  const structured = flags['json-schema'] === undefined ? undefined : entry?.structured;
  const whole = {
    ...{ conversation_id: conversation, status, response: '', duration_seconds: 1.5, num_turns: turns, usage },
    ...(structured === undefined ? {} : { structured_output: structured }),
    ...(denied.length === 0 ? {} : { denied_actions: denied }),
    ...result,
  };
  process.stdout.write(`${JSON.stringify({ event: 'result', result: whole })}\n`);
  process.exit(exit);
}

/** Those of the home and, as everybody can put them there, of the workspace. One that does not answer is left out in silence. */
async function startServers() {
  const files = [join(home, '.gemini', 'config', 'mcp_config.json'), join(cwd, '.agents', 'mcp_config.json')];
  const named = files.flatMap((file) => Object.entries(readJson(file)?.mcpServers ?? {}));
  const clients = new Map();
  for (const [name, { command, args = [], env = {} }] of named) {
    if (command === undefined) continue;
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
    const waiting = new Map();
    let last = 0;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line);
      waiting.get(id)?.(error === undefined ? result : { isError: true, content: error.message });
    });
    const call = (method, params) =>
      new Promise((done, gone) => {
        last += 1;
        waiting.set(last, done);
        for (const event of ['error', 'exit']) child.once(event, () => gone(new Error(`${name} is gone`)));
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
      });
    child.stdin.on('error', () => {});
    const clientInfo = { name: 'fake-agy', version: '1' };
    try {
      await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
      clients.set(name, call);
    } catch {
      // As the real one does, it says nothing.
    }
  }
  return clients;
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function expand(text) {
  return text.replaceAll('{prompt}', () => prompt).replaceAll('{cwd}', () => cwd);
}
