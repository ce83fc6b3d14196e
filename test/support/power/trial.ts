import { createRandom } from '../random.ts';
import { driveToEnd, endStateOf, inRunRoom } from '../run-room.ts';
import { mergedTree, stashOwn, type End } from './judge.ts';
import { record, type Recording } from './record.ts';
import { replay, type Cut } from './replay.ts';
import { POWER } from './scenario.ts';

/** `all`: as they are. `ledger`: those of the ledger alone, as if nothing else were ever flushed. */
export type Syncs = 'all' | 'ledger';

interface Trial {
  readonly cuts: number;
  readonly seed: number;
  readonly syncs?: Syncs;
  /** Hears of each cut once it is judged. */
  tell?(found: string): void;
}

/** Records one run, and cuts its power so often, at moments that are spread over it. Returns what is wrong after each cut. */
export async function cutPower({ cuts, seed, syncs = 'all', tell }: Trial): Promise<readonly string[]> {
  const end = await inRunRoom(POWER, async (room): Promise<End> => {
    await driveToEnd(room);
    const state = endStateOf(room);
    await room.run(['merge']);
    return { state, merged: mergedTree(room) };
  });
  return inRunRoom(POWER, async (room) => {
    stashOwn(room);
    const recording = record(room);
    const counts = syncs === 'all' ? () => true : (path: string) => /\/squad\.db(?:-wal)?$/.test(path);
    return replay(room, recording, {
      cuts: spreadCuts(recording, cuts, createRandom(seed)),
      end,
      counts,
      ...(tell === undefined ? {} : { tell }),
    });
  });
}

/** A third of them right after a sync, where something has just been promised. */
function spreadCuts({ calls }: Recording, count: number, random: () => number): Cut[] {
  const synced = calls.flatMap(({ name }, index) => (name.endsWith('sync') ? [index + 1] : []));
  return Array.from({ length: count }, (_, index) => {
    const share = (index + random()) / count;
    const after =
      index % 3 === 0 ? (synced[Math.floor(share * synced.length)] ?? 0) : Math.floor(share * (calls.length + 1));
    return { after, luck: random() < 0.4 ? 'nothing' : { journal: random(), random } };
  });
}
