import { setTimeout as sleep } from 'node:timers/promises';
import { median, rowOf, type Bench } from './shared/row.ts';
import { ended, openScriptedRoom } from './shared/scripted-room.ts';
import { attemptsOf } from './shared/stored-events.ts';

const TRIES = 9;

/** A second `squad run` beside a running one, from its start to its end, beside `squad --version`. */
export const busy: Bench = {
  name: 'busy',
  run: async (folder) => {
    const room = openScriptedRoom(folder, { pieces: [{ id: 'long', needs: [] }], turnMs: 20_000, parallel: 6 });
    const done = ended(room.startRun());
    while (!attemptsOf(room.events(), 'attempt-spawned').some(({ task }) => task === 'long')) await sleep(100);
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < TRIES; index += 1) {
      const second = room.command('resume');
      if (second.code === 0) throw new Error('the second engine was not refused');
      squad.push(second.ms);
      bare.push(room.command('--version').ms);
    }
    const says = room.command('resume').stderr.trim();
    await done;
    return [
      rowOf(
        'squad resume until it has said that an engine is running, beside squad --version',
        'ms',
        median(squad),
        median(bare),
        {
          target: { of: 'squad', most: 250 },
          note: `it says: ${says}`,
        },
      ),
    ];
  },
};
