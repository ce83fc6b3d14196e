import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { median, round, rowOf, type Bench, type Row } from './shared/row.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';
import { turnsOf } from './shared/turn-times.ts';

/** What a turn costs beside the agent's own time, one turn after the other. */
export const turn: Bench = {
  name: 'turn',
  run: async (folder) => [
    await turnsOfLength(join(folder, 'instant'), 'instant turns', { count: 20, turnMs: 0 }),
    await turnsOfLength(join(folder, 'long'), 'turns of 3 s', { count: 8, turnMs: 3_000 }),
  ],
};

async function turnsOfLength(
  folder: string,
  what: string,
  { count, turnMs }: { count: number; turnMs: number },
): Promise<Row> {
  mkdirSync(folder);
  const pieces = Array.from({ length: count }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
  const room = openScriptedRoom(folder, { pieces, turnMs, parallel: 1 });
  await ended(room.startRun());
  const turns = turnsOf(room, pieces);
  const whole = median(turns.map(({ claimed, settled }) => settled - claimed));
  const own = median(turns.map(({ start, end }) => end - start));
  const before = round(median(turns.map(({ claimed, start }) => start - claimed)));
  const after = round(median(turns.map(({ end, settled }) => settled - end)));
  return rowOf(`${what}: claim to settlement, against the agent’s own time`, 'ms', whole, own, {
    note: `claim to START ${before} ms, END to settlement ${after} ms`,
  });
}
