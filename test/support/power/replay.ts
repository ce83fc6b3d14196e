import { writeFileSync } from 'node:fs';
import type { RunRoom } from '../run-room.ts';
import type { Disk } from './disk.ts';
import { Follower } from './follow-calls.ts';
import { judge, type End } from './judge.ts';
import type { Recording } from './record.ts';
import { emptyFolder, writeTree, type Left } from './tree.ts';

/**
 * What the disk has of what was not synced. `nothing`: neither contents nor names. `journal`: the names up to a moment, in their order,
 * as a file system with a journal has them, and of each file the first so many writes.
 */
type Luck = 'nothing' | { readonly journal: number; readonly random: () => number };

/** One power cut. */
export interface Cut {
  /** After so many calls. */
  readonly after: number;
  readonly luck: Luck;
}

/** Replays the cuts, in their order, in the room of the recording. Returns what is wrong after each. */
export async function replay(
  room: RunRoom,
  { disk, calls, ends }: Recording,
  {
    cuts,
    end,
    counts,
    tell,
  }: { cuts: readonly Cut[]; end: End; counts?: (path: string) => boolean; tell?(done: string): void },
): Promise<readonly string[]> {
  // What agents did to the world, the world does not forget.
  const isWorld = (path: string): boolean => path === room.effects;
  const follower = new Follower(disk, room.root, room.repository, counts);
  const problems: string[] = [];
  let at = 0;
  for (const cut of cuts.toSorted((one, other) => one.after - other.after)) {
    for (; at < cut.after; at += 1) {
      const call = calls[at];
      if (call !== undefined) follower.follow(call);
    }
    emptyFolder(room.root);
    writeTree(disk, room.root, left(disk, cut.luck), isWorld);
    writeFileSync(room.effects, follower.find(room.effects)?.content.bytes ?? '');
    const found = await judge(room, { ran: at >= ends.run, merged: at >= ends.merge, dropped: at >= ends.drop }, end);
    const own = found.map((problem) => `after ${at} of ${calls.length} calls (${nameOf(cut)}): ${problem}`);
    tell?.(own.join('\n') || `after ${at} calls (${nameOf(cut)}): sound`);
    problems.push(...own);
  }
  return problems;
}

function left({ names, journaled }: Disk, luck: Luck): Left {
  if (luck === 'nothing') return { journaled: 0, written: () => 0 };
  return {
    journaled: journaled + Math.floor(luck.journal * (names.length - journaled + 1)),
    written: (changes) => (luck.random() < 0.5 ? 0 : Math.floor(luck.random() * (changes + 1))),
  };
}

function nameOf({ luck }: Cut): string {
  return luck === 'nothing'
    ? 'nothing that was not synced is there'
    : `names up to ${luck.journal.toFixed(2)} are there`;
}
