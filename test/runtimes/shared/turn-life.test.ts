// @module-tag all
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../../src/model/turn-event.ts';
import { markedPids } from '../../support/marked-pids.ts';
import { openPlayerBench, until, type PlayedTurn } from './player-bench.ts';
import { allowedMs } from '../../support/busy-machine.ts';

const pause = async (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
const openTool = async ({ turn }: PlayedTurn): Promise<void> =>
  until('no tool was started', () => turn.activity().openTools > 0);

describe('cancel', () => {
  it('before the process is there: the agent never runs', async () => {
    const { turn, directory } = openPlayerBench([{ answer: 'done' }]).start();
    const result = await turn.cancel('too early');
    expect(result).toMatchObject({
      outcome: 'cancelled',
      failure: { kind: 'cancelled', message: 'too early', mayHaveActed: false },
    });
    expect(() => writeFileSync(join(directory, 'stdout'), '', { flag: 'wx' })).not.toThrow();
  });

  it('while the identity is being committed: the agent never runs', async () => {
    const gate = Promise.withResolvers<void>();
    const { turn, spawned, events } = openPlayerBench([{ answer: 'done' }]).start({ onSpawned: () => gate.promise });
    await spawned;
    const result = turn.cancel('not now');
    gate.resolve();
    expect(await result).toMatchObject({ outcome: 'cancelled', failure: { mayHaveActed: false } });
    expect(events).toEqual([]);
  });

  it('settles only when nothing of the turn is alive, however it resists', async () => {
    const deaf = `trap '' INT TERM HUP; while :; do sleep 1; done`;
    const bench = openPlayerBench([{ run: ['sh', '-c', 'setsid sh -c "$0" & sleep 60', deaf] }]);
    const played = bench.start();
    await openTool(played);
    await until('the deaf process is not there', () => markedPids(played.request.turnId).length >= 5);
    const alive = played.turn.result.then(() => markedPids(played.request.turnId));
    void played.turn.cancel('stop');
    expect(await alive).toEqual([]);
    expect(await played.turn.result).toMatchObject({ outcome: 'cancelled', failure: { message: 'stop' } });
  });

  it('twice is once, with the first reason', async () => {
    const played = openPlayerBench([{ run: ['sleep', '60'] }]).start();
    await openTool(played);
    const [first, second] = await Promise.all([played.turn.cancel('one'), played.turn.cancel('two')]);
    expect(first).toBe(second);
    expect(first.failure?.message).toBe('one');
  });

  it('after the end changes nothing', async () => {
    const { turn, result } = await openPlayerBench([{ answer: 'done' }]).run();
    expect(await turn.cancel('late')).toBe(result);
    expect(result.outcome).toBe('completed');
  });
});

describe('the commit of the identity', () => {
  it('may be slow: the agent waits for it', async () => {
    const bench = openPlayerBench([{ write: { path: 'made.txt', text: 'x' } }, { answer: 'done' }]);
    const gate = Promise.withResolvers<void>();
    const { turn, spawned, events } = bench.start({ onSpawned: () => gate.promise });
    const { identity } = await spawned;
    await pause(300);
    expect(await bench.processes.isAlive(identity)).toBe(true);
    expect(events).toEqual([]);
    gate.resolve();
    expect((await turn.result).outcome).toBe('completed');
  });

  it('may fail: the agent never runs', async () => {
    const onSpawned = (): Promise<void> => Promise.reject(new Error('the disk is full'));
    const { result, events } = await openPlayerBench([{ answer: 'done' }]).run({ onSpawned });
    expect(result).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'never-started', message: expect.stringContaining('the disk is full'), mayHaveActed: false },
    });
    expect(events).toEqual([]);
  });
});

describe('detach', () => {
  it.each([
    ['before the process is there', () => Promise.resolve()],
    ['once it is', async ({ spawned }: PlayedTurn) => void (await spawned)],
    ['in the middle of a tool', openTool],
  ])('%s: it runs on, and another runtime takes it over', async (_, moment) => {
    const bench = openPlayerBench([{ say: 'hello' }, { run: ['sleep', '1'] }, { answer: 'done' }]);
    const played = bench.start();
    let settled = false;
    void played.turn.result.then(() => (settled = true));
    await moment(played);
    const from = performance.now();
    await played.turn.detach();
    expect(performance.now() - from).toBeLessThan(allowedMs(900));
    const { identity, at } = await played.spawned;
    expect(await bench.processes.isAlive(identity)).toBe(true);

    const events: TurnEvent[] = [];
    const { request, directory } = played;
    const context = { directory, identity, spawnedAt: at, onEvent: (event: TurnEvent) => events.push(event) };
    const result = await bench.runtime().attach(request, context).result;
    expect(result).toMatchObject({ outcome: 'completed', text: 'done', startedAt: at });
    expect(events.map((event) => event.type)).toEqual(['session-announced', 'text', 'tool-started', 'tool-ended']);
    expect(settled).toBe(false);
  });

  it('twice, and after the end, does nothing', async () => {
    const { turn, result } = await openPlayerBench([{ answer: 'done' }]).run();
    await turn.detach();
    await turn.detach();
    expect((await turn.result).text).toBe(result.text);
  });
});

