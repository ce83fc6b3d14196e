import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startAttempt } from '../../../src/engine/attempts/start-attempt.ts';
import { SquadError } from '../../../src/model/errors.ts';
import type { Failure } from '../../../src/model/failure.ts';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import type { TurnEvent } from '../../../src/model/turn-event.ts';
import { attemptOf, DONE, IDENTITY, LEASE, openAttempts } from './in-memory.ts';

const TOOL: TurnEvent = { type: 'tool-started', id: 't', tool: 'sh', kind: 'execute', input: { command: 'ls' }, at: 1 };
const USED: TurnEvent = { type: 'tool-ended', id: 't', ok: true, denied: false, at: 1 };
const REFUSAL: Failure = { kind: 'setting-unsupported', setting: 'mcp', message: 'no', mayHaveActed: false };
const SECRET = 'correct-horse-battery-staple';

describe('an attempt that is claimed', () => {
  it('has its folder, its place and its process on record before anything else', async () => {
    const opened = openAttempts(attemptOf(), {
      prepare: async (_, request) => {
        opened.did.push('prepare');
        return { type: 'ready', request: { ...request, prompt: 'ready' } };
      },
      beforeSpawn: async ({ id }, directory) => void opened.did.push(`before ${id} ${existsSync(directory)}`),
    });
    const turn = await startAttempt(opened.ports, LEASE, attemptOf());
    await setImmediate();
    expect(opened.did).toEqual([
      ...['prepare', 'before a-1 true', 'start ready in a-1'],
      ...['record a-1 4000000 20', 'started a-1', 'go'],
    ]);
    expect(statSync(join(opened.turns, 'a-1')).mode & 0o777).toBe(0o700);
    opened.end(DONE);
    expect(await turn.result).toMatchObject({ outcome: 'completed', text: 'done' });
  });

  it('needs no one who hears of it', async () => {
    const { onStarted: _, ...opened } = openAttempts(attemptOf()).ports;
    const told = openAttempts(attemptOf());
    await startAttempt({ ...opened, runtime: told.ports.runtime }, LEASE, attemptOf());
    await setImmediate();
    expect(told.did).toEqual(['start go in a-1', 'go']);
  });

  it('by an engine that died is swept, its folder emptied, and started again', async () => {
    const { ports, turns, did } = openAttempts(attemptOf());
    mkdirSync(join(turns, 'a-1', 'deep'), { recursive: true });
    writeFileSync(join(turns, 'a-1', 'prompt'), 'old');
    await startAttempt(ports, LEASE, attemptOf({ epoch: 1 }));
    await setImmediate();
    expect(did).toEqual(['sweep a-1', 'start go in a-1', 'record a-1 4000000 20', 'started-again a-1', 'go']);
    expect([readdirSync(turns), readdirSync(join(turns, 'a-1'))]).toEqual([['a-1'], ['secrets.json']]);
  });

  it('by an engine that died need not have left a folder', async () => {
    const { ports, did } = openAttempts(attemptOf());
    await startAttempt(ports, LEASE, attemptOf({ epoch: 1 }));
    expect(did).toContain('started-again a-1');
  });

  it('anew in a restored ledger keeps what the lost turn left, under another name each time', async () => {
    const { ports, turns, did } = openAttempts(attemptOf());
    for (const number of [1, 2]) {
      writeFileSync(join(mkdirSync(join(turns, 'a-1'), { recursive: true }) ?? join(turns, 'a-1'), 'prompt'), 'old');
      await startAttempt(ports, LEASE, attemptOf());
      expect(readdirSync(turns)).toHaveLength(number + 1);
    }
    expect(readdirSync(turns).toSorted()).toEqual(['a-1', 'a-1.lost-1', 'a-1.lost-2']);
    expect(did.filter((one) => one === 'sweep a-1')).toHaveLength(2);
    expect(readdirSync(join(turns, 'a-1.lost-2'))).toContain('prompt');
  });

  it('in a folder without a turn sweeps nothing', async () => {
    const { ports, turns, did } = openAttempts(attemptOf());
    mkdirSync(join(turns, 'a-1'));
    await startAttempt(ports, LEASE, attemptOf());
    expect([readdirSync(turns), did.includes('sweep a-1')]).toEqual([['a-1'], false]);
  });

  it('fails as the disk does where its folder cannot be made', async () => {
    const { ports, turns } = openAttempts(attemptOf());
    const file = join(turns, 'file');
    writeFileSync(file, '');
    const broken = { ...ports, turnsDirectory: file };
    await expect(startAttempt(broken, LEASE, attemptOf())).rejects.toMatchObject({
      code: 'storage-refused',
      message: expect.stringContaining(`${join(file, 'a-1')}: the disk`) as string,
    });
  });
});

