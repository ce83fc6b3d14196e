import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpoints } from '../../src/engine/open-checkpoints.ts';

const config = { configurable: { thread_id: 't', checkpoint_ns: '' } };

test('T6 a bit that flipped in the text of a newest checkpoint is found, and the file is set aside whole', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'squad-checkpoints-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'checkpoints.db');
  const first = openCheckpoints(directory);
  const checkpoint = { ...emptyCheckpoint(), channel_values: { phase: 'running' } };
  await first.store.put(config, checkpoint, { source: 'loop', step: 1, parents: {} });
  first.close();
  const sound = openCheckpoints(directory);
  expect([sound.notice, sound.store.headOf('t', '')]).toEqual([undefined, checkpoint.id]);
  sound.close();
  const bytes = readFileSync(path);
  const at = bytes.indexOf('running');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const again = openCheckpoints(directory);
  expect(again.notice).toMatch(/checkpoint \S+ does not match its digest[^]*set aside as/);
  expect(again.store.headOf('t', '')).toBeUndefined();
  again.close();
  expect(readFileSync(`${path}.damaged`)).toEqual(bytes);
  expect(existsSync(path)).toBe(true);
});
