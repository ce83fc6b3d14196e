import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, END, interrupt, Send, START, StateGraph, StateSchema, ReducedValue } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { CheckpointStore } from '../../src/engine/checkpoints.ts';
import { LinearSaver } from '../../src/graph/linear-saver.ts';
import { isSquadError } from '../../src/model/errors.ts';
import { closeDb, openDb, type Db } from '../../src/substrate/ledger/index.ts';

const State = new StateSchema({
  count: z.number().default(0),
  seen: new ReducedValue(z.array(z.string()).default([]), {
    reducer: (left: string[], right: string[]) => [...left, ...right],
  }),
});

/** As a store on another machine would be. */
class SlowSaver extends SqliteSaver {
  override async put(...parameters: Parameters<SqliteSaver['put']>): ReturnType<SqliteSaver['put']> {
    await sleep(5);
    return super.put(...parameters);
  }
}

let folder: string;
let db: Db;
let saver: LinearSaver;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'squad-saver-'));
  db = openDb(join(folder, 'checkpoints.db'), { applicationId: 0x53514350 });
  saver = new LinearSaver(new CheckpointStore(db));
});
afterEach(() => {
  closeDb(db);
  rmSync(folder, { recursive: true, force: true });
});

/** A loop with a fan-out of three and, at 3, a question to a person: everything squad's graph does to a saver. */
function graph(withQuestion = false) {
  return new StateGraph(State)
    .addNode(
      'route',
      (state) =>
        new Command({ goto: ['a', 'b', 'c'].map((name) => new Send('work', { name: `${name}${state.count}` })) }),
      {
        ends: ['work'],
      },
    )
    .addNode('work', (task: { name: string }) => ({ seen: [task.name] }))
    .addNode(
      'decide',
      (state) => {
        if (withQuestion && state.count === 3) interrupt('go on?');
        return new Command({ update: { count: state.count + 1 }, goto: state.count >= 5 ? END : 'route' });
      },
      { ends: ['route', END] },
    )
    .addEdge(START, 'route')
    .addEdge('work', 'decide')
    .compile({ checkpointer: saver });
}

const thread = (id: string) => ({ configurable: { thread_id: id }, recursionLimit: 1000 });

async function history(id: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const tuple of saver.list(thread(id))) ids.push(tuple.checkpoint.id);
  return ids;
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isSquadError(error) ? error.code : `not refused: ${String(error)}`;
}

