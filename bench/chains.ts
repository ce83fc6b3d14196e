import { bareChains } from './shared/bare-chains.ts';
import { rowOf, type Bench } from './shared/row.ts';
import { attemptsOf, ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';

const CHAINS = 16;
const STEPS = 3;
const TURN_MS = 1_000;
const PARALLEL = 8;

/** Sixteen chains of three pieces, each in a worktree of its own, committed, integrated and delivered before the next. */
export const chains: Bench = {
  name: 'chains',
  run: async (folder) => {
    const planned = Array.from({ length: CHAINS }, (_, chain) =>
      Array.from({ length: STEPS }, (_one, step): Piece => {
        const needs = step === 0 ? [] : [`chain-${chain + 1}-${step}`];
        return { id: `chain-${chain + 1}-${step + 1}`, needs };
      }),
    );
    const room = await openScriptedRoom(folder, { pieces: planned.flat(), turnMs: TURN_MS, parallel: PARALLEL });
    await ended(room.startRun());
    const events = room.events();
    const isPiece = ({ task }: { task: string }): boolean => task.startsWith('chain-');
    const first = attemptsOf(events, 'attempt-claimed').find(isPiece);
    const last = attemptsOf(events, 'attempt-settled').findLast(isPiece);
    const seconds = ((last?.at ?? NaN) - (first?.at ?? NaN)) / 1000;
    const bare = await bareChains(room, folder, planned, PARALLEL);
    const ideal = (CHAINS * STEPS * TURN_MS) / PARALLEL / 1000;
    return [
      rowOf('16 chains × 3 turns × 1 s at parallelism 8, over the ideal', 's', seconds, ideal, {
        target: { of: 'squad', most: 7 },
      }),
      rowOf('floor: the same agents, worktrees and merges by a bare loop, over the ideal', 's', bare, ideal),
    ];
  },
};
