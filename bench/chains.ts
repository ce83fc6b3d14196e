import { openBareLoop } from './shared/bare-loop.ts';
import { round, rowOf, type Bench } from './shared/row.ts';
import { chainOf, ended, openScriptedRoom } from './shared/scripted-room.ts';
import { turnsOf } from './shared/turn-times.ts';

const CHAINS = 16;
const STEPS = 3;
const TURN_MS = 1_000;
const PARALLEL = 8;

/** Sixteen chains of three pieces, each in a folder of its own, committed, integrated and delivered before the next. */
export const chains: Bench = {
  name: 'chains',
  run: async (folder) => {
    const planned = Array.from({ length: CHAINS }, (_, chain) => chainOf(STEPS, `chain-${chain + 1}`));
    const room = openScriptedRoom(folder, { pieces: planned.flat(), turnMs: TURN_MS, parallel: PARALLEL });
    const begin = Date.now();
    await ended(room.startRun());
    const finish = Date.now();
    const turns = turnsOf(room, planned.flat());
    const first = Math.min(...turns.map(({ start }) => start));
    const last = Math.max(...turns.map(({ end }) => end));
    const settled = Math.max(...turns.map((turn) => turn.settled));
    const loop = await openBareLoop(room, folder);
    const bare = await loop.play(planned, PARALLEL);
    const removing = await loop.remove();
    const whole = round((finish - begin) / 1000);
    return [
      rowOf(
        '16 chains × 3 turns × 1 s at 8: first START to last END, over a bare loop',
        's',
        (last - first) / 1000,
        bare,
        {
          target: { of: 'ratio', most: 1.2 },
          note: `the whole command ${whole} s; the ideal is ${(CHAINS * STEPS * TURN_MS) / PARALLEL / 1000} s`,
        },
      ),
      rowOf(
        'last settlement to the end of the command, over removing the loop’s folders',
        's',
        (finish - settled) / 1000,
        removing,
        {
          target: { of: 'squad', most: 1 },
        },
      ),
    ];
  },
};
