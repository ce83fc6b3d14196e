import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Send } from '@langchain/langgraph';
import { emptyCheckpoint, MemorySaver } from '@langchain/langgraph-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointStore } from '../../src/engine/checkpoints.ts';
import { LinearSaver } from '../../src/graph/linear-saver.ts';
import { plainSerde } from '../../src/graph/plain-serde.ts';
import { closeDb, openDb, type Db } from '../../src/substrate/ledger/index.ts';

const PLANTED: Readonly<Record<string, unknown>> = {
  'a constructor of LangChain': {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'HumanMessage'],
    kwargs: { content: 'x' },
  },
  'a secret of LangChain': { lc: 1, type: 'secret', id: ['ANTHROPIC_API_KEY'] },
  'a constructor of LangGraph': { lc: 2, type: 'constructor', id: ['RegExp'], args: ['(a+)+$', ''] },
  'a map of LangGraph': { lc: 2, type: 'constructor', id: ['Map'], args: [[['a', 1]]] },
  'something unknown of it': { lc: 99 },
  'one deep within': { a: [{ b: { c: [1, { lc: 2, type: 'undefined' }] } }] },
};

let folder: string;
let db: Db;
let saver: LinearSaver;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'squad-s11-')));
  db = openDb(join(folder, 'checkpoints.db'), { applicationId: 0x53514350 });
  saver = new LinearSaver(new CheckpointStore(db));
});
afterEach(() => {
  closeDb(db);
  rmSync(folder, { recursive: true, force: true });
});

describe('S11: planted objects in checkpoints', () => {
  it('S11: are revived by the serialiser that LangGraph brings', async () => {
    const revived: unknown = await new MemorySaver().serde.loadsTyped(
      'json',
      JSON.stringify(PLANTED['a constructor of LangGraph']),
    );
    expect(revived).toBeInstanceOf(RegExp);
  });

  it.each(Object.entries(PLANTED))(
    'S11: %s is refused wherever it stands, and nothing is revived',
    async (_name, value) => {
      const refused = expect.objectContaining({ code: 'database-corrupt', exitCode: 65 }) as Error;
      for (const column of ['checkpoint', 'metadata', 'value']) {
        const config = await stored(`thread-${column}`);
        const text = JSON.stringify({ ...emptyCheckpoint(), channel_values: { board: value } });
        if (column === 'value') db.prepare('UPDATE writes SET value = ?').run(Buffer.from(JSON.stringify(value)));
        else db.prepare(`UPDATE checkpoints SET ${column} = ?`).run(Buffer.from(text));
        await expect(saver.getTuple(config)).rejects.toEqual(refused);
        await expect(listed(config)).rejects.toEqual(refused);
      }
    },
  );

  it.each([
    ['bytes', 'x'],
    ['pickle', '{}'],
    ['json', '{"a":'],
    ['json', ''],
    ['json', '{"__proto__":{"polluted":true}}'],
    ['json', `${'['.repeat(50_000)}{"lc":1}${']'.repeat(50_000)}`],
  ])('S11: %s %.20s is refused', async (type, text) => {
    await expect(Promise.resolve().then(async () => plainSerde.loadsTyped(type, text))).rejects.toMatchObject({
      code: 'database-corrupt',
    });
    expect({}).not.toHaveProperty('polluted');
  });

  it('S11: what squad and LangGraph store is stored, and anything with a class is not', async () => {
    const through = async (value: unknown): Promise<unknown> =>
      plainSerde.loadsTyped(...(await plainSerde.dumpsTyped(value)));
    expect(await through({ a: [1, null, 'x', { b: true }] })).toEqual({ a: [1, null, 'x', { b: true }] });
    expect(await through(undefined)).toBeNull();
    expect(await through([new Send('node', { a: 1 })])).toEqual([{ node: 'node', args: { a: 1 } }]);
    expect(await through(new TypeError('no'))).toEqual({ name: 'TypeError', message: 'no' });
    for (const value of [new Map(), { deep: [new Set()] }, new Uint8Array(2), /x/, { lc: 1 }]) {
      await expect(Promise.resolve().then(async () => plainSerde.dumpsTyped(value))).rejects.toThrow(/checkpoint/);
    }
  });
});

async function stored(thread: string) {
  db.exec('DROP TABLE IF EXISTS checkpoints; DROP TABLE IF EXISTS writes');
  saver = new LinearSaver(new CheckpointStore(db));
  const config = await saver.put(
    { configurable: { thread_id: thread, checkpoint_ns: '' } },
    emptyCheckpoint(),
    { source: 'loop', step: 1, parents: {} },
    {},
  );
  await saver.putWrites(config, [['board', ['x']]], 'task');
  return config;
}

async function listed(config: Parameters<LinearSaver['list']>[0]): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const tuple of saver.list(config)) all.push(tuple);
  return all;
}
