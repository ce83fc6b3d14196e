import { expect, it } from 'vitest';
import { tryOracle } from '../simulation/oracle/try-oracle.ts';
import { reportTrials, trialsOf } from '../support/chaos-row.ts';

const ASKED = process.env['SQUAD_ORACLE_SEEDS'];
const COUNT = ASKED === undefined ? trialsOf({ commit: 40, nightly: 5_000, release: 20_000 }) : Number(ASKED);
const FROM = Number(process.env['SQUAD_ORACLE_SEED'] ?? process.env['SQUAD_CHAOS_SEED'] ?? 1);
const HOUR = 3_600_000;

it(
  `${COUNT} simulated runs from seed ${FROM} are told as an oracle says that they went`,
  async () => {
    const { failures, worlds, headlines } = await tryOracle({ from: FROM, count: COUNT, mostMs: 5 * HOUR });
    reportTrials({
      fault: 'seeded runs against the oracle',
      trials: worlds,
      failures: failures.length,
      bound: '0 false “done”, 0 false “verified”',
      seed: FROM,
    });
    console.log(Object.fromEntries(headlines));
    expect(failures.slice(0, 5).map(({ message }) => message)).toEqual([]);
    expect(worlds).toBe(COUNT);
  },
  6 * HOUR,
);
