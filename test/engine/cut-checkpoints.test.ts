import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCheckpoints } from '../../src/engine/checkpoints.ts';
import { countOldCheckpoints, cutCheckpoints, shrinkCheckpoints } from '../../src/substrate/ledger/checkpoint-file.ts';

const metadata = { source: 'loop', step: 1, parents: {} } as const;

function openRoom(): string {
  const directory = mkdtempSync(join(tmpdir(), 'squad-cut-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function fill(directory: string, thread: string, count: number): Promise<void> {
  const { store, close } = openCheckpoints(directory);
  for (let number = 1; number <= count; number += 1) {
    const parent = number === 1 ? {} : { checkpoint_id: `id-${number - 1}` };
    const config = { configurable: { thread_id: thread, checkpoint_ns: '', ...parent } };
    const checkpoint = { ...emptyCheckpoint(), id: `id-${number}`, channel_values: { text: 'x'.repeat(3_000) } };
    await store.putWrites(await store.put(config, checkpoint, metadata), [['text', 'y'.repeat(500)]], 'task');
  }
  close();
}

function shrinkWholly(directory: string): number {
  let pieces = 0;
  while (shrinkCheckpoints(directory)) pieces += 1;
  return pieces;
}

describe('the checkpoints of a run that has ended', () => {
  it('are cut to the newest, from which it could continue, and those of others stay', async () => {
    const directory = openRoom();
    await fill(directory, 'ended', 300);
    await fill(directory, 'open', 20);
    expect(countOldCheckpoints(directory)).toEqual(
      new Map([
        ['ended', 299],
        ['open', 19],
      ]),
    );
    const path = join(directory, 'checkpoints.db');
    const before = statSync(path).size;
    cutCheckpoints(directory, 'ended');
    expect(countOldCheckpoints(directory)).toEqual(new Map([['open', 19]]));
    expect(statSync(path).size, 'the file has the pages still').toBeGreaterThan(before / 2);
    expect(shrinkWholly(directory)).toBeGreaterThan(0);
    expect(statSync(path).size).toBeLessThan(before / 5);

    const { store, notice, close } = openCheckpoints(directory);
    onTestFinished(close);
    expect(notice).toBeUndefined();
    const tuple = await store.getTuple({ configurable: { thread_id: 'ended' } });
    expect(tuple?.checkpoint).toMatchObject({ id: 'id-300', channel_values: { text: 'x'.repeat(3_000) } });
    expect(tuple?.pendingWrites).toEqual([['task', 'text', 'y'.repeat(500)]]);
    expect(store.idsAfter('open', 'id-1', 99)).toHaveLength(19);
    const next = { configurable: { thread_id: 'ended', checkpoint_ns: '', checkpoint_id: 'id-300' } };
    await store.put(next, { ...emptyCheckpoint(), id: 'id-301' }, metadata);
    expect(store.headOf('ended', '')).toBe('id-301');
  });

  it('are given back from a file of an older squad once most of it is empty', async () => {
    const directory = openRoom();
    const path = join(directory, 'checkpoints.db');
    await fill(directory, 'ended', 200);
    const db = new Database(path);
    db.pragma('auto_vacuum = 0');
    db.exec('VACUUM');
    db.close();
    expect(shrinkWholly(directory)).toBe(0);
    const before = statSync(path).size;
    cutCheckpoints(directory, 'ended');
    expect(shrinkWholly(directory)).toBe(1);
    expect(statSync(path).size).toBeLessThan(before / 5);
    expect(openCheckpoints(directory).store.headOf('ended', '')).toBe('id-200');
  });

  it.each([
    ['is not there', undefined],
    ['is damaged', 'SQLite format 3\0 and then something else'],
    ['is empty', ''],
  ])('are left to the next engine where the file %s', (_, content) => {
    const directory = openRoom();
    const path = join(directory, 'checkpoints.db');
    if (content !== undefined) writeFileSync(path, content);
    expect(countOldCheckpoints(directory)).toEqual(new Map());
    cutCheckpoints(directory, 'any');
    expect(shrinkWholly(directory)).toBe(0);
    expect(existsSync(path)).toBe(content !== undefined);
  });
});
