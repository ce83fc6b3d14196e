import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AttemptPorts } from '../../../src/engine/attempts/start-attempt.ts';
import { createSupervisor } from '../../../src/engine/attempts/supervisor.ts';
import type { Attempt } from '../../../src/model/attempt.ts';
import { SquadError } from '../../../src/model/errors.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { attemptOf, DONE, FAILED, IDENTITY, LEASE, openAttempts } from './in-memory.ts';

const SPAWNED = attemptOf({ process: IDENTITY, spawnedAt: 20, status: 'spawned' });

/** What waits for a settlement that never comes is ended soon. */
const HANGS = { timeout: 5_000 };

const boom = (): never => {
  throw new TypeError('boom');
};
const fault = async (error: unknown): Promise<string> => `it went wrong: ${String(error)}`;

/** What nobody waits for ends the process, in which other runs may be. */
function hearUnhandled(): unknown[] {
  const unhandled: unknown[] = [];
  const hear = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', hear);
  onTestFinished(() => void process.off('unhandledRejection', hear));
  return unhandled;
}

function open(attempt: Attempt | undefined, more: Partial<AttemptPorts> = {}) {
  const broken: unknown[] = [];
  const ended: unknown[] = [];
  const opened = openAttempts(attempt, {
    onBroken: (id, error) => broken.push([id, error]),
    onSettled: (id, { outcome }) => ended.push([id, outcome]),
    ...more,
  });
  return { ...opened, broken, ended, supervisor: createSupervisor(opened.ports, LEASE) };
}

