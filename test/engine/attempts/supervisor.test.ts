import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { isSquadError, SquadError } from '../../../src/model/errors.ts';
import type { ProcessIdentity } from '../../../src/model/process-identity.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import type { AgentRuntime } from '../../../src/runtimes/port/agent-runtime.ts';
import { markedPids } from '../../support/marked-pids.ts';
import { openSupervisorBench, type SupervisorBench } from './supervisor-bench.ts';
import { ALL } from '../../support/lane.ts';

let bench: SupervisorBench;
afterEach(async () => bench.close());

const LOST: TurnResult = {
  ...{ outcome: 'failed', text: '', denials: [], stderrTail: '', durationMs: 0 },
  failure: { kind: 'lost', message: 'it was killed', mayHaveActed: true },
};
const trace = { run: ['sh', '-c', 'echo ran >> trace'] };
const traceOf = (): string => readFileSync(join(bench.workspace, 'trace'), 'utf8');
const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: unknown) => (isSquadError(error) ? error.code : String(error)),
  );

describe('ensure', () => {
  it('twice is one start and one settlement', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    supervisor.ensure('a-1');
    expect(supervisor.live()).toEqual(['a-1']);
    await supervisor.settled('a-1');
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(traceOf()).toBe('ran\n');
    expect(supervisor.live()).toEqual([]);
    expect(bench.outcomeOf('a-1')).toBe('completed');
    expect(bench.taken).toEqual(['a-1 started']);
  });

  it('counts as starting until its process is on record', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const supervisor = bench.supervisor();
    expect(supervisor.isStarting()).toBe(false);
    supervisor.ensure('a-1');
    const seen: boolean[] = [];
    await bench.until(() => {
      const isRecorded = bench.taken.includes('a-1 started');
      seen.push(supervisor.isStarting() !== isRecorded);
      return isRecorded;
    });
    expect(new Set(seen)).toEqual(new Set([true]));
    await supervisor.settled('a-1');
    expect(supervisor.isStarting()).toBe(false);
  });

  it('of a settled attempt starts nothing, in another supervisor too', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const first = bench.supervisor();
    first.ensure('a-1');
    await first.settled('a-1');
    const second = bench.supervisor();
    second.ensure('a-1');
    expect(second.live()).toEqual([]);
    expect(traceOf()).toBe('ran\n');
  });

  it('of an attempt that nobody claimed is refused', async () => {
    bench = openSupervisorBench([]);
    const supervisor = bench.supervisor();
    expect(() => supervisor.ensure('nobody')).toThrow('unknown attempt nobody');
    await supervisor.settled('nobody');
    await supervisor.cancel('nobody', 'x');
    expect(supervisor.activity('nobody')).toBeUndefined();
  });

  it('records session and first tool once each, and passes every event on', async () => {
    bench = openSupervisorBench([{ run: ['true'] }, { run: ['true'] }, { answer: 'done' }]);
    bench.claim('a-1');
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    const types = bench.ledger.events({ stream: 'run' }).map((event) => event.type);
    expect(types.filter((type) => type === 'session-announced')).toHaveLength(1);
    expect(types.filter((type) => type === 'first-tool')).toHaveLength(1);
    expect(bench.events.filter((type) => type === 'tool-started')).toHaveLength(2);
  });

  it('keeps a finished turn although its facts could not be recorded', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const full = (): never => {
      throw new SquadError({ code: 'storage-full', message: 'the disk is full' });
    };
    const supervisor = bench.supervisor({ ledger: { ...bench.ledger, observe: full } });
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(bench.outcomeOf('a-1')).toBe('completed');
    expect(bench.events).toContain('tool-ended');
  });
});

