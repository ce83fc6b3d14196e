import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { allowedMs } from '../support/busy-machine.ts';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { fullDiskTrial } from '../support/full-disk-trial.ts';
import { lockRounds } from '../support/lock-rounds.ts';
import { createRandom } from '../support/random.ts';
import { canMount } from '../support/small-disk.ts';
import { tearLogs } from '../support/torn-log.ts';
import { writeStorm } from '../support/write-storm.ts';

const TEARS = trialsOf({ commit: 200, nightly: 3_000, release: 20_000 });
const FULL_DISKS = trialsOf({ commit: 4, nightly: 60, release: 180 });
const STORM_SECONDS = trialsOf({ commit: 10, nightly: 600, release: 3_600 });
const LOCK_ROUNDS = trialsOf({ commit: 40, nightly: 400, release: 2_000 });

/** As long as an uncrashed run takes on a quiet machine. */
const RUN_MS = 4_000;
const MEGABYTE = 1024 * 1024;
const mountable = canMount();

it(`T5 ${TEARS} write-ahead logs that are cut or garbled leave a prefix, with all that was acknowledged before`, () => {
  const seed = chaosSeed();
  // Whole histories: each tears every boundary of its frames.
  const trials = Math.ceil(TEARS / 200) * 200;
  const { failures } = tearLogs(trials, seed);
  reportTrials({ fault: 'T5 torn log', trials, failures: failures.length, bound: '0 acknowledged commits lost', seed });
  expect(failures).toEqual([]);
});

it.skipIf(!mountable)(
  `T7 a disk that is full from any instant of a run on, ${FULL_DISKS} times${mountable ? '' : ' (skipped: no tmpfs can be mounted here)'}`,
  async () => {
    const seed = chaosSeed();
    const random = createRandom(seed);
    const failures: unknown[] = [];
    let over = 0;
    for (let trial = 0; trial < FULL_DISKS; trial += 1) {
      // One in each part of the run, anywhere within it.
      const ms = ((trial + random()) / FULL_DISKS) * RUN_MS;
      try {
        if ((await fullDiskTrial(ms)) === 'over') over += 1;
      } catch (error) {
        failures.push(new Error(`trial ${trial} of seed ${seed}: full after ${Math.round(ms)} ms`, { cause: error }));
      }
    }
    const bound = 'paused in 5 s, completed later, nothing acknowledged lost';
    const trials = FULL_DISKS - over;
    reportTrials({ fault: 'T7 full disk at an instant of a run', trials, failures: failures.length, bound, seed });
    expect(failures).toEqual([]);
    expect(trials).toBeGreaterThan(0);
  },
);

it(`T8 32 writers for ${STORM_SECONDS} s, with long readers and a lock held for 4 s`, async () => {
  await inFolder(async (directory) => {
    const mostP99 = isQuiet() ? 50 : 2_000;
    const { writes, failures, p99, longest, logBytes } = await writeStorm(directory, STORM_SECONDS * 1_000);
    const figures = `p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(0)} ms, log ${(logBytes / MEGABYTE).toFixed(1)} MB`;
    console.log(`${writes} writes; ${figures}`);
    const broken = [
      ...failures,
      ...(p99 <= mostP99 ? [] : [`p99 ${p99}`]),
      ...(longest <= allowedMs(5_000) ? [] : [`longest ${longest}`]),
      ...(logBytes <= 64 * MEGABYTE ? [] : [`log ${logBytes}`]),
    ];
    const bound = `0 BUSY; p99 ≤ ${mostP99} ms, longest ≤ 5 s, log ≤ 64 MB (${figures})`;
    reportTrials({ fault: 'T8 writes under contention', trials: writes, failures: broken.length, bound });
    expect(broken).toEqual([]);
  });
});

it(`T18 four contenders over ${LOCK_ROUNDS} killed holders`, async () => {
  await inFolder(async (directory) => {
    const { takeovers, harm } = await lockRounds(directory, LOCK_ROUNDS);
    const late = takeovers.filter((ms) => ms > allowedMs(1_000)).map((ms) => `taken over after ${ms} ms`);
    const { violations } = checkLedger(ledgerPath(directory));
    const failures = [...harm, ...late, ...violations.map(({ message }) => message)];
    const bound = `never two holders, takeover ≤ 1 s (longest ${Math.max(...takeovers)} ms)`;
    reportTrials({ fault: 'T18 SIGKILL of the lock’s holder', trials: LOCK_ROUNDS, failures: failures.length, bound });
    expect(failures).toEqual([]);
  });
});

/** Before anything is begun here: what others do to this machine says nothing about squad. */
function isQuiet(): boolean {
  const [lastMinute = 0] = loadavg();
  return lastMinute < availableParallelism();
}

async function inFolder(work: (directory: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'squad-storage-'));
  try {
    await work(join(root, '.squad'));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
