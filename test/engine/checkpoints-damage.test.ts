import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpoints } from '../../src/engine/checkpoints.ts';

const config = { configurable: { thread_id: 't', checkpoint_ns: '' } };

const metadata = { source: 'loop', step: 1, parents: {} } as const;

function temporaryFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'squad-checkpoints-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('T6 a bit that flipped in the text of a newest checkpoint is found, and the file is set aside whole', async () => {
  const directory = temporaryFolder();
  const path = join(directory, 'checkpoints.db');
  const first = openCheckpoints(directory);
  const checkpoint = { ...emptyCheckpoint(), channel_values: { phase: 'running' } };
  await first.store.put(config, checkpoint, metadata);
  first.close();
  const sound = openCheckpoints(directory);
  expect([sound.notice, sound.store.headOf('t', '')]).toEqual([undefined, checkpoint.id]);
  sound.close();
  const bytes = readFileSync(path);
  const at = bytes.indexOf('running');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const again = openCheckpoints(directory);
  expect(again.notice).toMatch(/checkpoint \S+ does not match its digest[^]*set it aside as/);
  expect(again.store.headOf('t', '')).toBeUndefined();
  again.close();
  expect(readFileSync(`${path}.damaged`)).toEqual(bytes);
  expect(existsSync(path)).toBe(true);
});

test.for(['', '-wal', '-shm', '-journal'])(
  'T6 what is no file in the place of checkpoints.db%s is set aside, and nothing that a link names is touched',
  (end) => {
    const directory = temporaryFolder();
    const [path, target] = [join(directory, 'checkpoints.db'), join(directory, 'target')];
    writeFileSync(target, 'mine');
    openCheckpoints(directory).close();
    for (const inTheWay of [() => symlinkSync(target, path + end), () => mkdirSync(path + end)]) {
      rmSync(path + end, { force: true });
      inTheWay();
      const again = openCheckpoints(directory);
      expect(again.notice).toMatch(/squad set it aside as/);
      again.close();
      expect([readFileSync(target, 'utf8'), lstatSync(path).isFile()]).toEqual(['mine', true]);
    }
  },
);

test('T6 damage that shows while a run is under way is told as damage, and that a resume goes on without the file', async () => {
  const directory = temporaryFolder();
  const path = join(directory, 'checkpoints.db');
  const { store, close } = openCheckpoints(directory);
  onTestFinished(close);
  const head = await store.put(config, emptyCheckpoint(), metadata);
  const other = new Database(path);
  other.pragma('wal_checkpoint(truncate)');
  writeFileSync(path, readFileSync(path).fill(0xa5, 4096));
  // What another process wrote makes this one read again.
  other.pragma('user_version = 1');
  other.close();
  const told = { code: 'database-corrupt', exitCode: 65, next: expect.stringContaining('`squad resume`') };
  await expect(store.put(config, emptyCheckpoint(), metadata)).rejects.toMatchObject(told);
  await expect(store.putWrites(head, [['phase', 'x']], 'task')).rejects.toMatchObject(told);
  await expect(store.getTuple(config)).rejects.toMatchObject(told);
  expect(() => store.headOf('t', '')).toThrow(expect.objectContaining(told));
});

test('T7 a disk that is full is told by its name', async () => {
  const directory = temporaryFolder();
  const { store, close } = openCheckpoints(directory);
  onTestFinished(close);
  // SQLite's own limit on the pages of a file answers exactly as a full disk does.
  store.db.pragma(`max_page_count = ${String(store.db.pragma('page_count', { simple: true }))}`);
  const large = { ...emptyCheckpoint(), channel_values: { text: 'x'.repeat(100_000) } };
  await expect(store.put(config, large, metadata)).rejects.toMatchObject({ code: 'storage-full', exitCode: 75 });
});
