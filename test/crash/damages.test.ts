import { rmSync, writeSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { chaosSeed, reportTrials } from '../support/chaos-row.ts';
import { damageTrial, HARMS, killedRoom, PLACES } from '../support/damage-trial.ts';
import { ALL, LANE } from '../support/lane.ts';
import { createRandom } from '../support/random.ts';
import { openRunRoom } from '../support/run-room.ts';
import { FAN_OUT } from '../support/run-scenarios.ts';

const asked = process.env['SQUAD_CHAOS_TRIALS'];
const TRIALS = asked === undefined ? { commit: 4, all: 12, night: 144 }[LANE] : Number(asked);

it(
  'T6 whatever comes to harm in the state folder of a killed run: check, status and resume agree, and no one says done that is not',
  { ...ALL, timeout: 60_000 + TRIALS * 30_000 },
  async () => {
    const room = openRunRoom(FAN_OUT);
    onTestFinished(() => {
      room.close();
      rmSync(`${room.root}.kept`, { recursive: true, force: true });
    });
    await killedRoom(room);
    const seed = chaosSeed();
    const random = createRandom(seed);
    const places = Object.keys(PLACES);
    // Every pair of a place and a harm once, in an order of this seed, before one comes again.
    const pairs = places.flatMap((place) => HARMS.map((harm) => ({ place, harm, at: random() })));
    const order = pairs.toSorted((one, other) => one.at - other.at);
    const wrong: string[] = [];
    let trials = 0;
    for (; trials < TRIALS; trials += 1) {
      const { place, harm } = order[trials % order.length] ?? { place: 'ledger', harm: 'gone' };
      const trial = await damageTrial(room, { place, harm, random });
      for (const one of trial.wrong) writeSync(2, `WRONG ${one}\n`);
      if (process.env['SQUAD_SHOW_TRIALS'] === '1') writeSync(2, `${trial.said}\n`);
      wrong.push(...trial.wrong);
    }
    reportTrials({ fault: 'T6 damage in the state folder', trials, failures: wrong.length, bound: '0 failures', seed });
    expect(wrong).toEqual([]);
  },
);
