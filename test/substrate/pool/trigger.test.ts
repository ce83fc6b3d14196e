import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueOf } from '../../../src/substrate/pool/trigger.ts';
import { openPool } from '../../../src/substrate/pool/index.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { triggerConformance } from '../../../src/testing/index.ts';
import { createMemoryQueue } from '../../support/memory-trigger.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';
import { startPostgres, whyNoPostgres, type TestPostgres } from '../../support/postgres.ts';

const why = whyNoPostgres();

triggerConformance(vitestRunner(), {
  name: 'a queue in memory',
  heldMs: 400,
  soonMs: 300,
  open: async () => {
    const queue = createMemoryQueue(400);
    return Promise.resolve({
      connect: async () => Promise.resolve(queue.connect()),
      close: async () => Promise.resolve(queue.close()),
    });
  },
});

describe.skipIf(why !== undefined)(`pg-boss${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let server: TestPostgres;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  }, 120_000);
  afterAll(() => {
    server.close();
  });

  // It waits for the end of leases, of 10 s each.
  triggerConformance(
    vitestRunner(() => false),
    {
      name: 'pg-boss',
      heldMs: 10_000,
      soonMs: 4_000,
      open: async () => {
        const url = await server.url(`trigger${(count += 1)}`);
        const opened: Awaited<ReturnType<typeof openPool>>[] = [];
        return {
          connect: async () => {
            const pool = await openPool(url, createSystemClock());
            opened.push(pool);
            return pool.trigger({ watches: true });
          },
          close: async () => {
            await Promise.all(opened.map(async (pool) => pool.close()));
          },
        };
      },
    },
  );
});

describe('the queue of a set of labels', () => {
  it('is the same for each order of them', () => {
    expect(queueOf(['linux', 'gpu', 'gpu'])).toBe('run.gpu.linux');
    expect(queueOf([])).toBe('run');
  });

  it('refuses what is no label', () => {
    expect(() => queueOf(['gpu', 'a.b'])).toThrow('a.b is no label');
  });
});
