// The process that stands for an agent of the application: `stand-in.mjs PLAN`. It starts the MCP servers of the turn, prints what
// the application says of it, and ends with it. What ends this process ends the turn: the application hears of it and aborts its
// agent. If the application ends, so does this process. Standard modules only.
import { spawn } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';

const STDOUT = 1;
/** The exit status of a turn that the application did not end in order. */
const LOST = 3;
const MCP_STARTS_MS = 30_000;

const { port, token, servers } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const clients = new Map();
let isOver = false;

const application = connect({ port, host: '127.0.0.1' });
const tell = (message) => application.writable && application.write(`${JSON.stringify(message)}\n`);
application.on('error', (error) => process.stderr.write(`the application cannot be reached: ${error.message}\n`));
application.on('close', () => leave(LOST));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tell({ type: 'cancel' }));

const begun = await Promise.all(servers.map(begin));
onLines(application, (line) => void hear(JSON.parse(line)));
tell({ type: 'ready', token, servers: begun });

async function hear(message) {
  if (message.type === 'line') return print(message.line);
  if (message.type === 'end') return leave(message.code);
  if (message.type !== 'call') return;
  const { id, server, tool, arguments: input } = message;
  try {
    const result = await clients.get(server).call('tools/call', { name: tool, arguments: input });
    tell({ type: 'answer', id, result });
  } catch (error) {
    tell({ type: 'answer', id, error: error.message });
  }
}

/** Written before anything else happens, so that what the application said is there when this process has ended. */
function print(line) {
  const bytes = Buffer.from(`${line}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(STDOUT, bytes, at);
}

function leave(code) {
  if (isOver) return;
  isOver = true;
  for (const client of clients.values()) client.end();
  process.exit(code);
}

/** A server with its tools, or why it has none. */
async function begin(server) {
  const { name, tools: allowed } = server;
  try {
    const client = await start(server);
    clients.set(name, client);
    const { tools } = await client.call('tools/list', {});
    return { name, tools: tools.filter((tool) => allowed === undefined || allowed.includes(tool.name)) };
  } catch (error) {
    return { name, problem: error.message };
  }
}

/** A server over stdio, after its handshake: JSON-RPC, one object a line. */
async function start({ command, args, env }) {
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
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  onLines(child.stdout, (line) => {
    const message = read(line);
    if (message?.method !== undefined) {
      // Nothing that a server asks of its client is offered here.
      const { id } = message;
      if (id !== undefined) send({ id, error: { code: -32601, message: 'not supported' } });
      return;
    }
    const entry = waiting.get(message?.id);
    if (entry === undefined) return;
    waiting.delete(message.id);
    if (message.error === undefined) entry.resolve(message.result);
    else entry.reject(new Error(message.error.message));
  });
  const call = (method, params) =>
    new Promise((resolve, reject) => {
      if (lost !== undefined) return reject(lost);
      last += 1;
      waiting.set(last, { resolve, reject });
      send({ id: last, method, params });
    });
  const late = setTimeout(() => gone(new Error(`it did not start within ${MCP_STARTS_MS} ms`)), MCP_STARTS_MS);
  const clientInfo = { name: 'squad', version: '1' };
  await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  clearTimeout(late);
  send({ method: 'notifications/initialized' });
  return { call, end: () => child.stdin.end() };
}

/** Lines end at a line feed only: readline also splits at characters that JSON leaves as they are. */
function onLines(stream, take) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text) => {
    const [first, ...others] = text.split('\n');
    rest += first;
    for (const line of others) {
      take(rest);
      rest = line;
    }
  });
}

function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    // A server that prints anything else beside the protocol.
    return undefined;
  }
}
