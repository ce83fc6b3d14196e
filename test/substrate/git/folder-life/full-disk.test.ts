// @module-tag all
import { statfsSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { isSquadError } from '../../../../src/model/errors.ts';
import { spread, SPREAD } from '../../../support/lane.ts';
import { createRandom } from '../../../support/random.ts';
import { canMount, openSmallDisk, type SmallDisk } from '../../../support/small-disk.ts';
import { fingerprint, removeFolders, temporaryFolder } from '../bench.ts';
import { AgentFailed, beginLife, openLife, playLife, type Life } from './life.ts';
import { expectCleanEnd, expectDelivered } from './life-end.ts';

afterEach(removeFolders);

const HOURS = { ...SPREAD, timeout: 3_600_000 };
const MEGABYTES = 48;
/** A whole run takes about so much more than its repository. */
const MOST_BYTES = 1_800_000;

const SMALL_DISK = canMount();
const title = (text: string): string => (SMALL_DISK ? text : `${text} (skipped: no tmpfs can be mounted here)`);

function fillUpTo(disk: SmallDisk, left: number): void {
  disk.fill();
  const filler = join(disk.root, 'filler');
  truncateSync(filler, statSync(filler).size - left);
}

/** Why a run did not come to its end; undefined: it did. */
async function failureOf(life: Life): Promise<unknown> {
  try {
    await playLife(life);
    return undefined;
  } catch (error) {
    return error;
  }
}

function freeOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Plays a run with so many bytes left, then with room again. Returns whether the disk was too full for it. */
async function trial(left: number): Promise<boolean> {
  const disk = openSmallDisk(MEGABYTES) ?? expect.fail('no disk');
  onTestFinished(() => disk.close());
  const life = await beginLife({ root: disk.root, record: join(temporaryFolder(), 'record') });
  const before = fingerprint(life.repository);
  fillUpTo(disk, left);
  const failure = await failureOf(life);
  if (failure !== undefined && !(failure instanceof AgentFailed)) {
    const said = isSquadError(failure) ? failure : expect.fail(String((failure as Error).stack));
    expect(said).toMatchObject({ code: 'storage-full', exitCode: 75 });
    expect(said.message).toMatch(/^[^\n]*(?:no space|free on the disk)[^\n]*$/);
    expect(said.next).toMatch(/^[^\n]*`squad resume`[^\n]*$/);
  }
  if (failure !== undefined) expect(freeOf(disk.root)).toBeLessThan(left);
  disk.free();
  const again = await openLife(life);
  await playLife(again);
  expectDelivered(again);
  await expectCleanEnd(again, before);
  for (const { workspaces } of [life, again]) await workspaces.close();
  return failure !== undefined;
}

describe.skipIf(!SMALL_DISK)(title('a disk that fills while folders are made, moved, brought back and removed'), () => {
  it('is named in one sentence, and with room again the run ends as if nothing had been', HOURS, async () => {
    const random = createRandom(32);
    const count = spread(1, 200, 4);
    let full = 0;
    for (let index = 0; index < count; index += 1) {
      const left = Math.floor(random() * MOST_BYTES);
      const isFull = await trial(left).catch((error: unknown) => {
        throw new Error(`with ${left} bytes left`, { cause: error });
      });
      full += isFull ? 1 : 0;
    }
    console.log(`${full} of ${count} runs came to a full disk`);
    expect(full).toBeGreaterThan(0);
  });
});
