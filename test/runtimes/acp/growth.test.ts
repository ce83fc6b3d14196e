import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, cpSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acpHosts } from '../../support/acp-run.ts';
import { DEV_TURN, openEngineRoom } from '../../support/engine.ts';
import { FAKE_ACP_AGENT } from '../../support/fake-acp-agent.ts';
import { ALL, some } from '../../support/lane.ts';

const MOST_GROWTH_MB = 20;
/** As the launcher starts the command line. */
const FLAGS = ['--max-semi-space-size=2', '--heap-growing-percent=30'];

interface Measured {
  readonly end: Record<string, unknown>;
  readonly engineMb: number;
  readonly hostMb: number;
  readonly hosts: number;
}

/** One turn whose agent says so much, and how large its engine and its host were at most. */
async function measure(updates: number, bytes: number): Promise<Measured> {
  const room = openEngineRoom();
  try {
    const folder = join(room.root, 'bin');
    const binary = join(folder, 'agent');
    mkdirSync(folder);
    // Its cage shows it the folder of its program.
    cpSync(FAKE_ACP_AGENT, join(folder, 'agent.mjs'));
    const script = {
      turns: [{ steps: [{ sleep: 500 }, { flood: updates, bytes }, { say: 'done' }] }],
    };
    const words = [process.execPath, join(folder, 'agent.mjs'), JSON.stringify(script)]
      .map((word) => `'${word}'`)
      .join(' ');
    writeFileSync(binary, `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
    const args = [DEV_TURN, 'go', '--runtime', 'acp/kimi', '--binary', binary, '--retries', '0'];
    // A file takes everything at once: what waits for a slow reader of a pipe is not the engine's growth.
    const output = join(room.root, 'output');
    const engine = spawn(process.execPath, [...FLAGS, ...args], {
      cwd: room.repository,
      env: {
        PATH: process.env['PATH'],
        HOME: room.root,
        XDG_STATE_HOME: join(room.root, 'state'),
        KIMI_API_KEY: 'none',
      },
      stdio: ['ignore', openSync(output, 'w'), 'inherit'],
    });
    const sizes = new Map<number, number>();
    let hosts: number[] = [];
    const timer = setInterval(() => {
      if (hosts.length === 0 && !partOf(output, 0).includes('session-announced')) return;
      if (hosts.length === 0) hosts = acpHosts(room.repository).map(({ pid }) => pid);
      for (const pid of [engine.pid!, ...hosts]) note(sizes, pid);
    }, 20);
    await once(engine, 'close');
    clearInterval(timer);
    const most = (pids: readonly number[]): number => Math.max(...pids.map((pid) => sizes.get(pid) ?? Infinity));
    return {
      end: JSON.parse(partOf(output, -PART).trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>,
      engineMb: most([engine.pid!]),
      hostMb: most(hosts),
      hosts: hosts.length,
    };
  } finally {
    room.close();
  }
}

const PART = 64 * 1024;

/** So much of a file, from its start or, negative, from its end. */
function partOf(path: string, from: number): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const part = Buffer.alloc(PART);
    return part.toString('utf8', 0, readSync(file, part, 0, PART, from < 0 ? Math.max(0, size + from) : from));
  } finally {
    closeSync(file);
  }
}

function note(sizes: Map<number, number>, pid: number): void {
  try {
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    if (peak > 0) sizes.set(pid, peak);
  } catch {
    // It has ended since.
  }
}

it.each(
  some(
    [
      [10_000, 10_000],
      [1_000_000, 100],
      [100, 1_000_000],
    ] as const,
    0,
    1,
  ),
)(
  '%i updates of %i bytes, 100 MB, make neither engine nor host grow',
  { ...ALL, timeout: 300_000 },
  async (updates, bytes) => {
    // A turn loads code until its end, so only another one shows what the updates add.
    let quiet = await measure(1, 100);
    // On a busy machine its short turn can end between two looks.
    for (let tries = 1; quiet.hosts === 0 && tries < 5; tries += 1) quiet = await measure(1, 100);
    const { end, hosts, ...loud } = await measure(updates, bytes);
    const [engineMb, hostMb] = [loud.engineMb - quiet.engineMb, loud.hostMb - quiet.hostMb];
    console.log(
      `${updates} updates of ${bytes} bytes: the engine grew by ${engineMb.toFixed(1)} MB, the host by ${hostMb.toFixed(1)} MB`,
    );
    expect(end).toMatchObject({ outcome: 'completed', text: 'done' });
    expect(hosts).toBe(1);
    expect(hostMb).toBeLessThan(MOST_GROWTH_MB);
    expect(engineMb).toBeLessThan(MOST_GROWTH_MB);
  },
);
