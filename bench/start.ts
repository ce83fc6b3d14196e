import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';
import { ended, LAUNCHER, openScriptedRoom } from './shared/scripted-room.ts';
import { turnTimesOf } from './shared/turn-times.ts';

const RUNS = 7;

/** From the start of the built command line to the START of the first agent. */
export const start: Bench = {
  name: 'start',
  run: async (folder) => {
    const squad: number[] = [];
    const bare: number[] = [];
    // The first two runs on a machine have no compiled code to read, and are not counted.
    for (let index = -2; index < RUNS; index += 1) {
      const own = join(folder, String(index));
      mkdirSync(own);
      const plan = { pieces: [{ id: 'only', needs: [] }], turnMs: 0, parallel: 6, state: join(folder, 'state') };
      const room = openScriptedRoom(own, plan);
      const from = Date.now();
      await ended(room.startRun());
      if (index < 0) continue;
      squad.push(Math.min(...[...turnTimesOf(room).values()].map((turn) => turn.start)) - from);
      bare.push(await milliseconds(() => void spawnSync(process.execPath, [LAUNCHER, '--version'])));
    }
    return [
      rowOf('squad run to the first agent’s START, beside squad --version', 'ms', median(squad), median(bare), {
        target: { of: 'squad', most: 600 },
        note: `fastest ${Math.min(...squad).toFixed(0)} ms`,
      }),
    ];
  },
};