describe('an attempt that is refused', () => {
  const refused = (failure: Failure) => ({
    ...{ outcome: 'refused', text: '', denials: [], stderrTail: '', durationMs: 0, failure },
  });

  it.each([
    ['its runtime is not known', { runtime: 'other' }, undefined],
    ['its place cannot be made', {}, REFUSAL],
  ])('ran nothing, and is a turn like any other: %s', async (_, more, failure) => {
    const attempt = attemptOf(more);
    const { ports, did } = openAttempts(attempt, {
      ...(failure && { prepare: async () => ({ type: 'refused', failure }) }),
    });
    const turn = await startAttempt(ports, LEASE, attempt);
    const unknown: Failure = {
      ...{ kind: 'setting-unsupported', setting: 'runtime', mayHaveActed: false },
      message: 'no runtime is called other',
    };
    expect(await turn.result).toMatchObject(refused(failure ?? unknown));
    expect(await turn.cancel('x')).toMatchObject({ outcome: 'refused' });
    await turn.detach();
    expect(turn.activity()).toEqual({ lastSignOfLifeAt: 0, openTools: 0 });
    expect(did).toEqual([]);
  });
});

describe('an attempt that has a process', () => {
  const spawned = attemptOf({ process: IDENTITY, spawnedAt: 20, status: 'spawned', epoch: 1 });

  it.each([
    ['in its place', spawned, 'ready', 'attach ready of 4000000 at 20'],
    [
      'from when it was claimed, where an old ledger has no time',
      { ...spawned, spawnedAt: null },
      'ready',
      'attach ready of 4000000 at 10',
    ],
    ['as it was asked for, where its place is refused now', spawned, 'refused', 'attach go of 4000000 at 20'],
  ] as const)('is taken over %s, and nothing is started or deleted', async (_, attempt, type, attached) => {
    const { ports, did, turns } = openAttempts(attempt, {
      prepare: async (__, request) =>
        type === 'ready' ? { type, request: { ...request, prompt: 'ready' } } : { type, failure: REFUSAL },
    });
    mkdirSync(join(turns, 'a-1'));
    writeFileSync(join(turns, 'a-1', 'prompt'), 'mine');
    await startAttempt(ports, LEASE, { ...attempt, epoch: 2 });
    expect(did).toEqual(['attached a-1', attached]);
    expect(readdirSync(join(turns, 'a-1'))).toEqual(['prompt']);
  });

  it('is taken over where no one hears of it', async () => {
    const { onStarted: _, ...ports } = openAttempts(spawned).ports;
    await expect(startAttempt(ports, LEASE, spawned)).resolves.toBeDefined();
  });

  it('of a runtime that is not configured now is left alone, and a person is told what to do', async () => {
    const { ports } = openAttempts(spawned);
    await expect(startAttempt(ports, LEASE, { ...spawned, runtime: 'other' })).rejects.toMatchObject({
      code: 'bad-input',
      message: 'a-1 runs on other, which is not configured here',
      next: 'Configure other again, then resume the run.',
    });
  });
});

