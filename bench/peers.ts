import { join } from 'node:path';
import type { PeerPlan, PeerTimes } from './shared/peer-times.ts';
import { median, round, rowOf, type Bench, type Row } from './shared/row.ts';
import { playSquad } from './shared/squad-room.ts';
import { playTakt } from './shared/takt-room.ts';

const ROUNDS = 5;
const CHAIN = { tasks: 1, steps: 10, parallel: 1 };
const MANY: PeerPlan = { files: 1, tasks: 16, steps: 3, turnMs: 1_000, parallel: 8 };
/** Chains of ten, one after the other: files of the repository, ms of a turn, most of TAKT's gap. */
const GAPS = [
  { files: 1, turnMs: 0, most: 0.85 },
  { files: 1, turnMs: 3_000, most: 0.85 },
  { files: 3_000, turnMs: 3_000, most: 1 },
  { files: 20_000, turnMs: 3_000, most: 1 },
];

interface Played {
  readonly squad: PeerTimes;
  readonly takt: PeerTimes;
}

/**
 * squad beside TAKT in the same sitting, at the same work with the same agent: what a person waits for. squad has one turn more, which
 * plans. TAKT works in a clone for each task, and so does squad.
 */
export const peers: Bench = {
  name: 'peers',
  run: async (folder, { isQuick }) => {
    const rounds = isQuick ? 1 : ROUNDS;
    const rows: Row[] = [];
    for (const [index, { files, turnMs, most }] of GAPS.entries()) {
      const plan = { ...CHAIN, files, turnMs };
      const played = await play(join(folder, `gap-${index}`), plan, turnMs === 0 ? rounds : 1);
      if (played === undefined) return [];
      const name = `an agent’s END to the next one’s START, turns of ${turnMs / 1000} s, ${files} file${files === 1 ? '' : 's'}`;
      rows.push(beside(name, 'ms', played, gapOf, most));
      if (index > 0) continue;
      rows.push(beside('command to the first START, after an installation', 'ms', played.slice(0, 1), startOf, 0.5));
      if (!isQuick) rows.push(beside('command to the first START, later', 'ms', played.slice(1), startOf, 0.45));
    }
    const played = (await play(join(folder, 'many'), MANY, Math.min(3, rounds))) ?? [];
    rows.push(
      beside('16 × 3 turns of 1 s at 8: the whole command', 's', played, ({ command }) => spanOf(command) / 1000),
      beside('the last agent’s END to the end of that command', 'ms', played, endOf),
      beside('the most memory of the tool’s own process', 'MB', played, ({ megabytes }) => megabytes),
    );
    return rows;
  },
};

/** One after the other, so many times. undefined: TAKT is not installed. */
async function play(folder: string, plan: PeerPlan, rounds: number): Promise<readonly Played[] | undefined> {
  const played: Played[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const takt = await playTakt(join(folder, `takt-${index}`), plan);
    if (takt === undefined) return undefined;
    played.push({ squad: await playSquad(join(folder, `squad-${index}`), plan, join(folder, 'state')), takt });
  }
  return played;
}

function beside(
  name: string,
  unit: string,
  played: readonly Played[],
  of: (one: PeerTimes) => number,
  most?: number,
): Row {
  const [squad, takt] = (['squad', 'takt'] as const).map((tool) => median(played.map((one) => of(one[tool]))));
  return rowOf(`${name}, p50 of ${played.length}`, unit, round(squad ?? Number.NaN), round(takt ?? Number.NaN), {
    ...(most === undefined ? {} : { target: { of: 'ratio', most } }),
    ...(played.length === 1 ? { note: 'measured once' } : {}),
  });
}

function gapOf({ turns }: PeerTimes): number {
  // The first two of squad's are the plan and what is made of it.
  return median(turns.slice(2).map(({ start }, index) => start - (turns[index + 1]?.end ?? Number.NaN)));
}

function startOf({ command, turns }: PeerTimes): number {
  return (turns[0]?.start ?? Number.NaN) - command.start;
}

function endOf({ command, turns }: PeerTimes): number {
  return command.end - Math.max(...turns.map(({ end }) => end));
}

function spanOf({ start, end }: PeerTimes['command']): number {
  return end - start;
}
