import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { median, round, rowOf, type Bench, type Row } from './shared/row.ts';
import { chainOf, ended, openScriptedRoom, type Piece, type ScriptedRoom } from './shared/scripted-room.ts';
import type { PeerTimes } from './shared/peer-times.ts';
import { playTakt } from './shared/takt-room.ts';
import { firstStartAfter, turnsOf } from './shared/turn-times.ts';

interface Scope {
  /** Turns of 3 s, and many turns of 1 s. */
  readonly sizes: readonly number[];
  /** Turns of 30 s. */
  readonly large: readonly number[];
  readonly largeSteps: number;
  /** Of whole commands. */
  readonly rounds: number;
}

const WHOLE: Scope = { sizes: [3_000, 7_000], large: [20_000, 50_000], largeSteps: 6, rounds: 5 };
const QUICK: Scope = { sizes: [3_000], large: [20_000], largeSteps: 4, rounds: 3 };
const STEPS = 10;
const TURN_MS = 3_000;
const LONG_MS = 30_000;
const CHAINS = 16;
const OF_A_CHAIN = 3;
const SHORT_MS = 1_000;
const PARALLEL = 8;

/** The median of many commands, in ms but for `whole`. */
interface Many {
  readonly whole: number;
  readonly end: number;
  readonly first: number;
  readonly again: number;
}

/**
 * What the size of a repository costs, beside TAKT in the same sitting: from an agent's END to the next one's START, a whole command of
 * many turns with its end, and the start of the second run. `SQUAD_FOLDERS_FILES` names other sizes for the first and the second, and
 * `SQUAD_FOLDERS_ROUNDS` how often whole commands are measured.
 */
export const folders: Bench = {
  name: 'folders',
  run: async (folder, { isQuick }) => {
    const scope = scopeOf(isQuick);
    const small = await gapOf(join(folder, 'one'), 1, STEPS, TURN_MS);
    const rows: Row[] = [];
    for (const files of scope.sizes) {
      const own = join(folder, `${files}`);
      const { gap } = await gapOf(join(own, 'gap'), files, STEPS, TURN_MS);
      const takt = await playTakt(join(own, 'takt'), { files, tasks: 1, steps: STEPS, turnMs: TURN_MS, parallel: 1 });
      const note = `TAKT, in one clone: ${takt === undefined ? 'not installed' : `${gapOfTakt(takt)} ms`}`;
      const name = `an agent’s END to the next one’s START in ${files} files, beside one file, p50 of ${STEPS - 1}`;
      rows.push(rowOf(name, 'ms', gap, small.gap, { target: { of: 'ratio', most: 1.2 }, note }));
      rows.push(...(await manyRows(own, files, scope.rounds)));
    }
    for (const files of scope.large) {
      const { gap, room } = await gapOf(join(folder, `${files}`), files, scope.largeSteps, LONG_MS);
      const name = `END to START in ${files} files with turns of 30 s, beside one git status, p50 of ${scope.largeSteps - 1}`;
      rows.push(rowOf(name, 'ms', gap, statusOf(room), { target: { of: 'ratio', most: 2 } }));
    }
    return rows;
  },
};

function scopeOf(isQuick: boolean): Scope {
  const scope = isQuick ? QUICK : WHOLE;
  const { SQUAD_FOLDERS_FILES: own, SQUAD_FOLDERS_ROUNDS: rounds = scope.rounds } = process.env;
  const measured = { ...scope, rounds: Number(rounds) };
  return own === undefined ? measured : { ...measured, sizes: own.split(',').map(Number), large: [] };
}

async function gapOf(
  folder: string,
  files: number,
  steps: number,
  turnMs: number,
): Promise<{ gap: number; room: ScriptedRoom }> {
  const pieces = chainOf(steps);
  const room = openScriptedRoom(folder, { pieces, turnMs, parallel: 2, files });
  await ended(room.startRun());
  return { gap: gapsOf(turnsOf(room, pieces)), room };
}

function gapsOf(turns: readonly { readonly start: number; readonly end: number }[]): number {
  return round(median(turns.slice(1).map(({ start }, index) => start - (turns[index]?.end ?? Number.NaN))));
}

function gapOfTakt({ turns }: PeerTimes): number {
  return gapsOf(turns);
}

function statusOf({ repository }: ScriptedRoom): number {
  const times = Array.from({ length: 5 }, () => {
    const from = performance.now();
    execFileSync('git', ['status', '--porcelain'], { cwd: repository });
    return performance.now() - from;
  });
  return round(median(times));
}

/** squad and TAKT one after the other, as often as there are rounds. */
async function manyRows(folder: string, files: number, rounds: number): Promise<readonly Row[]> {
  const squad: Many[] = [];
  const takt: PeerTimes[] = [];
  let version = Number.NaN;
  for (let index = 0; index < rounds; index += 1) {
    const pieces = Array.from({ length: CHAINS }, (_, chain) => chainOf(OF_A_CHAIN, `chain-${chain + 1}`)).flat();
    const room = openScriptedRoom(join(folder, `squad-${index}`), {
      pieces,
      turnMs: SHORT_MS,
      parallel: PARALLEL,
      files,
    });
    squad.push(await twoRuns(room, pieces));
    version = room.command('--version').ms;
    const plan = { files, tasks: CHAINS, steps: OF_A_CHAIN, turnMs: SHORT_MS, parallel: PARALLEL };
    const played = await playTakt(join(folder, `takt-${index}`), plan);
    if (played !== undefined) takt.push(played);
  }
  const of = (key: keyof Many): number => round(median(squad.map((one) => one[key])));
  const beside = (time: (one: PeerTimes) => number): number => round(median(takt.map(time)));
  const about = `in ${files} files, p50 of ${rounds}`;
  const lastOf = ({ turns }: PeerTimes): number => Math.max(...turns.map(({ end }) => end));
  const ideal = (CHAINS * OF_A_CHAIN * SHORT_MS) / PARALLEL / 1000;
  return [
    rowOf(
      `16 × 3 turns of 1 s at 8 ${about}: the whole command, beside TAKT`,
      's',
      of('whole'),
      beside(({ command }) => (command.end - command.start) / 1000),
      {
        target: { of: 'ratio', most: 0.6 },
        note: `the agents’ own time: ${ideal} s; first START after ${of('first')} ms`,
      },
    ),
    rowOf(
      `the last agent’s END to the end of that command ${about}, beside TAKT`,
      'ms',
      of('end'),
      beside((one) => one.command.end - lastOf(one)),
      { target: { of: 'squad', most: 1000 } },
    ),
    rowOf(`the second run to its first START ${about}, beside --version`, 'ms', of('again'), version, {
      target: { of: 'squad', most: 500 },
    }),
  ];
}

/** The second one is stopped once its first agent has begun. */
async function twoRuns(room: ScriptedRoom, pieces: readonly Piece[]): Promise<Many> {
  const begin = Date.now();
  await ended(room.startRun());
  const finish = Date.now();
  const turns = turnsOf(room, pieces);
  const last = Math.max(...turns.map(({ end }) => end));
  const first = Math.min(...turns.map(({ start }) => start));
  const second = Date.now();
  const run = room.startRun();
  const again = await firstStartAfter(room, second);
  const isOver = new Promise<unknown>((resolve) => run.once('exit', resolve));
  for (const signal of ['SIGINT', 'SIGINT', 'SIGINT'] as const) run.kill(signal);
  await isOver;
  return { whole: (finish - begin) / 1000, end: finish - last, first: first - begin, again: again - second };
}