describe('the result of a turn', () => {
  it.each([
    ['counts its tools', [TOOL, USED], undefined, 1],
    ['says that it used none', [], undefined, 0],
    ['does not say so of a runtime that reports none', [], false, null],
    ['counts what such a runtime reports all the same', [TOOL, USED], false, 1],
  ] as const)('%s', async (_, events, reportsTools, tools) => {
    const opened = openAttempts(attemptOf());
    const runtime = { ...opened.runtime, ...(reportsTools === undefined ? {} : { description: { reportsTools } }) };
    const ports = { ...opened.ports, runtime: () => runtime as typeof opened.runtime };
    const turn = await startAttempt(ports, LEASE, attemptOf());
    for (const event of events) opened.context()?.onEvent?.(event);
    opened.end(DONE);
    expect(await turn.result).toEqual({ ...DONE, tools });
  });

  it('has the tools that failed', async () => {
    const opened = openAttempts(attemptOf());
    const turn = await startAttempt(opened.ports, LEASE, attemptOf());
    opened.context()?.onEvent?.(TOOL);
    opened.context()?.onEvent?.({ ...USED, ok: false, output: 'no such file' });
    opened.end(DONE);
    expect((await turn.result).toolErrors).toEqual([
      { tool: 'sh', input: 'ls', output: 'no such file', denied: false },
    ]);
  });

  it('of a check is left as it is', async () => {
    const check = attemptOf({ kind: 'check' });
    const opened = openAttempts(check);
    const turn = await startAttempt(opened.ports, LEASE, check);
    opened.end(DONE);
    expect(await turn.result).toEqual(DONE);
  });

  it('has no secret of this engine, nor of the one that started it', async () => {
    const text = `it is ${SECRET}`;
    const first = openAttempts(attemptOf(), { redactor: createRedactor([SECRET]) });
    const events: TurnEvent[] = [];
    const ports = { ...first.ports, onEvent: (_: string, event: TurnEvent) => void events.push(event) };
    const turn = await startAttempt(ports, LEASE, attemptOf());
    first.context()?.onEvent?.({ type: 'text', text, delta: false, at: 1 });
    first.end({ ...DONE, text });
    expect(JSON.stringify([await turn.result, events])).not.toContain(SECRET);
    const spawned = attemptOf({ process: IDENTITY, spawnedAt: 20, status: 'spawned' });
    const next = openAttempts(spawned);
    const attached = await startAttempt({ ...next.ports, turnsDirectory: first.turns }, LEASE, spawned);
    next.end({ ...DONE, text });
    expect((await attached.result).text).not.toContain(SECRET);
  });
});

describe('what a turn reports', () => {
  const SESSION: TurnEvent = { type: 'session-announced', id: 's', resumed: false, mcp: [], at: 1 };

  it('is passed on, and its session and first tool are on record once', async () => {
    const events: unknown[] = [];
    const opened = openAttempts(attemptOf(), { onEvent: (id, event) => events.push([id, event.type]) });
    await startAttempt(opened.ports, LEASE, attemptOf());
    for (const event of [SESSION, { ...SESSION, id: 'other' }, TOOL, USED, TOOL]) opened.context()?.onEvent?.(event);
    expect(opened.told).toEqual([
      ['a-1', 'session-announced', { session: 's', resumed: false, model: null }],
      ['a-1', 'first-tool', { tool: 'sh', kind: 'execute' }],
    ]);
    const types = ['session-announced', 'session-announced', 'tool-started', 'tool-ended', 'tool-started'];
    expect(events).toEqual(types.map((type) => ['a-1', type]));
  });

  it('is not taken for its session where it is something else', async () => {
    const opened = openAttempts(attemptOf());
    await startAttempt(opened.ports, LEASE, attemptOf());
    opened.context()?.onEvent?.(TOOL);
    expect(opened.told).toEqual([['a-1', 'first-tool', { tool: 'sh', kind: 'execute' }]]);
  });

  it('names the model where the runtime does', async () => {
    const opened = openAttempts(attemptOf());
    await startAttempt(opened.ports, LEASE, attemptOf());
    opened.context()?.onEvent?.({ ...SESSION, model: 'opus', resumed: true });
    expect(opened.told).toEqual([['a-1', 'session-announced', { session: 's', resumed: true, model: 'opus' }]]);
  });

  it.each([
    ['stops the run where the disk is full', new SquadError({ code: 'storage-full', message: 'full' }), 1],
    ['does not stop it for any other fault', new TypeError('boom'), 0],
  ])('%s, and the turn goes on', async (_, thrown, times) => {
    const broken: unknown[] = [];
    const events: string[] = [];
    const opened = openAttempts(attemptOf(), {
      onBroken: (id, error) => broken.push([id, error]),
      onEvent: (__, { type }) => events.push(type),
    });
    const observe = (): never => {
      throw thrown;
    };
    const ports = { ...opened.ports, ledger: { ...opened.ports.ledger, observe } };
    await startAttempt(ports, LEASE, attemptOf());
    opened.context()?.onEvent?.(SESSION);
    expect(broken).toEqual(times === 0 ? [] : [['a-1', thrown]]);
    expect(events).toEqual(['session-announced']);
    const { onBroken: _told, ...silent } = ports;
    await startAttempt(silent, LEASE, attemptOf());
    expect(() => opened.context()?.onEvent?.(SESSION)).not.toThrow();
  });
});
