import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';
import { attemptsOf, ended, LAUNCHER, openScriptedRoom } from './shared/scripted-room.ts';

const RUNS = 7;

/** From the start of the built command line to the first agent, by the ledger's own time of the spawn. */
export const start: Bench = {
  name: 'start',
  run: async (folder) => {
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < RUNS; index += 1) {
      const own = join(folder, String(index));
      mkdirSync(own);
      const room = await openScriptedRoom(own, { pieces: [{ id: 'only', needs: [] }], turnMs: 0, parallel: 6 });
      const from = Date.now();
      await ended(room.startRun());
      squad.push((attemptsOf(room.events(), 'attempt-spawned')[0]?.at ?? NaN) - from);
      bare.push(await milliseconds(() => void spawnSync(process.execPath, [LAUNCHER, '--version'])));
    }
    return [
      rowOf('squad run to its first spawn, beside squad --version', 'ms', median(squad), median(bare), {
        target: { of: 'squad', most: 600 },
        note: `fastest ${Math.min(...squad)} ms`,
      }),
    ];
  },
};