describe('a thread is one line', () => {
  it('lets a run with fan-out, an interrupt and a resume pass, and edits of its head', async () => {
    const app = graph(true);
    await app.invoke({}, { ...thread('r'), durability: 'sync' });
    expect((await app.getState(thread('r'))).next).toEqual(['decide']);
    const end = await app.invoke(new Command({ resume: true }), { ...thread('r'), durability: 'sync' });
    expect(end.count).toBe(6);
    expect(end.seen).toHaveLength(18);
    await app.updateState(thread('r'), { count: 4 }, 'work');
    expect((await app.invoke(null, { ...thread('r'), durability: 'sync' })).count).toBe(6);
  });

  it.each(['sync', 'async', 'exit'] as const)(
    'refuses to run an old checkpoint again (durability %s)',
    async (durability) => {
      const app = graph();
      await app.invoke({}, { ...thread('r'), durability: 'sync' });
      const before = await history('r');
      const old = { configurable: { thread_id: 'r', checkpoint_id: before.at(-4) }, recursionLimit: 1000 };
      expect(await refusalOf(app.invoke(null, { ...old, durability }))).toBe('cursor-refused');
      expect(await history('r')).toEqual(before);
      expect((await app.getState(thread('r'))).values).toMatchObject({ count: 6 });
    },
  );

  it('refuses to edit an old checkpoint', async () => {
    const app = graph();
    await app.invoke({}, { ...thread('r'), durability: 'sync' });
    const before = await history('r');
    const old = { configurable: { thread_id: 'r', checkpoint_id: before.at(-4) } };
    expect(await refusalOf(app.updateState(old, { count: 99 }, 'work'))).toBe('cursor-refused');
    expect(await history('r')).toEqual(before);
  });

  it('takes the same checkpoint twice: a put that a crash cut short is made again', async () => {
    const app = graph();
    await app.invoke({}, { ...thread('r'), durability: 'sync' });
    const head = await saver.getTuple(thread('r'));
    if (head?.parentConfig === undefined) throw new Error('no head');
    await saver.put(head.parentConfig, head.checkpoint, head.metadata ?? { source: 'loop', step: 0, parents: {} }, {});
    expect((await history('r'))[0]).toBe(head.checkpoint.id);
  });

  it.each(['sync', 'async'] as const)(
    'takes new input on a thread that was cut short, however slow its store is (durability %s)',
    async (durability) => {
      saver = new LinearSaver(new SlowSaver(db));
      const app = graph(true);
      await app.invoke({}, { ...thread('r'), durability });
      const end = await app.invoke({ count: 4 }, { ...thread('r'), durability });
      expect(end.count).toBe(6);
    },
  );

  it('refuses an old checkpoint also where its store is slow', async () => {
    saver = new LinearSaver(new SlowSaver(db));
    const app = graph();
    await app.invoke({}, { ...thread('r'), durability: 'sync' });
    const before = await history('r');
    const old = { configurable: { thread_id: 'r', checkpoint_id: before.at(-4) }, recursionLimit: 1000 };
    expect(await refusalOf(app.invoke(null, { ...old, durability: 'async' }))).toBe('cursor-refused');
    expect(await history('r')).toEqual(before);
  });

  it.each([-1, -30, -3_600, -400 * 86_400, 400 * 86_400])(
    'runs on, asks, is edited and goes on where the clock is set by %d s, back and forth',
    async (seconds) => {
      const now = Date.now.bind(Date);
      let calls = 0;
      // A step at each fifth look at the clock.
      const clock = vi
        .spyOn(Date, 'now')
        .mockImplementation(() => now() + (Math.floor(calls++ / 5) % 2) * seconds * 1_000);
      onTestFinished(() => clock.mockRestore());
      const app = graph(true);
      await app.invoke({}, { ...thread('r'), durability: 'sync' });
      const asked = await history('r');
      expect((await app.getState(thread('r'))).config.configurable?.['checkpoint_id']).toBe(asked[0]);
      const old = { configurable: { thread_id: 'r', checkpoint_id: asked.at(-4) }, recursionLimit: 1000 };
      expect(await refusalOf(app.invoke(null, { ...old, durability: 'sync' }))).toBe('cursor-refused');
      const end = await app.invoke(new Command({ resume: true }), { ...thread('r'), durability: 'sync' });
      expect([end.count, end.seen]).toMatchObject([6, { length: 18 }]);
      await app.updateState(thread('r'), { count: 4 }, 'work');
      expect((await app.invoke(null, { ...thread('r'), durability: 'async' })).count).toBe(6);

      const all: string[] = [];
      const parents: unknown[] = [];
      for await (const { checkpoint, parentConfig } of saver.list(thread('r'))) {
        all.push(checkpoint.id);
        parents.push(parentConfig?.configurable?.['checkpoint_id']);
      }
      expect(all.slice(-asked.length)).toEqual(asked);
      expect(parents.slice(0, -1)).toEqual(all.slice(1));
      const before = { configurable: { thread_id: 'r', checkpoint_id: all[4] } };
      const page: string[] = [];
      for await (const { checkpoint } of saver.list(thread('r'), { before, limit: 3 })) page.push(checkpoint.id);
      expect(page).toEqual(all.slice(5, 8));
    },
  );

  it('keeps threads apart', async () => {
    const app = graph();
    await Promise.all(['x', 'y', 'z'].map((id) => app.invoke({}, { ...thread(id), durability: 'async' })));
    for (const id of ['x', 'y', 'z']) expect((await app.getState(thread(id))).values).toMatchObject({ count: 6 });
    await saver.deleteThread('x');
    expect(await history('x')).toEqual([]);
    expect((await history('y')).length).toBeGreaterThan(5);
  });
});
