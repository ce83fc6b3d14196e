import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_TURN_LIMITS } from '../../../src/model/turn-request.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import type { CliAdapter } from '../../../src/runtimes/shared/cli-adapter.ts';
import { createCliRuntime } from '../../../src/runtimes/shared/cli-turn.ts';
import type { OutputLine, Processes, TurnEnding } from '../../../src/substrate/ports/processes.ts';
import { createVirtualTime, type VirtualTime } from '../../support/virtual-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LIMITS = { ...DEFAULT_TURN_LIMITS, wallMs: 30 * MINUTE, idleMs: 10 * MINUTE };
const IDENTITY = { pid: 1, startTime: '1', bootId: 'simulated', marker: 'simulated' };

const ADAPTER: CliAdapter<undefined, undefined> = {
  name: 'simulated',
  lookUp: () => Promise.resolve(undefined),
  command: ({ prompt }) => ({
    type: 'command',
    binary: '/simulated',
    args: [],
    env: {},
    stdin: prompt,
    files: [],
    home: '/simulated',
    folders: [],
  }),
  begin: () => undefined,
  translate: () => ({ state: undefined, reports: [] }),
  isTerminal: () => false,
  conclude: () => ({ text: '', denials: [], failure: { kind: 'crashed', message: 'ended', mayHaveActed: true } }),
  ladder: [],
  probe: () => Promise.resolve({ ok: true, login: 'ok', sandbox: 'none', problems: [] }),
};

/** An agent that goes on for ever, and prints something every second for as long as it is not `silentAfter` ms old. */
function endlessAgent(time: VirtualTime, silentAfter: number): Processes {
  const ended = Promise.withResolvers<TurnEnding>();
  let alive = true;
  const unused = (): never => {
    throw new Error('not a part of this agent');
  };
  return {
    spawnTurn: () =>
      Promise.resolve({ identity: IDENTITY, go: () => Promise.resolve(), abandon: () => Promise.resolve() }),
    isolation: unused,
    isAlive: () => Promise.resolve(alive),
    ageMs: unused,
    sinceBoot: unused,
    waitForEnding: () => ended.promise,
    tail: (_path, stop) => untilEnded(stop),
    outputBytes: () => Promise.resolve(Math.floor(Math.min(time.monotonic(), silentAfter) / 1_000)),
    endTurn: () => {
      alive = false;
      ended.resolve({ type: 'exited', code: 143, signal: 'SIGTERM' });
      return Promise.resolve([]);
    },
    sweep: () => Promise.resolve([]),
    trimOutput: () => Promise.resolve(0),
    run: unused,
  };
}

/** One line, once it is over. */
async function* untilEnded(stop: AbortSignal): AsyncGenerator<OutputLine> {
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  yield { type: 'rest', text: 'the end', offset: 7 };
}

/** A turn that only its host ends, and how long the machine ran until then. */
async function endlessTurn(
  wall: number,
  disturb: (time: VirtualTime) => void,
  silentAfter = Number.POSITIVE_INFINITY,
): Promise<{ ranMs: number; result: TurnResult }> {
  const time = createVirtualTime(wall);
  const directory = mkdtempSync(join(tmpdir(), 'squad-clock-changes-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const runtime = createCliRuntime(ADAPTER, { clock: time.clock(), processes: endlessAgent(time, silentAfter) });
  const request = {
    turnId: 'simulated',
    workspace: { path: directory },
    prompt: 'go on',
    instructions: '',
    access: { level: 'edit' as const },
    mcp: [],
    limits: LIMITS,
  };
  const turn = runtime.start(request, { directory, onSpawned: () => Promise.resolve() });
  time.after(4 * MINUTE, () => disturb(time));
  const result = await time.pass(turn.result, 48 * HOUR);
  return { ranMs: time.monotonic(), result };
}

const SPRING = Date.UTC(2026, 2, 29, 0, 55);
const AUTUMN = Date.UTC(2026, 9, 25, 0, 55);
const DAY = Date.UTC(2026, 10, 20, 12);

describe('T16: a turn’s limits are of running time', () => {
  it.each<[string, number, (time: VirtualTime) => void]>([
    ['nothing happens to the clock', DAY, () => undefined],
    ['the clock is set an hour forward', DAY, (time) => time.stepWall(HOUR)],
    ['the clock is set an hour back', DAY, (time) => time.stepWall(-HOUR)],
    ['a step of NTP', DAY, (time) => time.stepWall(-900)],
    ['the machine sleeps for eight hours', DAY, (time) => time.suspend(8 * HOUR)],
    ['summer time begins', SPRING, () => undefined],
    ['summer time ends', AUTUMN, () => undefined],
    ['the seconds of 2038 run over', Date.UTC(2038, 0, 19, 3, 5), () => undefined],
  ])('%s', async (_, wall, disturb) => {
    const walled = await endlessTurn(wall, disturb);
    expect(walled.result).toMatchObject({ outcome: 'timed-out', failure: { kind: 'wall-timeout' } });
    expect(walled.ranMs).toBeGreaterThanOrEqual(LIMITS.wallMs - 2_000);
    expect(walled.ranMs).toBeLessThanOrEqual(LIMITS.wallMs + 2_000);
    expect(walled.result.durationMs).toBeGreaterThanOrEqual(LIMITS.wallMs - 2_000);
    expect(walled.result.durationMs).toBeLessThanOrEqual(LIMITS.wallMs + 2_000);

    const silent = await endlessTurn(wall, disturb, 3 * MINUTE);
    expect(silent.result).toMatchObject({ outcome: 'timed-out', failure: { kind: 'stalled' } });
    expect(silent.ranMs).toBeGreaterThanOrEqual(3 * MINUTE + LIMITS.idleMs - 2_000);
    expect(silent.ranMs).toBeLessThanOrEqual(3 * MINUTE + LIMITS.idleMs + 2_000);
  });
});
