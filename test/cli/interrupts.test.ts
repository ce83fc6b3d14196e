import { describe, expect, it, vi } from 'vitest';
import { handleInterrupts } from '../../src/cli/interrupts.ts';
import { allowedMs } from '../support/busy-machine.ts';
import type { Engine, Finished } from '../support/engine.ts';
import { aliveIn, deafNode, expectSound, roomForTest, scriptedTurn, turnWith } from './room.ts';
import { ALL, some } from '../support/lane.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const pause = async (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Starts a turn, waits until its tool runs, sends the signals a little apart, and measures from the last one. */
async function interrupted(
  engine: Engine,
  ...signals: NodeJS.Signals[]
): Promise<{ end: Finished; tookMs: number; result: Record<string, unknown> | undefined }> {
  await engine.line((line) => line['type'] === 'tool-started');
  for (const [index, signal] of signals.entries()) {
    // Equal signals that wait to be delivered become one.
    if (index > 0) await pause(150);
    engine.child.kill(signal);
  }
  const from = performance.now();
  const end = await engine.finished;
  return { end, tookMs: performance.now() - from, result: end.lines.find((line) => line['type'] === 'attempt-ended') };
}

describe('T21: Ctrl-C', () => {
  it('once: the turn may finish', ALL, async () => {
    const room = roomForTest();
    const steps = [{ run: ['sleep', '1'] }, { answer: 'done' }];
    const { end, result } = await interrupted(room.start(scriptedTurn(room, steps, '--json')), 'SIGINT');
    expect(end.stderr).toMatch(/Waiting up to 60 s for (?:its turns|the turn) to finish/);
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(end.code).toBe(130);
  });

  it('once: nothing new starts, although the turn would be tried again', ALL, async () => {
    const room = roomForTest();
    const steps = [{ run: ['sleep', '1'] }, { exit: 3 }];
    const { end } = await interrupted(
      room.start(turnWith(room, steps, { limits: { retries: 2 } }, '--json')),
      'SIGINT',
    );
    expect(end.lines.filter((line) => line['type'] === 'attempt-taken')).toHaveLength(1);
    expect(end.code).toBe(130);
  });

  it('twice: the agent is interrupted, within 10 s, however deaf it is', ALL, async () => {
    const room = roomForTest();
    const args = turnWith(room, [{ run: ['sleep', '60'] }], { command: deafNode(room) }, '--json');
    const { end, tookMs, result } = await interrupted(room.start(args), 'SIGINT', 'SIGINT');
    expect(result).toMatchObject({ outcome: 'cancelled', failure: { kind: 'cancelled', message: 'Ctrl-C twice' } });
    expect(end).toMatchObject({ code: 130, signal: null });
    expect(tookMs).toBeLessThan(allowedMs(10_000));
    expect(aliveIn(room)).toEqual([]);
    expectSound(room);
  });

  it('thrice: everything of it is killed at once', ALL, async () => {
    const room = roomForTest();
    const args = turnWith(room, [{ run: ['sleep', '60'] }], { command: deafNode(room) }, '--json');
    const { end, tookMs, result } = await interrupted(room.start(args), 'SIGINT', 'SIGINT', 'SIGINT');
    // After half a second the next engine settles the turn, as on a very busy machine.
    if (result !== undefined) expect(result).toMatchObject({ outcome: 'cancelled' });
    expect(end).toMatchObject({ code: 130, signal: null });
    // 1 s is promised; the polite way takes at least 2 s here.
    expect(tookMs).toBeLessThan(allowedMs(1_800));
    expect(aliveIn(room)).toEqual([]);
    expectSound(room);
  });
});

describe('T21: the grace after one Ctrl-C', () => {
  it('is 60 s, counted down where somebody watches; then the turn is interrupted, once', () => {
    vi.useFakeTimers();
    const told: string[] = [];
    const cancelled: string[] = [];
    const tell = (text: string): void => void told.push(text);
    const before = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
    const others = process.listeners('SIGINT');
    const interrupts = handleInterrupts(
      { problem: tell },
      {
        drain: () => tell('drained'),
        cancel: (reason) => Promise.resolve(void cancelled.push(reason)),
        kill: () => Promise.resolve(),
      },
      { countDown: tell },
    );
    try {
      for (const listener of process.listeners('SIGINT')) if (!others.includes(listener)) listener('SIGINT');
      vi.advanceTimersByTime(59_000);
      expect(told.slice(0, 3)).toEqual(['drained', expect.stringContaining('Waiting up to 60 s'), '59 s left']);
      expect(told.at(-1)).toBe('1 s left');
      expect(cancelled).toEqual([]);
      vi.advanceTimersByTime(60_000);
      expect(cancelled).toEqual(['Ctrl-C, and 60 s have passed']);
      expect(told.at(-1)).toBe('0 s left');
    } finally {
      vi.useRealTimers();
      interrupts.stop();
      for (const [signal, known] of before) {
        for (const listener of process.listeners(signal)) if (!known.includes(listener)) process.off(signal, listener);
      }
    }
  });
});

describe('T21: a signal from outside', () => {
  it.each(some(['SIGTERM', 'SIGHUP'] as const, 0, 1))('%s interrupts at once and exits 143', ALL, async (signal) => {
    const room = roomForTest();
    const args = scriptedTurn(room, [{ run: ['sleep', '60'] }], '--json');
    const { end, tookMs, result } = await interrupted(room.start(args), signal);
    expect(result).toMatchObject({ outcome: 'cancelled', failure: { message: `squad got ${signal}` } });
    expect(end).toMatchObject({ code: 143, signal: null });
    expect(tookMs).toBeLessThan(allowedMs(10_000));
    expect(aliveIn(room)).toEqual([]);
    expectSound(room);
  });
});

describe('two engines in one repository', () => {
  it('the second is refused at once and names the first', ALL, async () => {
    const room = roomForTest();
    const first = room.start(scriptedTurn(room, [{ run: ['sleep', '60'] }], '--json'));
    await first.line((line) => line['type'] === 'tool-started');
    const from = performance.now();
    const second = await room.run(['resume']);
    expect(performance.now() - from).toBeLessThan(allowedMs(3_000));
    expect(second.code).toBe(75);
    expect(second.stderr).toContain(String(first.child.pid));
    expect(second.stderr).toMatch(/^Next: /m);
    expect((await room.run(['log', '--limit', '2'])).code).toBe(0);
    expect((await interrupted(first, 'SIGTERM')).end.code).toBe(143);
  });
});