describe('a supervisor', HANGS, () => {
  it('passes the points at which crashes are tried', async () => {
    const { supervisor, turns, end } = open(attemptOf());
    const trace = join(turns, 'trace');
    armFailpoints(`trace=${trace}`);
    onTestFinished(() => armFailpoints(''));
    supervisor.ensure('a-1');
    end(DONE);
    await supervisor.settled('a-1');
    const points = ['attempt.claimed', 'attempt.before-settle', 'attempt.settled'];
    expect(readFileSync(trace, 'utf8')).toBe(`${points.join('\n')}\n`);
  });

  it('needs no one who hears of it', async () => {
    const { onBroken: _, onSettled: __, onStarted: ___, ...ports } = open(SPAWNED, { fault }).ports;
    const failing = createSupervisor({ ...ports, prepare: boom }, LEASE);
    failing.ensure('a-1');
    await failing.settled('a-1');
    expect(failing.live()).toEqual([]);
    const { fault: ____, ...bare } = ports;
    const unhandled = hearUnhandled();
    const broken = createSupervisor(
      { ...bare, ...open(SPAWNED).ports, onBroken: undefined, prepare: boom } as never,
      LEASE,
    );
    broken.ensure('a-1');
    await expect(broken.settled('a-1')).rejects.toThrow('boom');
    await setImmediate();
    const opened = open(SPAWNED);
    const done = createSupervisor({ ...opened.ports, onSettled: undefined } as never, LEASE);
    done.ensure('a-1');
    opened.end(DONE);
    await done.settled('a-1');
    expect([unhandled, opened.settled.length]).toEqual([[], 1]);
  });

  it('takes an attempt to its settlement, once, tells it, and saves the room of its output', async () => {
    const { supervisor, did, ended, settled, end } = open(SPAWNED);
    supervisor.ensure('a-1');
    supervisor.ensure('a-1');
    expect(supervisor.live()).toEqual(['a-1']);
    await setImmediate();
    await setImmediate();
    end(DONE);
    await supervisor.settled('a-1');
    supervisor.ensure('a-1');
    await supervisor.settled('a-1');
    expect(did).toEqual(['attached a-1', 'attach go of 4000000 at 20', 'settle a-1', `trim a-1 ${64 * 1024 * 1024}`]);
    expect([settled, ended]).toEqual([[{ ...DONE, tools: 0 }], [['a-1', 'completed']]]);
    expect([supervisor.live(), supervisor.activity('a-1')]).toEqual([[], undefined]);
  });

  it('shows the signs of life of a turn that runs', async () => {
    const { supervisor } = open(SPAWNED);
    supervisor.ensure('a-1');
    expect(supervisor.activity('a-1')).toBeUndefined();
    await expect.poll(() => supervisor.activity('a-1')).toEqual({ lastSignOfLifeAt: 7, openTools: 1 });
    expect(supervisor.activity('a-2')).toBeUndefined();
  });

  it('refuses an attempt that nobody claimed, and says where they are', () => {
    const { supervisor } = open(undefined);
    expect(() => supervisor.ensure('a-1')).toThrow(
      expect.objectContaining({
        code: 'unknown-attempt',
        message: 'unknown attempt a-1',
        next: 'Run `squad log` to see all attempts.',
      }),
    );
  });

  it('settles a turn although room could not be saved', async () => {
    const { ports, end, settled } = open(SPAWNED);
    const trimOutput = async (): Promise<never> => Promise.reject(new Error('busy'));
    const supervisor = createSupervisor({ ...ports, processes: { ...ports.processes, trimOutput } }, LEASE);
    supervisor.ensure('a-1');
    end(DONE);
    await supervisor.settled('a-1');
    expect(settled).toHaveLength(1);
  });

  it('cancels a turn that is starting as soon as there is one, whatever its runtime says to that', async () => {
    const ready = Promise.withResolvers<void>();
    const { supervisor, did, settled } = open(SPAWNED, {
      prepare: async (_, request) => {
        await ready.promise;
        return { type: 'ready', request };
      },
    });
    supervisor.ensure('a-1');
    const cancelled = supervisor.cancel('a-1', 'stop');
    await setImmediate();
    expect(did).toEqual([]);
    ready.resolve();
    await cancelled;
    expect(did).toContain('cancel stop');
    expect(settled).toMatchObject([{ outcome: 'cancelled' }]);
    await supervisor.cancel('a-1', 'again');
    expect(did).not.toContain('cancel again');
  });

  it('waits until a turn that it cancels is settled', async () => {
    const { supervisor, did, settled } = open(SPAWNED);
    supervisor.ensure('a-1');
    await expect.poll(() => supervisor.activity('a-1')).toBeDefined();
    await supervisor.cancel('a-1', 'stop');
    expect(did).toContain('cancel stop');
    expect(settled).toMatchObject([{ outcome: 'cancelled' }]);
  });
});

