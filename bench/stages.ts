import { openBareLoop } from './shared/bare-loop.ts';
import { median, percentile, round, rowOf, type Bench } from './shared/row.ts';
import { ended } from './shared/scripted-room.ts';
import { momentsOf, openStagesRoom } from './shared/stages-room.ts';

const STAGES = 40;
const TURN_MS = 300;
const BARE_GAPS = 5;

/**
 * From the settlement of a stage's last turn to the spawn of the next stage's first one: the work has to be proven, merged and
 * delivered, the next stage planned, and a place and a process made for it.
 */
export const stages: Bench = {
  name: 'stages',
  run: async (folder) => {
    const room = openStagesRoom(folder, STAGES, TURN_MS);
    await ended(room.startRun());
    const settled = momentsOf(room, 'attempt-settled');
    const transitions = momentsOf(room, 'attempt-spawned')
      .slice(1)
      .map((at, index) => at - (settled[index] ?? NaN));
    const loop = await openBareLoop(room, folder);
    const bare: number[] = [];
    for (let index = 0; index < BARE_GAPS; index += 1) bare.push(await loop.gap());
    return [
      rowOf(
        `one stage’s last settlement to the next one’s spawn, p95 of ${transitions.length}`,
        'ms',
        percentile(transitions, 0.95),
        median(bare),
        {
          target: { of: 'squad', most: 500 },
          asked: '< 5 s',
          note: `median ${round(median(transitions))} ms, longest ${round(Math.max(...transitions))} ms; scripted agents`,
        },
      ),
    ];
  },
};
