// @module-tag all
import { writeSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { chaosSeed, reportTrials } from '../support/chaos-row.ts';
import { KILLED, openKilledRoom } from '../support/damages/room.ts';
import { damageTrial, PAIRS } from '../support/damages/trial.ts';
import { SPREAD, spread } from '../support/lane.ts';
import { createRandom } from '../support/random.ts';

/** Words of places and harms: `SQUAD_DAMAGE_ONLY='run.git|pipe'` tries these pairs alone, all of them. */
const only = process.env['SQUAD_DAMAGE_ONLY'];
const TRIALS = only === undefined ? spread(1, PAIRS.length, 2) : PAIRS.length;

it(
  'T6 whatever comes to harm in the state of a killed run: check, status and resume agree, name it, and say what restores it',
  { ...SPREAD, timeout: 120_000 + TRIALS * 60_000 },
  async () => {
    const killed = await openKilledRoom(KILLED);
    onTestFinished(() => killed.close());
    const seed = chaosSeed();
    const random = createRandom(seed);
    const chosen = PAIRS.filter(({ place, harm }) => new RegExp(only ?? '').test(`${place} ${harm}`));
    const order = only === undefined ? chosen.toSorted(() => random() - 0.5) : chosen;
    const wrong: string[] = [];
    let trials = 0;
    for (const pair of order) {
      if (trials === TRIALS) break;
      const trial = await damageTrial(killed, pair, seed);
      if (trial.said === undefined) continue;
      trials += 1;
      for (const one of trial.wrong) writeSync(2, `WRONG ${one}\n`);
      if (process.env['SQUAD_DAMAGE_SHOW'] === '1') writeSync(2, `${trial.said}\n`);
      wrong.push(...trial.wrong);
    }
    reportTrials({ fault: 'T6 damage in the state folder', trials, failures: wrong.length, bound: '0 failures', seed });
    expect(wrong).toEqual([]);
  },
);
