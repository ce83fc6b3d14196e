import { describe, it } from 'vitest';
import { endsAtItsLimit, stopsWhileItPrints } from './short-lines.ts';
import { ALL } from '../support/lane.ts';

const MB = 1024 * 1024;

// 2 GB in the chaos lane. Once more for a machine that was busy elsewhere in just these seconds.
describe('T13 a hundred million short lines', { timeout: 240_000, retry: 1 }, () => {
  it.each(['claude', 'codex'] as const)(
    '%s: its turn is ended by its limit, its engine is idle at once',
    ALL,
    async (cli) => {
      await endsAtItsLimit(cli, 200 * MB);
    },
  );

  it.each([
    ['claude', 0],
    ['codex', 1_000],
  ] as const)('%s: `squad stop` after %i ms', ALL, async (cli, afterMs) => {
    await stopsWhileItPrints(cli, 200 * MB, afterMs);
  });
});
