import { fc } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { deliverAll, operations } from '../support/mail-deliveries.ts';
import { forge, FORGERIES } from '../support/mail-forgeries.ts';
import { killMailWriter, type Death } from '../support/mail-kills.ts';
import { createRandom } from '../support/random.ts';

const OPERATIONS = trialsOf({ commit: 1_000, nightly: 50_000, release: 500_000 });
const KILLS = trialsOf({ commit: 30, nightly: 1_000, release: 3_000 });
const TRIES = trialsOf({ commit: 1_000, nightly: 10_000, release: 32_000 });

/** One life of the writer leaves some hundred rows: a ledger of so many lives is checked in a moment. */
const LIVES_OF_A_LEDGER = 30;

it(`T10 ${OPERATIONS} operations on mail that is repeated, reordered, late and lost`, () => {
  const seed = chaosSeed();
  const failures: unknown[] = [];
  let made = 0;
  const property = fc.property(operations(200), (steps) => {
    made += steps.length;
    deliverAll(steps);
  });
  const enough = (): boolean => made >= OPERATIONS || failures.length > 3;
  for (let round = 0; !enough(); round += 1) {
    try {
      fc.assert(property, { numRuns: 10, seed: seed + round });
    } catch (error) {
      failures.push(error);
    }
  }
  const bound = 'each message of each recipient once, in the order of its sender';
  reportTrials({ fault: 'T10 operations on mail', trials: made, failures: failures.length, bound, seed });
  expect(failures).toEqual([]);
});

it(`${KILLS} kills of a program that sends, reads and settles mail`, async () => {
  const seed = chaosSeed();
  const random = createRandom(seed);
  const problems: string[] = [];
  let kills = 0;
  while (kills < KILLS) {
    const lives = Math.min(LIVES_OF_A_LEDGER, KILLS - kills);
    const deaths = Array.from({ length: lives }, () => drawDeath(random));
    const report = await killMailWriter(deaths);
    kills += report.kills;
    problems.push(...report.problems);
  }
  const bound = 'nothing acknowledged lost, twice, or out of order';
  reportTrials({ fault: 'SIGKILL of a writer of mail', trials: kills, failures: problems.length, bound, seed });
  expect(problems).toEqual([]);
});

it.each(FORGERIES)(`S10 %s, ${TRIES} times`, (title, forgeryOf) => {
  const { accepted, recorded } = forge(forgeryOf, TRIES);
  reportTrials({ fault: `S10 ${title}`, trials: TRIES, failures: accepted, bound: '0 accepted, all on record' });
  expect([accepted, recorded]).toEqual([0, TRIES]);
});

function drawDeath(random: () => number): Death {
  const pass = 1 + Math.floor(random() * 12);
  const side = random() < 0.5 ? 'before' : 'after';
  return random() < 0.5 ? { line: 1 + Math.floor(random() * 60) } : { points: `mail.${side}-commit:${pass}` };
}
