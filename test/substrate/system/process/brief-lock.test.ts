import { createHash } from 'node:crypto';
import { lutimesSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { briefly } from '../../../../src/substrate/system/process/brief-lock.ts';
import { ownOwner } from '../../../../src/substrate/system/process/owner.ts';

const LONG_AGO = new Date('2026-01-01');
const DEAD = JSON.stringify({ ...ownOwner(), startTime: '1' });
const FORMER_START = JSON.stringify({ ...ownOwner(), bootId: 'another' });
/** Under which the lock of that holder is removed. */
const BURIAL = createHash('sha256').update(DEAD).digest('hex').slice(0, 12);

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function lockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'squad-brief-lock-'));
  folders.push(folder);
  return join(folder, 'the.lock');
}

/** How many at once were at work, of so many that want the lock. */
async function mostAtOnce(path: string, count: number): Promise<number> {
  let now = 0;
  let most = 0;
  const one = async (): Promise<void> =>
    briefly(path, async () => {
      most = Math.max(most, (now += 1));
      await sleep(2);
      now -= 1;
    });
  await Promise.all(Array.from({ length: count }, one));
  return most;
}

describe.concurrent('a brief lock', () => {
  it('is never taken from a live process, however old it looks', async () => {
    const path = lockPath();
    const order: string[] = [];
    const gate = Promise.withResolvers<undefined>();
    const first = briefly(path, async () => {
      await gate.promise;
      order.push('first');
    });
    await sleep(10);
    lutimesSync(path, LONG_AGO, LONG_AGO);
    const second = briefly(path, () => void order.push('second'));
    // Longer than until it looks at the holder.
    await sleep(300);
    expect(order).toEqual([]);
    gate.resolve(undefined);
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('says which process has it, in place of waiting for ever', async () => {
    const path = lockPath();
    const refused = briefly(path, async () => briefly(path, () => undefined, 50));
    await expect(refused).rejects.toMatchObject({
      code: 'workspace-busy',
      message: expect.stringContaining(`process ${process.pid}`),
    });
  });

  it.each([
    { what: 'killed', leave: (path: string) => symlinkSync(DEAD, path) },
    { what: 'of a former start of the machine', leave: (path: string) => symlinkSync(FORMER_START, path) },
    { what: 'without a name', leave: (path: string) => writeFileSync(path, '') },
    {
      what: 'killed, as is the one that removed its lock',
      leave: (path: string) => ['', `.${BURIAL}`].forEach((end) => symlinkSync(DEAD, path + end)),
    },
  ])('of a holder that is $what goes to one after the other', async ({ leave }) => {
    const path = lockPath();
    leave(path);
    expect(await mostAtOnce(path, 12)).toBe(1);
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });
});
