import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { median, round, rowOf, type Bench, type Row } from './shared/row.ts';
import { chainOf, ended, openScriptedRoom, type ScriptedRoom } from './shared/scripted-room.ts';
import { turnsOf } from './shared/turn-times.ts';

/** Of the repository; `SQUAD_FOLDERS_FILES` names others, separated by commas. */
const SIZES = (process.env['SQUAD_FOLDERS_FILES'] ?? '3000,20000').split(',').map(Number);
const STEPS = 10;
const TURN_MS = 3_000;
const CHAINS = 16;
const SHORT_MS = 1_000;
const PARALLEL = 8;

/** What the size of a repository costs: from an agent's END to the next one's START, the end of the command, and the second run. */
export const folders: Bench = {
  name: 'folders',
  run: async (folder) => {
    const small = await gapOf(join(folder, 'small'), 1);
    const rows: Row[] = [];
    for (const files of SIZES) {
      const own = join(folder, `${files}`);
      const { ms, room } = await gapOf(own, files);
      const name = `an agent’s END to the next one’s START in ${files} files, beside one file, p50`;
      const most = await lastLooks(room);
      rows.push(rowOf(name, 'ms', ms, small.ms, { target: { of: 'ratio', most: 1.2 }, note: most }));
      rows.push(...(await manyTurns(join(folder, `many-${files}`), files)));
    }
    return rows;
  },
};

async function gapOf(folder: string, files: number): Promise<{ ms: number; room: ScriptedRoom }> {
  const pieces = chainOf(STEPS);
  const room = openScriptedRoom(folder, { pieces, turnMs: TURN_MS, parallel: 2, files });
  await ended(room.startRun());
  const turns = turnsOf(room, pieces);
  const gaps = turns.slice(1).map(({ start }, index) => start - (turns[index]?.end ?? NaN));
  return { ms: round(median(gaps)), room };
}

/** One `git status` there. */
async function lastLooks({ repository }: ScriptedRoom): Promise<string> {
  const times = Array.from({ length: 5 }, () => {
    const from = performance.now();
    execFileSync('git', ['status', '--porcelain'], { cwd: repository });
    return performance.now() - from;
  });
  return Promise.resolve(`one git status: ${round(median(times))} ms`);
}

async function manyTurns(folder: string, files: number): Promise<readonly Row[]> {
  const planned = Array.from({ length: CHAINS }, (_, chain) => chainOf(3, `chain-${chain + 1}`)).flat();
  const room = openScriptedRoom(folder, { pieces: planned, turnMs: SHORT_MS, parallel: PARALLEL, files });
  const begin = Date.now();
  await ended(room.startRun());
  const finish = Date.now();
  const turns = turnsOf(room, planned);
  const last = Math.max(...turns.map(({ end }) => end));
  const first = Math.min(...turns.map(({ start }) => start));
  const ideal = (planned.length * SHORT_MS) / PARALLEL;
  const spare = join(room.state(), 'work', '.spare');
  const left = existsSync(spare) ? readdirSync(spare).length : 0;
  return [
    rowOf(
      `16 chains × 3 turns × 1 s at 8 in ${files} files, the whole command, over the agents’ time`,
      's',
      (finish - begin) / 1000,
      ideal / 1000,
      {
        note: `first START after ${round(first - begin)} ms, last END to the end ${round(finish - last)} ms, ${left} folders kept`,
      },
    ),
  ];
}