describe('a result that the ledger cannot store', () => {
  it('is settled as a failure, once, and its usage is kept', async () => {
    const deep = `${'['.repeat(600)}${']'.repeat(600)}`;
    const usage = { inputTokens: 7, cachedInputTokens: 0, outputTokens: 2 };
    const result = JSON.stringify({ type: 'result', text: 'x', usage, structured: { deep: 0 } }).replace(
      '0}}',
      `${deep}}}`,
    );
    bench = openSupervisorBench([{ raw: `${result}\n` }, { exit: 0 }]);
    bench.claim('a-1', 'scripted', { outputSchema: { type: 'object' } });
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(bench.ledger.settlement('a-1')?.result).toMatchObject({
      outcome: 'failed',
      usage,
      failure: { kind: 'bad-output', message: expect.stringContaining('500 levels') },
    });
  });
});

describe('turns that fail at one moment', () => {
  it('are settled in the order of their results, so that the same results make the same history', ALL, async () => {
    bench = openSupervisorBench([]);
    const ids = Array.from({ length: 40 }, (_, index) => `a-${index + 1}`);
    for (const id of ids) bench.claim(id);
    const ended = Promise.withResolvers<void>();
    const started: string[] = [];
    const runtime: AgentRuntime = {
      ...bench.runtime,
      start: ({ turnId }) => {
        started.push(turnId);
        const result = ended.promise.then(() => LOST);
        return {
          result,
          cancel: async () => result,
          detach: async () => undefined,
          activity: () => ({ lastSignOfLifeAt: 0, openTools: 0 }),
        };
      },
    };
    const supervisor = bench.supervisor({ runtime: () => runtime });
    for (const id of ids) supervisor.ensure(id);
    await bench.until(() => started.length === ids.length);
    const settled = ids.map(async (id) => supervisor.settled(id));
    ended.resolve();
    await Promise.all(settled);
    const events = bench.ledger.events({ stream: 'run' }).filter(({ type }) => type === 'attempt-settled');
    expect(events.map(({ data }) => (data as { attemptId: string }).attemptId)).toEqual(started);
  });
});

describe('cancel', () => {
  it.each([
    ['at once', async () => undefined],
    ['in the middle of a tool', async () => bench.until(() => bench.events.includes('tool-started'))],
  ])('%s settles the attempt as cancelled, and nothing of it is alive', async (_, moment) => {
    bench = openSupervisorBench([{ run: ['sleep', '60'] }]);
    bench.claim('a-1');
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    await moment();
    await supervisor.cancel('a-1', 'the operator said stop');
    expect(bench.ledger.settlement('a-1')?.result).toMatchObject({
      outcome: 'cancelled',
      failure: { kind: 'cancelled', message: 'the operator said stop' },
    });
    expect(markedPids('a-1')).toEqual([]);
    expect(supervisor.live()).toEqual([]);
  });
});

describe('the lease', () => {
  it('an engine that was fenced cannot settle; its late result is not applied', async () => {
    bench = openSupervisorBench([{ run: ['sleep', '0.5'] }, { answer: 'done' }]);
    bench.claim('a-1');
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    await bench.until(() => bench.events.includes('tool-started'));
    const newer = bench.ledger.acquireLease('run', 'another engine');
    expect(await codeOf(supervisor.settled('a-1'))).toBe('lease-fenced');
    expect(bench.ledger.attempt('a-1')?.status).toBe('spawned');

    const second = bench.supervisor({}, newer);
    second.ensure('a-1');
    await second.settled('a-1');
    expect(bench.outcomeOf('a-1')).toBe('completed');
    expect(bench.taken).toEqual(['a-1 started', 'a-1 attached']);
  });

  it('an engine that was fenced before it started anything starts nothing', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    bench.ledger.acquireLease('run', 'another engine');
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    expect(await codeOf(supervisor.settled('a-1'))).toBe('lease-fenced');
    expect(existsSync(join(bench.workspace, 'trace'))).toBe(false);
    expect(markedPids('a-1')).toEqual([]);
  });

  it('what a former engine claimed and never let go is swept and started again', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const directory = join(bench.turns, 'a-1');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'leftover'), 'x');
    const leftover = bench.spawnMarked('a-1');
    await bench.until(() => markedPids('a-1').length > 0);

    const supervisor = bench.supervisor({}, bench.ledger.acquireLease('run', 'another engine'));
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(await leftover).toBe('SIGKILL');
    expect(readdirSync(directory)).not.toContain('leftover');
    expect(bench.taken).toEqual(['a-1 started-again']);
    expect(bench.outcomeOf('a-1')).toBe('completed');
    expect(traceOf()).toBe('ran\n');
  });
});