describe('a result', HANGS, () => {
  const settle = async (result: TurnResult, more: Partial<AttemptPorts> = {}) => {
    const opened = open(SPAWNED, more);
    opened.supervisor.ensure('a-1');
    opened.end(result);
    const thrown = await opened.supervisor.settled('a-1').then(
      () => undefined,
      (error: unknown) => error,
    );
    return { ...opened, thrown };
  };
  const session = {
    ...{ runtime: 'fake', id: 's', home: '/home', workspace: '/work' },
    instructionsHash: 'h',
  };
  const usage = { inputTokens: 1, cachedInputTokens: 2, outputTokens: 3 };

  it('keeps its answer and loses use that cannot be true', async () => {
    const { settled } = await settle({ ...DONE, session, usage: { inputTokens: -1 } });
    expect(settled).toEqual([{ ...DONE, session, tools: 0 }]);
  });

  it('keeps use that can be true', async () => {
    expect((await settle({ ...DONE, usage })).settled).toEqual([{ ...DONE, usage, tools: 0 }]);
  });

  const refusing = (code: 'bad-input' | 'lease-fenced') => {
    let calls = 0;
    const stored: unknown[] = [];
    const settleOnce = (_: unknown, __: string, result: TurnResult): void => {
      calls += 1;
      if (calls === 1) throw new SquadError({ code, message: 'it has 501 levels' });
      stored.push(result);
    };
    return { stored, settleOnce };
  };

  it.each([
    ['with session and use', session, { session }],
    ['without a session that cannot be stored', { ...session, id: 7 as never }, {}],
  ])('that cannot be stored is a failure with its reason, %s', async (_, given, kept) => {
    const { stored, settleOnce } = refusing('bad-input');
    const { ports, end } = open(SPAWNED);
    const outcomes: string[] = [];
    const ledger = { ...ports.ledger, settle: settleOnce };
    const told = { ...ports, ledger, onSettled: (__: string, { outcome }: TurnResult) => void outcomes.push(outcome) };
    const supervisor = createSupervisor(told as unknown as AttemptPorts, LEASE);
    supervisor.ensure('a-1');
    end({ ...DONE, session: given, usage });
    await supervisor.settled('a-1');
    expect(stored).toEqual([
      {
        ...{ outcome: 'failed', text: '', denials: [], stderrTail: '', durationMs: 0, usage, ...kept },
        failure: {
          ...{ kind: 'bad-output', mayHaveActed: true },
          message: "the turn's result cannot be stored: it has 501 levels",
        },
      },
    ]);
    expect(outcomes).toEqual(['failed']);
  });

  it('of an engine that was fenced is not stored, and the engine is told', async () => {
    const { stored, settleOnce } = refusing('lease-fenced');
    const { ports, end, broken } = open(SPAWNED);
    const ledger = { ...ports.ledger, settle: settleOnce } as unknown as AttemptPorts['ledger'];
    const supervisor = createSupervisor({ ...ports, ledger }, LEASE);
    supervisor.ensure('a-1');
    end(DONE);
    await expect(supervisor.settled('a-1')).rejects.toMatchObject({ code: 'lease-fenced' });
    expect([stored, broken]).toMatchObject([[], [['a-1', { code: 'lease-fenced' }]]]);
  });

  it('that failed while the disk takes no write is the disk’s: the turn is not settled', async () => {
    const { turns, ports, end, settled, broken } = open(SPAWNED);
    const file = join(turns, 'file');
    writeFileSync(file, '');
    const supervisor = createSupervisor({ ...ports, turnsDirectory: file }, LEASE);
    supervisor.ensure('a-1');
    end(FAILED);
    await expect(supervisor.settled('a-1')).rejects.toMatchObject({ code: 'storage-refused' });
    expect([settled, broken]).toMatchObject([[], [['a-1', { code: 'storage-refused' }]]]);
  });

  it('that completed is settled wherever its folder is', async () => {
    const { turns, ports, end, settled } = open(SPAWNED);
    const file = join(turns, 'file');
    writeFileSync(file, '');
    const supervisor = createSupervisor({ ...ports, turnsDirectory: file }, LEASE);
    supervisor.ensure('a-1');
    end(DONE);
    await supervisor.settled('a-1');
    expect(settled).toHaveLength(1);
  });

  it.each([
    ['on a disk that takes writes', ''],
    ['where the folder is gone, which says nothing of the disk', 'gone'],
  ])('that failed %s is settled, and leaves nothing', async (_, folder) => {
    const { turns, ports, end, settled } = open(SPAWNED);
    const supervisor = createSupervisor({ ...ports, turnsDirectory: join(turns, folder) }, LEASE);
    supervisor.ensure('a-1');
    end(FAILED);
    await supervisor.settled('a-1');
    expect([settled.length, readdirSync(turns)]).toEqual([1, []]);
  });
});

