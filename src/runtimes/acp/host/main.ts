// The host of one turn of an ACP agent: `acp-host.mjs PLAN`, with the prompt on stdin. Answers the agent's requests by fixed rules, and
// prints one JSON object a line, the last one a `result` or an `error`. It keeps running if the engine dies.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { errorText } from '../../../model/errors.ts';
import { Conversation } from './conversation.ts';
import { writeLine } from './lines.ts';
import type { HostPlan } from './plan.ts';
import { Halt } from './session-setup.ts';
import type { Fields, Noise } from '../../../substrate/system/process/json-rpc.ts';

/** For an agent that was asked to stop; after the end of its input; after SIGTERM. */
const CANCEL_MS = 3_000;
const CLOSE_MS = 1_000;
const TERM_MS = 1_000;
/** How long descendants may keep the agent's output open after its end. */
const DRAIN_MS = 300;
const MOST_WAITING = 4 * 1024 * 1024;
const MOST_STDERR = 1024 * 1024;
const LAST_WORDS = 2 * 1024;

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as HostPlan;
const noises = new Map<string, number>();
let stderrLeft = MOST_STDERR;
let said = '';
/** Set once the host's last line is written. */
let exitCode: number | undefined;
let isGone = false;

// A group of its own: a signal to the host's is not for the agent.
const agent = start();
const { stdin, stdout, stderr } = agent;
const conversation = new Conversation(plan, process.env, stdin, noise);
const { rpc } = conversation;

stdout.on('data', (chunk: Buffer) => {
  if (exitCode !== undefined) return;
  rpc.read(chunk);
  // An agent that asks without reading the answers waits.
  if (stdin.writableLength > MOST_WAITING && stdin.once('drain', () => stdout.resume())) stdout.pause();
});
stderr.on('data', (chunk: Buffer) => {
  const text = chunk.toString('utf8');
  remember(text);
  if (plan.quirks.retry !== undefined) tellRetries(text, plan.quirks.retry);
  if (stderrLeft > 0) process.stderr.write(chunk.subarray(0, stderrLeft));
  stderrLeft -= chunk.length;
});
stdin.on('error', () => undefined);
agent.on('error', (error) => {
  isGone = true;
  finish({ type: 'error', at: 'spawn', setting: 'command', message: errorText(error) });
});
agent.on('exit', (code, signal) => {
  const ended = () => {
    isGone = true;
    if (exitCode !== undefined) process.exit(exitCode);
    rpc.fail(new Error(`ended by ${signal ?? `exit code ${code}`}`));
  };
  setTimeout(ended, DRAIN_MS);
  agent.once('close', ended);
});
process.on('SIGINT', () => (conversation.cancel() ? setTimeout(stop, CANCEL_MS, 'cancelled') : stop('cancelled')));
for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop('terminated'));
process.on('uncaughtException', (error) => finish({ type: 'error', at: 'agent', message: errorText(error) }));
process.on('exit', () => kill('SIGKILL'));
conversation.run(readFileSync(0, 'utf8')).then(finish, (error: unknown) => {
  finish({ type: 'error', ...(error instanceof Halt ? error.fields : { at: 'agent', message: errorText(error) }) });
});

function start() {
  try {
    return spawn(plan.command, plan.args, { cwd: plan.cwd, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  } catch (error) {
    // Arguments that no program can have.
    writeLine({ type: 'error', at: 'spawn', setting: 'command', message: errorText(error) });
    return process.exit(1);
  }
}
/** The last line; then the agent has a moment to end by itself. */
function finish(line: Fields): void {
  if (exitCode !== undefined) return;
  const isResult = line['type'] === 'result';
  try {
    writeLine(isResult || said === '' ? line : { ...line, said });
  } finally {
    exitCode = isResult ? 0 : 1;
    if (isGone) process.exit(exitCode);
    stdin.end();
    const moment = isResult ? CLOSE_MS : 0;
    setTimeout(kill, moment, 'SIGTERM');
    setTimeout(() => process.exit(), moment + TERM_MS);
    process.exitCode = exitCode;
  }
}
function stop(why: string): void {
  kill('SIGTERM');
  finish({ type: 'error', at: 'agent', message: why });
}
function kill(name: NodeJS.Signals): void {
  try {
    if (agent.pid !== undefined) process.kill(-agent.pid, name);
  } catch {
    // The group is gone.
  }
}
/** Reports each line that has all marks in order: the text after the last mark is the message. */
function tellRetries(text: string, marks: readonly string[]): void {
  for (const line of text.slice(0, 16_384).split('\n')) {
    const rest = marks.reduce<string | undefined>((left, mark) => {
      const at = left?.indexOf(mark) ?? -1;
      return at === -1 ? undefined : left?.slice(at + mark.length);
    }, line);
    if (rest !== undefined) writeLine({ type: 'retry', message: rest.slice(0, 2000).trim() });
  }
}
function remember(text: string): void {
  said = (said + text).slice(-LAST_WORDS);
}
/** Ones, tens, hundreds: a flood is a few lines. */
function noise(what: Noise | 'other-session', line = ''): void {
  if (what === 'not-json') remember(`${line.slice(0, LAST_WORDS)}\n`);
  const count = (noises.get(what) ?? 0) + 1;
  noises.set(what, count);
  if (/^10*$/.test(String(count))) writeLine({ type: 'noise', what, count });
}
