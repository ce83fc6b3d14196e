import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownFilesIn, requireOwnFiles } from '../../../../src/substrate/system/process/own-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'squad-own-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A clock on which only sleep passes time. `after`: what happens at each sleep. */
function clockThat(after: (slept: number) => void) {
  let now = 0;
  return {
    monotonic: () => now,
    sleep: (ms: number) => {
      now += ms;
      after(now);
      return Promise.resolve();
    },
  };
}

it.each([0, 250, 10_000, 59_750])('waits for a file that comes back after %d ms', async (ms) => {
  const path = join(folder, 'turn-wrapper.sh');
  const clock = clockThat((now) => {
    if (now >= ms) writeFileSync(path, '');
  });
  if (ms === 0) writeFileSync(path, '');
  await requireOwnFiles([path], clock);
  expect(clock.monotonic()).toBe(ms);
});

it('pauses the run after a minute, with the file and the command that goes on', async () => {
  const path = join(folder, 'turn-wrapper.sh');
  const clock = clockThat(() => undefined);
  await expect(requireOwnFiles([path], clock)).rejects.toMatchObject({
    code: 'storage-refused',
    exitCode: 75,
    message: expect.stringContaining(path),
    next: expect.stringContaining('`squad resume`'),
  });
  expect(clock.monotonic()).toBe(60_000);
});

it('knows which arguments are files of squad', () => {
  const own = fileURLToPath(new URL('../../../../src/substrate/system/process/own-files.ts', import.meta.url));
  expect(ownFilesIn(['--flag', own, '/bin/sh', 'own-files.ts'])).toEqual([own]);
});
