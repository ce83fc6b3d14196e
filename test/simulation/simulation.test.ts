// @module-tag all
import { expect, it } from 'vitest';
import { trySeeds } from './world/try-seeds.ts';
import { SPREAD, spread } from '../support/lane.ts';

const COUNT = Number(process.env['SQUAD_SIM_SEEDS'] ?? spread(4, 200));
const FROM = Number(process.env['SQUAD_SIM_SEED'] ?? 1);

it(
  `T4: ${COUNT} simulated worlds from seed ${FROM} keep every promise, and each makes one history`,
  { ...SPREAD, timeout: 300_000 },
  async () => {
    const command = (seed: number): string =>
      `SQUAD_SIM_SEED=${seed} SQUAD_SIM_SEEDS=1 npx vitest run test/simulation/simulation.test.ts`;
    const { failures, engines } = await trySeeds({ from: FROM, count: COUNT }, 'small', command);
    expect(failures.slice(0, 5).map(({ message }) => message)).toEqual([]);
    // What never crashes proves nothing about crashes.
    if (COUNT >= 100) expect(engines).toBeGreaterThan(COUNT * 1.5);
  },
);