describe('a runtime that is not configured', () => {
  it('is refused and settled before anything runs', async () => {
    bench = openSupervisorBench([]);
    bench.claim('a-1', 'antigravity');
    const supervisor = bench.supervisor();
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(bench.ledger.settlement('a-1')?.result).toMatchObject({
      outcome: 'refused',
      failure: { kind: 'setting-unsupported', setting: 'runtime', message: 'no runtime is called antigravity' },
    });
  });

  it('leaves a turn that is under way alone, for an engine that has the runtime', async () => {
    bench = openSupervisorBench([{ run: ['sleep', '0.5'] }, { answer: 'done' }]);
    bench.claim('a-1');
    const first = bench.supervisor();
    first.ensure('a-1');
    await bench.until(() => bench.events.includes('tool-started'));
    await first.detach();

    const without = bench.supervisor({ runtime: () => undefined });
    without.ensure('a-1');
    expect(await codeOf(without.settled('a-1'))).toBe('bad-input');
    expect(bench.ledger.attempt('a-1')?.status).toBe('spawned');

    const again = bench.supervisor();
    again.ensure('a-1');
    await again.settled('a-1');
    expect(bench.outcomeOf('a-1')).toBe('completed');
  });
});

describe('what is thrown for one attempt', () => {
  const boom = (): never => {
    throw new TypeError('boom');
  };
  const fault = async (error: unknown): Promise<string> => String(error);

  it.each([
    ['while its place is made', { prepare: boom }, 'never-started'],
    ['before its process', { beforeSpawn: boom }, 'never-started'],
    ['while its process is recorded', { onStarted: boom }, 'never-started'],
  ] as const)('%s fails it, and the engine is not told', async (_, broken, kind) => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const told: string[] = [];
    const settled: string[] = [];
    const supervisor = bench.supervisor({
      ...broken,
      fault,
      onBroken: (id) => told.push(id),
      onSettled: (id) => settled.push(id),
    });
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(bench.ledger.settlement('a-1')?.result.failure).toMatchObject({
      kind,
      message: expect.stringContaining('boom') as string,
    });
    expect([told, settled, supervisor.live()]).toEqual([[], ['a-1'], []]);
  });

  it('while it is attached to ends its process', async () => {
    bench = openSupervisorBench([{ run: ['sleep', '60'] }, { answer: 'done' }]);
    bench.claim('a-1');
    const first = bench.supervisor();
    first.ensure('a-1');
    await bench.until(() => bench.ledger.attempt('a-1')?.status === 'spawned');
    await first.detach();
    const second = bench.supervisor({ prepare: boom, fault });
    second.ensure('a-1');
    await second.settled('a-1');
    expect(bench.ledger.settlement('a-1')?.result.failure).toMatchObject({
      kind: 'lost',
      message: expect.stringContaining('boom') as string,
    });
    expect(markedPids('a-1')).toEqual([]);
  });

  it('after its settlement changes nothing', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const supervisor = bench.supervisor({ onSettled: boom, fault });
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect([bench.outcomeOf('a-1'), supervisor.live()]).toEqual(['completed', []]);
  });

  it('ends the engine where no other attempt could go on', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const told = Promise.withResolvers<unknown>();
    const supervisor = bench.supervisor({
      prepare: boom,
      fault: async (error) => {
        throw error;
      },
      onBroken: (_id, error) => told.resolve(error),
    });
    supervisor.ensure('a-1');
    expect(String(await told.promise)).toContain('boom');
    expect(bench.ledger.attempt('a-1')?.status).toBe('claimed');
  });
});

