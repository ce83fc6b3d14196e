import { longRun } from './shared/long-run.ts';
import { rowOf, type Bench } from './shared/row.ts';

const EARLY = 100;

/** What a turn leaves in `squad.db` and `checkpoints.db`: after 2,000 of them beside the first hundred. */
export const bytes: Bench = {
  name: 'bytes',
  run: async () => {
    const { turns } = await longRun();
    const size = (turn: number): number => turns[turn]?.bytes ?? NaN;
    const count = turns.length - 1;
    const early = (size(EARLY) - size(0)) / EARLY;
    const late = (size(count) - size(EARLY)) / (count - EARLY);
    return [
      rowOf(`bytes a turn up to turn ${count}, beside up to turn ${EARLY}`, 'bytes', late, early, {
        target: { of: 'ratio', most: 1.1 },
      }),
    ];
  },
};
