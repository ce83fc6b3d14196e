// @module-tag all
import { expect, it, onTestFinished } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { findService } from '../../src/squad/service/service-lock.ts';
import { ledgerPath, readLockHolder } from '../../src/substrate/ledger/index.ts';
import { NIGHT, some, SPREAD } from '../support/lane.ts';
import { createRandom } from '../support/random.ts';
import { killAll } from '../support/marked-pids.ts';
import { stateOf } from '../support/state.ts';
import { NIGHTLY, openServeBench, until, type ServeBench } from '../runs/serve-bench.ts';

const OTHER = { ...NIGHTLY, name: 'other', cron: '30 2 * * *' };

/** Between the slot and the first turn of its run. */
const POINTS = [
  'service.before-slot',
  'submitted.stored',
  'submitted.named',
  'submitted.recorded',
  'slot.submitted',
  'slot.recorded',
  'service.before-engine',
  'submitted.branch',
  'attempt.claimed',
];

/** In all, and on one repository: `SQUAD_KILLS=500` for a longer trial. */
const KILLS = Number(process.env['SQUAD_KILLS'] ?? 60);
const EACH = 10;

async function openBench(): Promise<ServeBench> {
  const bench = await openServeBench([NIGHTLY, OTHER]);
  onTestFinished(() => bench.end());
  return bench;
}

/** One run for each slot, each as without a kill. */
async function endsWell(bench: ServeBench): Promise<void> {
  await bench.serve();
  const isDone = async (): Promise<boolean> => Object.values(await bench.states()).join(' ') === 'done done';
  await until(isDone, async () => [await bench.states(), bench.log()]);
  const names = Object.keys(await bench.states()).toSorted();
  expect(names).toEqual([expect.stringMatching(/^nightly-\d{6}-0200z$/), expect.stringMatching(/^other-\d{6}-0230z$/)]);
  for (const name of names) expect(bench.fileOnBranch('a.txt', `squad/${name}`)).toBe('a');
  expect(checkLedger(ledgerPath(stateOf(bench.repository))).problems).toEqual([]);
}

function killService(bench: ServeBench, more: readonly number[] = []): void {
  const service = findService(stateOf(bench.repository))?.holder?.pid;
  killAll([...(service === undefined ? [] : [service]), ...more]);
}

it.each(some(POINTS, 0, POINTS.length))(
  'a kill at %s, of the service, the process of a slot or the engine: every slot is one run',
  { ...SPREAD, timeout: 300_000 },
  async (point) => {
    const bench = await openBench();
    await bench.serve({ SQUAD_FAILPOINTS: `${point}=kill` }).catch(() => undefined);
    const wasHit = (): boolean =>
      findService(stateOf(bench.repository)) === null || /ended by SIGKILL|engine ended/.test(bench.log());
    await until(wasHit, () => bench.log());
    killService(bench);
    await endsWell(bench);
  },
);

it(
  'kills at random moments, of service, engine or both: every slot is one run',
  { ...NIGHT, timeout: 120_000 + KILLS * 30_000 },
  async () => {
    const random = createRandom(34);
    for (let left = KILLS; left > 0; left -= EACH) {
      const bench = await openBench();
      for (let kill = 0; kill < Math.min(EACH, left); kill += 1) {
        if (findService(stateOf(bench.repository)) === null) await bench.serve();
        await sleep(random() * 1_500);
        const engine = readLockHolder(stateOf(bench.repository))?.pid;
        const victims = engine === undefined ? [] : [engine];
        if (random() < 0.3) killAll(victims);
        else killService(bench, random() < 0.5 ? victims : []);
      }
      killService(bench);
      await endsWell(bench);
    }
  },
);
