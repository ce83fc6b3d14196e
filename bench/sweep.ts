import { readdirSync } from 'node:fs';
import { machineIn } from './shared/machine.ts';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';

const SWEEPS = 30;

/** Nothing to find is the usual case: every turn ends with it. */
export const sweep: Bench = {
  name: 'sweep',
  run: async (folder) => {
    const { processes } = machineIn(folder);
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < SWEEPS; index += 1) {
      squad.push(await milliseconds(() => processes.sweep(`nobody-${index}`)));
      bare.push(await milliseconds(() => void readdirSync('/proc')));
    }
    return [rowOf('a marker nobody carries, against one readdir of /proc', 'ms', median(squad), median(bare))];
  },
};
