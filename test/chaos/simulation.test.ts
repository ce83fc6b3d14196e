import { expect, it } from 'vitest';
import { trySeeds } from '../simulation/world/try-seeds.ts';
import { reportTrials } from '../support/chaos-row.ts';

const COUNT = Number(process.env['SQUAD_SIM_SEEDS'] ?? 20_000);
const FROM = Number(process.env['SQUAD_SIM_SEED'] ?? 1_000_000);

it(
  `T4: ${COUNT} large simulated worlds from seed ${FROM} keep every promise, and each makes one history`,
  async () => {
    const command = (seed: number): string =>
      `SQUAD_SIM_SEED=${seed} SQUAD_SIM_SEEDS=1 npm run test:chaos -- test/chaos/simulation.test.ts`;
    const { failures } = await trySeeds({ from: FROM, count: COUNT }, 'large', command);
    reportTrials({
      fault: 'T4 seeded simulation',
      trials: COUNT,
      failures: failures.length,
      bound: '0 failures',
      seed: FROM,
    });
    expect(failures.slice(0, 5).map(({ message }) => message)).toEqual([]);
  },
  6 * 3_600_000,
);
