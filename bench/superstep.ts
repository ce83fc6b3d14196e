import { longRun } from './shared/long-run.ts';
import { rowOf, type Bench } from './shared/row.ts';

const EARLY = 100;
const LATE = 10_000;
const WINDOW = 400;

/** Whether a night of work slows the engine down: time for a superstep late in a run over early in it, the plan growing. */
export const superstep: Bench = {
  name: 'superstep',
  run: async () => {
    const { supersteps, turns } = await longRun();
    const last = supersteps.length - 1;
    const meanMs = (from: number): number =>
      ((supersteps[from + WINDOW]?.at ?? NaN) - (supersteps[from]?.at ?? NaN)) / WINDOW;
    const perStep = supersteps.length / turns.length;
    const cpuMs = (from: number): number => {
      const [one, other] = [from, from + WINDOW].map(
        (step) => turns[Math.min(turns.length - 2, Math.floor(step / perStep))],
      );
      return ((other?.cpuMs ?? NaN) - (one?.cpuMs ?? NaN)) / WINDOW;
    };
    const late = Math.min(LATE, last) - WINDOW;
    return [
      rowOf(`superstep ${late + WINDOW} over superstep ${EARLY}`, 'ms', meanMs(late), meanMs(EARLY), {
        target: { of: 'ratio', most: 1.1 },
      }),
      rowOf('the same in time of the processor', 'ms', cpuMs(late), cpuMs(EARLY)),
    ];
  },
};
