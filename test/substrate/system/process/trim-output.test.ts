import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { trimOutput } from '../../../../src/substrate/system/process/system-processes.ts';
import { createTurnBench } from './turn-bench.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

function fileOf(content: Buffer | string): string {
  const path = join(bench.directory(), 'stdout');
  writeFileSync(path, content);
  return path;
}

describe('trimming a log', () => {
  test('keeps head and tail byte for byte and says between them what is gone', async () => {
    const content = Buffer.concat([
      Buffer.alloc(3_000_000, 'h'),
      Buffer.alloc(9_000_000, 'm'),
      Buffer.alloc(2_000_000, 't'),
    ]);
    const path = fileOf(content);
    expect(await trimOutput(path, { head: 3_000_000, tail: 2_000_000 })).toBe(9_000_000);
    const note = '\n{"type":"squad-output-trimmed","droppedBytes":9000000}\n';
    const wanted = Buffer.concat([content.subarray(0, 3_000_000), Buffer.from(note), content.subarray(12_000_000)]);
    expect(readFileSync(path).equals(wanted)).toBe(true);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(readdirSync(dirname(path))).toEqual(['stdout']);
  });

  test('twice is once', async () => {
    const path = fileOf('x'.repeat(10_000));
    expect(await trimOutput(path, { head: 1000, tail: 1000 })).toBe(8000);
    const once = readFileSync(path);
    expect(await trimOutput(path, { head: 1000, tail: 1000 })).toBe(0);
    expect(readFileSync(path).equals(once)).toBe(true);
  });

  test('leaves a small file alone, and an absent one absent', async () => {
    const path = fileOf('x'.repeat(2000));
    expect(await trimOutput(path, { head: 1000, tail: 1000 })).toBe(0);
    expect(statSync(path).size).toBe(2000);
    expect(await trimOutput(join(bench.root, 'absent'), { head: 1, tail: 1 })).toBe(0);
  });
});
