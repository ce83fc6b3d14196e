import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { HostPlan } from '../src/runtimes/acp/host/plan.ts';
import { median, rowOf, type Bench } from './shared/row.ts';

const HOST = fileURLToPath(new URL('../dist/acp-host.mjs', import.meta.url));
const STARTS = 9;
const MESSAGES = 50_000;
const FLOOD_BYTES = 100 * 1024 * 1024;

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const update = (text: string): string =>
  line({
    method: 'session/update',
    params: { sessionId: 's', update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } } },
  });

/** What the host of an ACP agent costs. The agent is a shell that prints files, which costs little itself. */
export const acpHost: Bench = {
  name: 'acp-host',
  run: async (folder) => {
    const starts: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < STARTS; index += 1) {
      starts.push((await hosted(folder, '')).startMs);
      bare.push(await firstByteOf(['-e', 'process.stderr.write("x")']));
    }
    const small = update('word '.repeat(40));
    const none = await hosted(folder, '');
    const many = await hosted(folder, small.repeat(MESSAGES));
    const large = update('x'.repeat(64 * 1024));
    const flood = await hosted(folder, large.repeat(Math.ceil(FLOOD_BYTES / large.length)));
    const idle = await idleNode();
    const each = (many.turnMs - none.turnMs) / MESSAGES;
    const parse = await parseMs(small);
    const target = (most: number) => ({ target: { of: 'squad' as const, most } });
    return [
      rowOf('from its start to the agent’s', 'ms', median(starts), median(bare), {
        ...target(80),
        note: `fastest ${Math.min(...starts).toFixed(0)} ms, beside ${Math.min(...bare).toFixed(0)} ms`,
      }),
      rowOf(`a message, of ${MESSAGES}; beside JSON there and back`, 'ms', each, parse, target(1)),
      rowOf('its memory (PSS)', 'MB', none.pss, idle, target(45)),
      rowOf('what 100 MB of updates add at their peak', 'MB', flood.growth, many.growth, {
        ...target(20),
        note: `${MESSAGES} small messages add ${many.growth.toFixed(1)} MB`,
      }),
    ];
  },
};

interface Hosted {
  /** Until the agent has started. */
  readonly startMs: number;
  /** From the prompt to the result. */
  readonly turnMs: number;
  /** MB, of the open session. */
  readonly pss: number;
  /** MB between the resident memory of the open session and the most that there ever was. */
  readonly growth: number;
}

/** One turn of an agent that sends these updates. */
async function hosted(folder: string, updates: string): Promise<Hosted> {
  writeFileSync(join(folder, 'updates'), updates);
  const result = (id: number, value: object): string => `printf '%s' '${line({ id, result: value })}'`;
  const script = [
    ...['echo started >&2', 'read line', result(1, { protocolVersion: 1, agentCapabilities: {} })],
    ...['read line', result(2, { sessionId: 's' }), 'read line', 'sleep 0.4', 'echo prompted >&2', 'cat updates'],
    // Whatever it printed is in a pipe of 64 KiB by now.
    ...['echo sent >&2', 'sleep 0.3', result(3, { stopReason: 'end_turn' }), 'read line'],
  ].join('\n');
  const plan: HostPlan = {
    agent: 'acp/bench',
    ...{ command: '/bin/sh', args: ['-c', script], cwd: folder, mcp: [], quirks: {}, limits: { openMs: 30_000 } },
    policy: { access: 'edit', network: false, writable: [], allow: [], deny: [] },
  };
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan));
  const output = openSync(join(folder, 'stdout'), 'w');
  const from = performance.now();
  const host = spawn(process.execPath, [HOST, join(folder, 'plan.json')], { stdio: ['pipe', output, 'pipe'] });
  const ended = new Promise((resolve) => host.once('close', resolve));
  const { stdin, stderr } = host;
  stdin?.end('go');
  const at = new Map<string, number>();
  stderr?.on('data', (chunk: Buffer) => {
    for (const word of chunk.toString().trim().split('\n')) at.set(word, performance.now());
  });
  const until = async (word: string): Promise<number> => {
    for (;;) {
      const found = at.get(word);
      if (found !== undefined) return found;
      await sleep(2);
    }
  };
  const startMs = (await until('started')) - from;
  await sleep(300);
  const pid = host.pid ?? 0;
  const pss = memory(pid, 'smaps_rollup', 'Pss');
  const resident = memory(pid, 'status', 'VmRSS');
  const turnMs = -(await until('prompted')) + (await until('sent'));
  await sleep(200);
  const growth = memory(pid, 'status', 'VmHWM') - resident;
  await ended;
  closeSync(output);
  const last: unknown = JSON.parse(readFileSync(join(folder, 'stdout'), 'utf8').trimEnd().split('\n').at(-1) ?? '');
  if (JSON.stringify(last).includes('"end_turn"')) return { startMs, turnMs, pss, growth };
  throw new Error(`the turn ended with ${JSON.stringify(last)}`);
}

function memory(pid: number, file: string, key: string): number {
  const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024;
}

async function firstByteOf(args: readonly string[]): Promise<number> {
  const from = performance.now();
  const node = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((resolve) => node.stderr.once('data', () => resolve(performance.now() - from)));
}

async function idleNode(): Promise<number> {
  const node = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await sleep(500);
  const pss = memory(node.pid ?? 0, 'smaps_rollup', 'Pss');
  node.kill('SIGKILL');
  return pss;
}

async function parseMs(text: string): Promise<number> {
  const from = performance.now();
  for (let index = 0; index < MESSAGES; index += 1) JSON.stringify(JSON.parse(text));
  return Promise.resolve((performance.now() - from) / MESSAGES);
}
