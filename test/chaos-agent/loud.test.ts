// @module-tag all
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { checkDatabase, ledgerPath } from '../../src/substrate/ledger/index.ts';
import { installChaosAgent, type ChaosEntry } from '../support/chaos-agent.ts';
import { DEV_TURN, openEngineRoom } from '../support/engine.ts';
import { markedPids } from '../support/marked-pids.ts';
import { CLIS, NO_KEYS, laneOf, openChaosBench, runtimeOf, type Cli } from './chaos-bench.ts';
import { some, SPREAD, spread } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

const MB = 1024 * 1024;
/** What an engine may grow by for a turn, and what is kept of a turn's output (bar T13). */
const MOST_GROWTH = 50 * MB;
const KEPT = 64 * MB;
/** As the launcher starts the command line. */
const FLAGS = ['--max-semi-space-size=2', '--optimize-for-size'];

interface Heard {
  readonly result: TurnResult;
  readonly growth: number;
  /** Of the settled turn. */
  readonly stdout: string;
}

/** One turn in an engine process whose memory is measured: what it grew by since it took the turn up. */
async function hear(cli: Cli, entry: ChaosEntry, look: (heard: Heard) => void): Promise<void> {
  const room = openEngineRoom();
  try {
    const agent = installChaosAgent(join(room.root, 'bin'), { turns: [entry] });
    const args = [DEV_TURN, 'do it', '--runtime', runtimeOf(cli), '--binary', agent.path(cli), '--retries', '0'];
    const engine = spawn(process.execPath, [...FLAGS, ...args], {
      cwd: room.repository,
      env: {
        PATH: process.env['PATH'],
        HOME: room.root,
        XDG_STATE_HOME: join(room.root, 'state'),
        ...NO_KEYS,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let before: number | undefined;
    let most = 0;
    let last = '';
    const sampler = setInterval(() => (most = Math.max(most, peakOf(engine.pid!))), 20);
    engine.stdout.setEncoding('utf8').on('data', (text: string) => {
      before ??= memoryOf(engine.pid!, 'VmRSS');
      // Events alone can be more than a test wants to hold.
      last = (last + text).slice(-64 * 1024);
    });
    await once(engine, 'close');
    clearInterval(sampler);
    const end = JSON.parse(last.trimEnd().split('\n').at(-1) ?? '') as TurnResult & { attemptId: string };
    const growth = most - (before ?? 0);
    console.log(`${cli} ${entry.mode}: the engine grew by ${(growth / MB).toFixed(1)} MiB`);
    const turns = join(stateOf(room.repository), 'turns');
    look({ result: end, growth, stdout: join(turns, end.attemptId, 'stdout') });
    expect(markedPids(end.attemptId)).toEqual([]);
    const { problems, violations } = checkDatabase(ledgerPath(stateOf(room.repository)));
    expect([...problems, ...violations]).toEqual([]);
  } finally {
    room.close();
  }
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(found ?? 0) * 1024;
}

/** 0: it is gone. */
function peakOf(pid: number): number {
  try {
    return memoryOf(pid, 'VmHWM');
  } catch {
    return 0;
  }
}

describe('T13 the engine stays small, the log is cut, and the last word counts', { timeout: 300_000 }, () => {
  const loud: [Cli, ChaosEntry][] = [
    // One MiB less than what ends a turn as a flood.
    ['claude', { mode: 'floods', bytes: spread(200, 1023) * MB }],
    ['codex', { mode: 'floods', bytes: 100 * MB }],
    ['claude', { mode: 'million-lines' }],
    ['codex', { mode: 'million-lines', lines: 250_000 }],
    ['acp', { mode: 'floods', bytes: 1023 * MB }],
    ['acp', { mode: 'million-lines', lines: 250_000 }],
    ...CLIS.flatMap((cli) => ['giant-line', 'deep-nesting'].map((mode): [Cli, ChaosEntry] => [cli, { mode }])),
  ];

  it.each(some(loud, 0, 2))('%s %o', SPREAD, async (cli, entry) => {
    await hear(cli, { ...entry, text: 'It is done.' }, ({ result, growth, stdout }) => {
      expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', exit: { code: 0 } });
      expect(growth).toBeLessThan(MOST_GROWTH);
      expect(statSync(stdout).size).toBeLessThan(KEPT + 1024);
      // Whoever holds a conversation passes on what is a message, and nothing else.
      if (entry.mode === 'floods' && cli !== 'acp') expectTrimmed(stdout, (entry.bytes ?? 0) - KEPT);
    });
  });
});

describe.concurrent.each(CLIS)('T13 what %s prints', { timeout: 300_000 }, (cli) => {
  it.for(some(['odd-bytes', 'noisy-stderr', 'half-line-at-exit'], 0, 1))(
    '%s: the last whole event counts',
    laneOf(cli, SPREAD),
    async (mode, test) => {
      const result = await openChaosBench(test, { mode, text: 'It is done.' }).run(cli);
      expect(result).toMatchObject({ outcome: 'completed', usage: { outputTokens: 40 } });
      // Without a tool between them, all that an agent says in a conversation is one answer.
      expect(result.text).toMatch(cli === 'acp' ? /It is done\.$/ : /^It is done\.$/);
    },
  );

  it('floods-forever: it is ended at its limit, and named', laneOf(cli), async (test) => {
    // What is no message is no sign of life either.
    const limits = { maxOutputBytes: 16 * MB, ...(cli === 'acp' ? { idleMs: 2000 } : {}) };
    const result = await openChaosBench(test, { mode: 'floods-forever' }).run(cli, {}, limits);
    const end = cli === 'acp' ? ['timed-out', 'stalled'] : ['failed', 'output-flood'];
    expect([result.outcome, result.failure?.kind]).toEqual(end);
  });
});

/** The head, one line that says how much is gone, and the tail. */
function expectTrimmed(path: string, least: number): void {
  const file = openSync(path, 'r');
  const note = Buffer.alloc(100);
  readSync(file, note, 0, note.length, KEPT / 2);
  closeSync(file);
  const [, line = ''] = note.toString('latin1').split('\n');
  expect(JSON.parse(line)).toEqual({ type: 'squad-output-trimmed', droppedBytes: expect.any(Number) });
  expect((JSON.parse(line) as { droppedBytes: number }).droppedBytes).toBeGreaterThanOrEqual(least);
}
