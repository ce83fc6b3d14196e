import { median, rowOf, type Bench } from './shared/row.ts';
import { ended, openScriptedRoom, type Piece } from './shared/scripted-room.ts';

/** A plan may have no more. */
const PIECES = 50;
const TRIES = 15;

/** `squad status` after a run of fifty pieces, beside `squad --version`. */
export const status: Bench = {
  name: 'status',
  run: async (folder) => {
    const pieces = Array.from({ length: PIECES }, (_, index): Piece => ({ id: `piece-${index + 1}`, needs: [] }));
    const room = openScriptedRoom(folder, { pieces, turnMs: 0, parallel: 6 });
    await ended(room.startRun());
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < TRIES; index += 1) {
      const { ms, code, stderr } = room.command('status');
      if (code !== 0) throw new Error(`squad status ended with ${String(code)}: ${stderr}`);
      squad.push(ms);
      bare.push(room.command('--version').ms);
    }
    return [
      rowOf(`squad status after ${PIECES} pieces, beside squad --version`, 'ms', median(squad), median(bare), {
        note: `${room.events().length} events in the ledger`,
      }),
    ];
  },
};