describe('detach', () => {
  it.each([
    ['at once', async () => undefined],
    ['in the middle of a tool', async () => bench.until(() => bench.events.includes('tool-started'))],
  ])('%s leaves the process running and settles nothing', async (_, moment) => {
    bench = openSupervisorBench([trace, { run: ['sleep', '0.8'] }, { answer: 'done' }]);
    bench.claim('a-1');
    const first = bench.supervisor();
    first.ensure('a-1');
    await moment();
    await first.detach();
    expect(bench.ledger.attempt('a-1')?.status).toBe('spawned');
    expect(markedPids('a-1').length).toBeGreaterThan(0);

    const second = bench.supervisor();
    second.ensure('a-1');
    await second.settled('a-1');
    expect(bench.outcomeOf('a-1')).toBe('completed');
    expect(bench.taken).toEqual(['a-1 started', 'a-1 attached']);
    expect(traceOf()).toBe('ran\n');
    expect(bench.ledger.events({ stream: 'run' }).filter(({ type }) => type === 'late-result')).toEqual([]);
  });

  it('does not wait for a place whose making waits for what is left running here, and starts nothing in it', async () => {
    bench = openSupervisorBench([trace, { answer: 'done' }]);
    bench.claim('a-1');
    const ready = Promise.withResolvers<void>();
    const first = bench.supervisor({
      prepare: async (_, request) => {
        await ready.promise;
        return { type: 'ready', request };
      },
      onBroken: (id, error) => expect([id, error]).toBe('not told'),
    });
    first.ensure('a-1');
    await first.detach();
    ready.resolve();
    first.ensure('a-1');
    await setImmediate();
    expect([bench.ledger.attempt('a-1')?.status, bench.taken, markedPids('a-1')]).toEqual(['claimed', [], []]);

    const second = bench.supervisor();
    second.ensure('a-1');
    await second.settled('a-1');
    expect(traceOf()).toBe('ran\n');
  });
});

describe('a runtime of an application that reports a wrong process', () => {
  const right = { pid: process.pid, startTime: '1', bootId: 'boot', marker: 'a-1' };
  const wrong = (changes: object): ProcessIdentity => ({ ...right, ...changes });

  it.each([
    ['with a pid that is none', wrong({ pid: -1 }), true, 'identity.pid'],
    ['with a pid that is none, and does not wait', wrong({ pid: 0 }), false, 'identity.pid'],
    ['without a start time, and does not wait', wrong({ startTime: undefined }), false, 'identity.startTime'],
    ['of another turn', wrong({ marker: 'a-2' }), true, 'its marker is "a-2", and the turn’s is a-1'],
  ])('%s, fails its turn, and not the process', async (_how, identity, waits, words) => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', hear);
    onTestFinished(() => void process.off('unhandledRejection', hear));
    bench = openSupervisorBench([{ answer: 'done' }]);
    bench.claim('a-1', 'mine');
    bench.claim('a-3');
    const ended: TurnResult = { ...LOST, outcome: 'completed', text: 'done' };
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    const mine: AgentRuntime = {
      ...bench.runtime,
      name: 'mine',
      start: (_request, context) => {
        const told = context.onSpawned(identity, 1);
        if (waits) told.catch(() => resolve({ ...ended, outcome: 'failed' }));
        return {
          result: promise,
          cancel: async () => {
            resolve(ended);
            return promise;
          },
          detach: () => Promise.resolve(),
          activity: () => ({ lastSignOfLifeAt: 0, openTools: 0 }),
        };
      },
    };
    const supervisor = bench.supervisor({ runtime: (name) => (name === 'mine' ? mine : bench.runtime) });
    supervisor.ensure('a-1');
    supervisor.ensure('a-3');
    await Promise.all(['a-1', 'a-3'].map(async (id) => supervisor.settled(id)));
    await setImmediate();
    expect(bench.outcomeOf('a-3')).toBe('completed');
    const failure = bench.ledger.settlement('a-1')?.result.failure;
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining(words) });
    expect(failure?.message).toContain('the runtime mine reports a wrong process for this turn');
    expect(unhandled).toEqual([]);
  });
});
