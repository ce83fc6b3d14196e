// @module-tag all
import { expect, it } from 'vitest';
import { tryOracle } from './oracle/try-oracle.ts';
import { SPREAD, spread } from '../support/lane.ts';

const COUNT = Number(process.env['SQUAD_ORACLE_SEEDS'] ?? spread(2, 40));
const FROM = Number(process.env['SQUAD_ORACLE_SEED'] ?? 1);
const MOST_MS = 240_000;

it(
  `${COUNT} simulated runs from seed ${FROM} are told as an oracle says that they went`,
  { ...SPREAD, timeout: MOST_MS + 60_000 },
  async () => {
    const { failures, worlds, headlines, counts } = await tryOracle({ from: FROM, count: COUNT, mostMs: MOST_MS });
    expect(failures.slice(0, 5).map(({ message }) => message)).toEqual([]);
    // A busy machine gets less far; the chaos lane makes all of them.
    expect(worlds).toBeGreaterThanOrEqual(Math.min(COUNT, 20));
    // What never says DONE, or is never disturbed, proves nothing about it.
    if (worlds < 40) return;
    expect(headlines.get('FAILED') ?? 0).toBeLessThan(worlds * 0.6);
    expect(headlines.get('DONE, all work is delivered and verified')).toBeGreaterThan(worlds * 0.05);
    const { open, ...others } = counts;
    expect(Math.min(...Object.values(others))).toBeGreaterThan(worlds * 0.1);
    // Only a few forms ask what is missing, and only few worlds get as far as those.
    expect(open).toBeGreaterThan(worlds * 0.02);
  },
);
