// @module-tag all
import { expect, it } from 'vitest';
import { chaosSeed } from '../support/chaos-row.ts';
import { SPREAD, spread } from '../support/lane.ts';
import { killMany, NAMES } from '../support/whole-kills.ts';

const TRIALS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? spread(4, 60));

it(
  'SIGKILL of squad with its git in mid-command: the same command again ends it, and nothing is lost',
  SPREAD,
  async () => {
    const seed = chaosSeed();
    console.log(`seed ${seed}`);
    // Merges leave most behind.
    expect(await killMany(['merge', ...NAMES, 'merge'], TRIALS, seed)).toEqual([]);
  },
);

const IN_SESSIONS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? spread(2, 40));

it(
  'SIGKILL of squad with its git in a merge beside the files of a session: the same command again ends it, and keeps them',
  SPREAD,
  async () => {
    const seed = chaosSeed();
    console.log(`seed ${seed}`);
    expect(await killMany(['merge'], IN_SESSIONS, seed, 'session')).toEqual([]);
  },
);
