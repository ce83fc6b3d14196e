import { setTimeout as sleep } from 'node:timers/promises';
import { round, rowOf, type Bench } from './shared/row.ts';
import { processesOf, type Part } from './shared/run-processes.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';
import { attemptsOf } from './shared/stored-events.ts';

const LIVE = 6;
const WATCHED_MS = 30_000;
/** What starting them cost is over, and V8 has given back the memory of it, which it does once, some 8 s later. */
const SETTLED_MS = 15_000;
/** The kernel counts in hundredths of a second for every program. */
const TICKS_A_SECOND = 100;

/** CPU of the engine and of the wrappers while all agents wait, as `/proc` accounts for them and for children that ended. */
export const idle: Bench = {
  name: 'idle',
  run: async (folder) => {
    const pieces = Array.from({ length: LIVE }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
    const room = openScriptedRoom(folder, { pieces, turnMs: SETTLED_MS + WATCHED_MS + 6_000, parallel: LIVE });
    const engine = room.startRun();
    const done = ended(engine);
    const attempts = (): string[] =>
      attemptsOf(room.events(), 'attempt-spawned').flatMap(({ task, attempt }) => (task === 'plan' ? [] : [attempt]));
    while (attempts().length < LIVE) await sleep(100);
    await sleep(SETTLED_MS);
    const from = performance.now();
    const before = cpuOf(engine.pid ?? 0, attempts());
    await sleep(WATCHED_MS);
    const after = cpuOf(engine.pid ?? 0, attempts());
    const seconds = (performance.now() - from) / 1000;
    const percent = (part: Part): number => ((after[part] - before[part]) / TICKS_A_SECOND / seconds) * 100;
    await done;
    const whole = percent('engine') + percent('turns');
    // At least what can be counted.
    const bare = Math.max(percent('agents'), 100 / TICKS_A_SECOND / seconds);
    return [
      rowOf(
        `engine and wrappers of ${LIVE} scripted agents that wait, beside these agents`,
        '% of a core',
        whole,
        bare,
        {
          target: { of: 'squad', most: 1 },
          asked: '< 50 %',
          note: `engine ${round(percent('engine'))} %, wrappers ${round(percent('turns'))} %`,
        },
      ),
    ];
  },
};

function cpuOf(engine: number, attempts: readonly string[]): Record<Part, number> {
  const ticks: Record<Part, number> = { engine: 0, turns: 0, agents: 0 };
  for (const one of processesOf(engine, attempts)) ticks[one.part] += one.ticks;
  return ticks;
}
