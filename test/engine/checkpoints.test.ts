import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpoints } from '../../src/engine/checkpoints.ts';

const metadata = { source: 'loop', step: 1, parents: {} } as const;
const idOf = (number: number): string => `id-${String(number).padStart(6, '0')}`;

test.each([
  ['grow', idOf],
  // As where the clock is set back before each.
  ['shrink', (number: number): string => idOf(100_000 - number)],
])(
  'T22 a thread keeps its newest checkpoints, however long it becomes, and no other loses one; ids that %s',
  async (_, nameOf) => {
    const directory = mkdtempSync(join(tmpdir(), 'squad-checkpoints-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const path = join(directory, 'checkpoints.db');
    const { store, close } = openCheckpoints(directory, 200);
    const put = async (thread: string, number: number): Promise<void> => {
      const config = { configurable: { thread_id: thread, checkpoint_ns: '', checkpoint_id: nameOf(number - 1) } };
      const checkpoint = { ...emptyCheckpoint(), id: nameOf(number), channel_values: { text: 'x'.repeat(500) } };
      const stored = await store.put(config, checkpoint, metadata);
      await store.putWrites(stored, [['text', 'y'.repeat(100)]], 'task');
    };
    await put('other', 1);
    for (let number = 1; number <= 800; number += 1) await put('long', number);
    const early = statSync(path).size;
    for (let number = 801; number <= 2_400; number += 1) await put('long', number);
    expect(store.headOf('long', '')).toBe(nameOf(2_400));
    expect(store.headOf('other', '')).toBe(nameOf(1));
    expect(store.idsAfter('long', nameOf(2_398), 9)).toEqual([nameOf(2_399), nameOf(2_400)]);
    const left = store.idsAfter('long', nameOf(1), 9);
    expect(left[1]).toBe(nameOf(2_400 - store.idsAfter('long', left[0], 9_999).length + 1));
    close();
    expect(statSync(path).size).toBeLessThan(1.2 * early);

    const db = new Database(path, { readonly: true });
    onTestFinished(() => void db.close());
    for (const table of ['checkpoints', 'writes', 'checkpoint_digest']) {
      const kept = new Set(db.prepare(`SELECT checkpoint_id FROM ${table} WHERE thread_id = 'long'`).pluck().all());
      expect(kept.size).toBeLessThanOrEqual(400);
      for (let number = 2_201; number <= 2_400; number += 1) expect(kept).toContain(nameOf(number));
    }
    // One after the other, as they were: sound for whoever opens it next.
    const again = openCheckpoints(directory);
    expect(again.notice).toBeUndefined();
    again.close();
  },
);
