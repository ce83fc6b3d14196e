import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { openBareLoop } from './shared/bare-loop.ts';
import { median, round, rowOf, type Bench } from './shared/row.ts';
import { chainOf, ended, openScriptedRoom } from './shared/scripted-room.ts';
import { turnsOf } from './shared/turn-times.ts';

const STEPS = 9;
const TURN_MS = 3_000;
const BARE_GAPS = 5;

/**
 * From an agent's END to the START of the next one in a chain: the end has to be seen, the turn settled, the work proven,
 * merged and delivered, and a place and a process made for the next one.
 */
export const gap: Bench = {
  name: 'gap',
  run: async (folder) => {
    const pieces = chainOf(STEPS);
    const room = openScriptedRoom(folder, { pieces, turnMs: TURN_MS, parallel: 6 });
    await ended(room.startRun());
    const turns = turnsOf(room, pieces);
    const gaps = turns.slice(1).map(({ claimed, start }, index) => {
      const { end = NaN, settled = NaN } = turns[index] ?? {};
      return { whole: start - end, seeing: settled - end, deciding: claimed - settled, starting: start - claimed };
    });
    const partOf = (part: keyof (typeof gaps)[number]): number => round(median(gaps.map((one) => one[part])));
    const loop = await openBareLoop(room, folder);
    const bare: number[] = [];
    for (let index = 0; index < BARE_GAPS; index += 1) bare.push(await loop.gap());
    return [
      rowOf('an agent’s END to the next one’s START, turns of 3 s, p50', 'ms', partOf('whole'), median(bare), {
        target: { of: 'squad', most: 140 },
        note:
          `END to settlement ${partOf('seeing')} ms, settlement to claim ${partOf('deciding')} ms, ` +
          `claim to START ${partOf('starting')} ms; ${await gitCallsOfOnePiece(folder)} gits started for each piece`,
      }),
    ];
  },
};

/** What one more piece costs, so that the start and the end of a run do not count. */
async function gitCallsOfOnePiece(folder: string): Promise<number> {
  const few = await gitCalls(join(folder, 'few'), 2);
  const many = await gitCalls(join(folder, 'many'), 6);
  return (many - few) / 4;
}

/** By a git of our own that comes first on the PATH. It leaves out the agents' calls, which carry the mark of their turn. */
async function gitCalls(folder: string, steps: number): Promise<number> {
  const bin = join(folder, 'bin');
  const log = join(folder, 'git-calls');
  mkdirSync(bin, { recursive: true });
  const real = spawnSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
  const git = join(bin, 'git');
  writeFileSync(git, `#!/bin/sh\ncase $SQUAD_TURN_ID in bench.*) ;; *) echo >>'${log}' ;; esac\nexec ${real} "$@"\n`);
  chmodSync(git, 0o755);
  const path = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
  await ended(openScriptedRoom(folder, { pieces: chainOf(steps), turnMs: 100, parallel: 6, path }).startRun());
  return readFileSync(log).length;
}