describe('a supervisor that has detached', HANGS, () => {
  it('without a turn leaves no error to its process', async () => {
    const unhandled = hearUnhandled();
    await open(SPAWNED).supervisor.detach();
    await setImmediate();
    expect(unhandled).toEqual([]);
  });

  it('lets its turns go, settles nothing, starts nothing and tells nothing', async () => {
    const { supervisor, did, settled, broken, end } = open(SPAWNED);
    supervisor.ensure('a-1');
    await supervisor.detach();
    end(DONE);
    await setImmediate();
    await setImmediate();
    expect(did).toEqual(['attached a-1', 'attach go of 4000000 at 20', 'detach']);
    supervisor.ensure('a-2');
    expect([settled, broken, supervisor.live()]).toEqual([[], [], ['a-1']]);
  });

  it('waits for no place that is being made, and reports no failure of it', async () => {
    const failing = Promise.withResolvers<never>();
    const { supervisor, broken, did, ports } = open(SPAWNED, {
      prepare: async () => failing.promise,
      fault: async () => 'it went wrong',
    });
    supervisor.ensure('a-1');
    await setImmediate();
    await supervisor.detach();
    const thrown = await supervisor.settled('a-1').catch(String);
    failing.reject(new Error('boom'));
    await setImmediate();
    expect(thrown).toBe('Error: this engine has detached from its turns');
    expect([broken, did, existsSync(ports.turnsDirectory)]).toEqual([[], [], true]);
  });
});

describe('what is thrown for an attempt', HANGS, () => {
  const message = 'it went wrong: TypeError: boom';

  it.each([
    ['before its process', attemptOf(), { beforeSpawn: boom }, [], 'never-started', false],
    ['with a process that ended', SPAWNED, { prepare: boom }, [], 'lost', true],
    ['with a process that does not end', SPAWNED, { prepare: boom }, [IDENTITY], 'not-stopped', true],
  ] as const)(
    '%s, fails it with what is true of its process',
    async (_, attempt, broken, alive, kind, mayHaveActed) => {
      const opened = open(attempt, { ...broken, fault });
      const { did, settled, ended } = opened;
      const processes = {
        ...opened.ports.processes,
        sweep: async (id: string) => {
          did.push(`sweep ${id}`);
          return [...alive];
        },
      } as unknown as AttemptPorts['processes'];
      const supervisor = createSupervisor({ ...opened.ports, processes }, LEASE);
      supervisor.ensure('a-1');
      await supervisor.settled('a-1');
      expect(settled).toEqual([
        {
          ...{ outcome: 'failed', text: '', denials: [], stderrTail: '', durationMs: 0 },
          failure: { kind, message, mayHaveActed },
        },
      ]);
      expect([ended, opened.broken, supervisor.live()]).toEqual([[['a-1', 'failed']], [], []]);
      expect(did.includes('sweep a-1')).toBe(mayHaveActed);
    },
  );

  it('after its settlement changes nothing', async () => {
    const { supervisor, end, settled, broken } = open(SPAWNED, { onSettled: boom, fault });
    supervisor.ensure('a-1');
    end(DONE);
    await supervisor.settled('a-1');
    expect([settled.length, broken, supervisor.live()]).toEqual([1, [], []]);
  });

  it('ends the engine where there is no place for it', async () => {
    const { supervisor, settled, broken } = open(SPAWNED, { prepare: boom });
    supervisor.ensure('a-1');
    await expect(supervisor.settled('a-1')).rejects.toThrow('boom');
    expect([settled, broken]).toMatchObject([[], [['a-1', new TypeError('boom')]]]);
  });

  it('leaves the turn to the next engine where this one detaches meanwhile', async () => {
    const swept = Promise.withResolvers<never[]>();
    const opened = open(SPAWNED, { prepare: boom, fault });
    let isSweeping = false;
    const sweep = async (): Promise<never[]> => {
      isSweeping = true;
      return swept.promise;
    };
    const processes = { ...opened.ports.processes, sweep };
    const supervisor = createSupervisor({ ...opened.ports, processes }, LEASE);
    supervisor.ensure('a-1');
    await expect.poll(() => isSweeping).toBe(true);
    await supervisor.detach();
    swept.resolve([]);
    await expect(supervisor.settled('a-1')).rejects.toThrow('boom');
    expect([opened.settled, opened.broken, supervisor.live()]).toEqual([[], [], ['a-1']]);
  });
});
