import { expect, it } from 'vitest';
import { endsAtItsLimit, stopsWhileItPrints } from '../chaos-agent/short-lines.ts';
import { PRINTERS } from '../chaos-agent/chaos-bench.ts';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { createRandom } from '../support/random.ts';

const BYTES = 2 * 1024 ** 3;
const STOPS = trialsOf({ commit: 6, nightly: 40, release: 200 });

it.each(PRINTERS)('T13 2 GB of short lines by %s: ended by its limit, idle 5 s later, 50 MB at most', async (cli) => {
  await endsAtItsLimit(cli, BYTES);
});

it.each(PRINTERS)('T13 2 GB of short events by %s: the same', async (cli) => {
  await endsAtItsLimit(cli, BYTES, { says: 'y' });
});

it(`T12 ${STOPS} stops while 2 GB of short lines are printed and read`, async () => {
  const seed = chaosSeed();
  const random = createRandom(seed);
  const failures: unknown[] = [];
  let trials = 0;
  for (; trials < STOPS; trials += 1) {
    const cli = PRINTERS[trials % PRINTERS.length]!;
    // The turn has been ended after about ten seconds; its engine has its hands full until then.
    await stopsWhileItPrints(cli, BYTES, random() * 12_000).catch((error: unknown) => failures.push(error));
  }
  reportTrials({
    fault: 'T12 stop while a turn floods',
    trials,
    failures: failures.length,
    bound: 'each within 10 s',
    seed,
  });
  expect(failures).toEqual([]);
});