describe('attach', () => {
  it('cancels what another engine started', async () => {
    const bench = openPlayerBench([{ run: ['sleep', '60'] }]);
    const played = bench.start();
    await openTool(played);
    await played.turn.detach();
    const { identity, at } = await played.spawned;
    const { request, directory } = played;
    const turn = bench.runtime().attach(request, { directory, identity, spawnedAt: at });
    expect(await turn.cancel('by the second')).toMatchObject({ outcome: 'cancelled' });
    expect(await bench.processes.isAlive(identity)).toBe(false);
  });

  it.each([
    ['an hour forward', -60 * 60_000],
    ['400 days back', 400 * 24 * 60 * 60_000],
  ])('keeps the time that it has left where the clock was set %s', async (_, moved) => {
    const bench = openPlayerBench([{ run: ['sleep', '1'] }, { answer: 'done' }]);
    const played = bench.start({ limits: { wallMs: 60_000 } });
    await openTool(played);
    await played.turn.detach();
    const { identity, at } = await played.spawned;
    const { request, directory } = played;
    const turn = bench.runtime().attach(request, { directory, identity, spawnedAt: at + moved });
    const { outcome, durationMs } = await turn.result;
    expect(outcome).toBe('completed');
    expect(durationMs).toBeGreaterThan(500);
    expect(durationMs).toBeLessThan(30_000);
  });

  it('after a deadline that passed while no engine lived: what was lost is lost, and not timed out', async () => {
    const bench = openPlayerBench([{ run: ['sleep', '60'] }]);
    const played = bench.start();
    await openTool(played);
    await played.turn.detach();
    const { identity, at } = await played.spawned;
    const { request, directory } = played;
    await bench.processes.sweep(request.turnId);
    const turn = bench.runtime().attach(request, { directory, identity, spawnedAt: at - 60_000 });
    expect(await turn.result).toMatchObject({ outcome: 'failed', failure: { kind: 'lost' } });
  });

  it('after such a deadline: a failure from before it keeps its kind', async () => {
    const bench = openPlayerBench([{ fail: { kind: 'rate-limited', message: 'slow down' } }]);
    const { request, directory, spawned } = await bench.run();
    const { identity, at } = await spawned;
    const turn = bench.runtime().attach(request, { directory, identity, spawnedAt: at - 60_000 });
    expect(await turn.result).toMatchObject({ outcome: 'failed', failure: { kind: 'rate-limited' } });
  });

  it('hours after the end: it lasted as long as it ran, and what it says of time counts from its end', async () => {
    const bench = openPlayerBench([{ answer: 'done' }]);
    const { request, directory, spawned } = await bench.run();
    const { identity, at } = await spawned;
    const hours = 8 * 60 * 60_000;
    const ended = (at + 5000 - hours) / 1000;
    utimesSync(join(directory, 'exit'), ended, ended);
    const turn = bench.runtime().attach(request, { directory, identity, spawnedAt: at - hours });
    expect(await turn.result).toMatchObject({ outcome: 'completed', durationMs: 5000 });
  });

  it('without the launch file, as a power cut may leave it: the turn is harvested all the same', async () => {
    const bench = openPlayerBench([{ run: ['sleep', '0.5'] }, { answer: 'done' }]);
    const played = bench.start();
    await openTool(played);
    await played.turn.detach();
    const { identity, at } = await played.spawned;
    const { request, directory } = played;
    writeFileSync(join(directory, 'launch.json'), '');
    const result = await bench.runtime().attach(request, { directory, identity, spawnedAt: at }).result;
    expect(result).toMatchObject({ outcome: 'completed', text: 'done' });
    expect(result.session).toBeUndefined();
  });
});

describe('what squad itself breaks', () => {
  it('a folder in the place of the exit file costs no more than the exit status, and leaves nothing alive', async () => {
    const played = openPlayerBench([{ run: ['sleep', '60'] }]).start();
    await openTool(played);
    const exit = join(played.directory, 'exit');
    mkdirSync(exit);
    const result = await played.turn.cancel('stop');
    expect(markedPids(played.request.turnId)).toEqual([]);
    expect(result).toMatchObject({ outcome: 'cancelled', failure: { kind: 'cancelled', message: 'stop' } });
    rmSync(exit, { recursive: true });
  });

  it.each(['isTerminal', 'conclude'] as const)(
    'in `%s` of its translator is its own failure, not the agent’s, and leaves nothing alive',
    async (broken) => {
      const fail = (): never => {
        throw new RangeError('Maximum call stack size exceeded');
      };
      const adapt: NonNullable<Parameters<typeof openPlayerBench>[1]>['adapt'] = (adapter) => ({
        ...adapter,
        [broken]: fail,
      });
      const played = openPlayerBench([{ say: 'hello' }, { run: ['sleep', '1'] }, { answer: 'done' }], {
        adapt,
      }).start();
      expect(await played.turn.result).toMatchObject({
        outcome: 'failed',
        failure: {
          kind: 'protocol',
          message: 'squad failed to drive the runtime: Maximum call stack size exceeded',
          mayHaveActed: true,
        },
      });
      expect(markedPids(played.request.turnId)).toEqual([]);
    },
  );

  it('in a listener costs the event and not the turn', async () => {
    const bench = openPlayerBench([{ say: 'hello' }, { answer: 'done' }]);
    const onEvent = (): never => {
      throw new RangeError('Maximum call stack size exceeded');
    };
    expect((await bench.run({ onEvent })).result).toMatchObject({ outcome: 'completed', text: 'done' });
  });
});

describe('refusal', () => {
  it('of a schema that cannot be checked, before anything is spawned', async () => {
    const bench = openPlayerBench([{ answer: 'done' }]);
    const { turn } = bench.start({ changes: { outputSchema: { type: 'what' } } });
    expect(await turn.result).toMatchObject({
      outcome: 'refused',
      failure: { kind: 'bad-request', setting: 'outputSchema', mayHaveActed: false },
    });
  });

  it('of a folder that is not there says so', async () => {
    const bench = openPlayerBench([{ answer: 'done' }]);
    const { turn } = bench.start({ changes: { workspace: { path: join(bench.root, 'gone') } } });
    expect(await turn.result).toMatchObject({
      outcome: 'failed',
      failure: { message: expect.stringContaining('gone') },
    });
  });
});
