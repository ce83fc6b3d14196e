import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseStat } from '../src/substrate/process/process-table.ts';
import { round, rowOf, type Bench } from './shared/row.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';
import { attemptsOf } from './shared/stored-events.ts';

const LIVE = 6;
const WATCHED_MS = 25_000;
/** The kernel counts in hundredths of a second for every program. */
const TICKS_A_SECOND = 100;

/** CPU of the engine and of the wrappers while all agents wait, as `/proc` accounts for them and for children that ended. */
export const idle: Bench = {
  name: 'idle',
  run: async (folder) => {
    const pieces = Array.from({ length: LIVE }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
    const room = openScriptedRoom(folder, { pieces, turnMs: WATCHED_MS + 6_000, parallel: LIVE });
    const engine = room.startRun();
    const done = ended(engine);
    const attempts = (): string[] =>
      attemptsOf(room.events(), 'attempt-spawned').flatMap(({ task, attempt }) => (task === 'plan' ? [] : [attempt]));
    while (attempts().length < LIVE) await sleep(100);
    // What starting them cost is over.
    await sleep(2_000);
    const marks = new Set(attempts().map((attempt) => `SQUAD_TURN_ID=${attempt}`));
    const from = performance.now();
    const before = cpuOf(engine.pid ?? 0, marks);
    await sleep(WATCHED_MS);
    const after = cpuOf(engine.pid ?? 0, marks);
    const seconds = (performance.now() - from) / 1000;
    const percent = (part: Part): number => ((after[part] - before[part]) / TICKS_A_SECOND / seconds) * 100;
    await done;
    const whole = percent('engine') + percent('wrappers');
    // At least what can be counted.
    const bare = Math.max(percent('agents'), 100 / TICKS_A_SECOND / seconds);
    return [
      rowOf(`engine and wrappers of ${LIVE} agents that wait, beside these agents`, '% of a core', whole, bare, {
        target: { of: 'squad', most: 3 },
        note: `engine ${round(percent('engine'))} %, wrappers ${round(percent('wrappers'))} %`,
      }),
    ];
  },
};

type Part = 'engine' | 'wrappers' | 'agents';

/** Ticks since each began, with those of the children that they have waited for. */
function cpuOf(engine: number, marks: ReadonlySet<string>): Record<Part, number> {
  const ticks: Record<Part, number> = { engine: 0, wrappers: 0, agents: 0 };
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? entryOf(name) : []));
  const own = new Set([engine]);
  for (let size = 0; size < own.size;) {
    size = own.size;
    for (const { pid, parent } of all) if (own.has(parent)) own.add(pid);
  }
  for (const { pid, ticks: used } of all) {
    const isMarked = textOf(`${pid}/environ`)
      .split('\0')
      .some((variable) => marks.has(variable));
    if (isMarked) ticks[isAgent(pid) ? 'agents' : 'wrappers'] += used;
    else if (own.has(pid)) ticks.engine += used;
  }
  return ticks;
}

/** The wrapper's own arguments name the player too, but do not begin with it. */
function isAgent(pid: number): boolean {
  const [program = '', script = ''] = textOf(`${pid}/cmdline`).split('\0');
  return program.endsWith('node') && script.endsWith('player.mjs');
}

function entryOf(name: string): { pid: number; parent: number; ticks: number }[] {
  const text = textOf(`${name}/stat`);
  const entry = parseStat(text);
  if (entry === undefined) return [];
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime: fields 14 to 17 of proc(5).
  const ticks = fields.slice(14 - 3, 18 - 3).reduce((sum, field) => sum + Number(field), 0);
  return [{ pid: entry.pid, parent: entry.parent, ticks }];
}

/** Empty: it has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}
