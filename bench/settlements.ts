import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TurnResult } from '../src/model/turn-result.ts';
import { machineIn, openOwnLedger } from './shared/machine.ts';
import { median, perSecond, type Bench } from './shared/row.ts';

const ROUNDS = 20;
const EACH = 100;

/** A settlement is one transaction with outcome, usage and event. */
export const settlements: Bench = {
  name: 'settlements',
  run: async (folder) => {
    const { ledger, lease, claim, close } = openOwnLedger(machineIn(folder), folder);
    const ids = Array.from({ length: ROUNDS * EACH }, (_, index) => `settled-${index}`);
    for (const id of ids) claim(id, '{}');
    const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 };
    const result: TurnResult = {
      outcome: 'completed',
      text: 'done',
      denials: [],
      usage,
      stderrTail: '',
      durationMs: 1,
    };
    const db = new Database(join(folder, 'bare.db'));
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)');
    const insert = db.prepare('INSERT INTO row (text) VALUES (?)');
    // In turns, because a disk has moods.
    const rounds = Array.from({ length: ROUNDS }, (_, round) => ids.slice(round * EACH, (round + 1) * EACH));
    const speeds = rounds.map((some) => ({
      squad: perSecond(EACH, () => some.forEach((id) => ledger.settle(lease, id, result))),
      bare: perSecond(EACH, () => some.forEach((id) => insert.run(id))),
    }));
    db.close();
    close();
    const squad = median(speeds.map((speed) => speed.squad));
    const bare = median(speeds.map((speed) => speed.bare));
    return [{ name: 'settlements, against one-row commits', unit: 'per s', squad, bare, ratio: bare / squad }];
  },
};
