// @module-tag all
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Of } from '../../../src/model/sha256.ts';
import { createPageDiff } from '../../../src/squad/pool/page-diff.ts';
import { backUpLedger, openLedger } from '../../../src/substrate/ledger/index.ts';
import { filesOf } from '../../../src/substrate/ledger/backup-files.ts';
import { openPool, type OpenedPool } from '../../../src/substrate/pool/index.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { spread, SPREAD } from '../../support/lane.ts';
import { startPostgres, whyNoPostgres, type TestPostgres } from '../../support/postgres.ts';
import { storedLedger } from '../../support/stored-ledger.ts';

const why = whyNoPostgres();
const clock = createSystemClock();
/** About as many, and as long, as a settled turn leaves with its evidence, review and integration. */
const EVENTS = 12;
const STEPS = spread(40, 1_000, 150);
const MOST_PAGES = 40;

describe.skipIf(why !== undefined)(`a ledger in a pool${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let server: TestPostgres;
  let pool: OpenedPool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = await openPool(await server.url('pages'), clock);
  }, 120_000);
  afterAll(async () => {
    await pool.close();
    server.close();
  });

  it(
    'comes back byte by byte after each step, and each step stores few pages',
    { ...SPREAD, timeout: 600_000 },
    async () => {
      const { directory, path } = storedLedger();
      const copy = join(directory, 'copy.db');
      const ledger = openLedger(directory, { clock });
      const [run] = ledger.runs();
      if (run === undefined) throw new Error('the ledger has no run');
      const diff = createPageDiff();
      const next = async () => {
        rmSync(copy, { force: true });
        rmSync(filesOf(copy), { recursive: true, force: true });
        await backUpLedger(path, copy);
        const file = readFileSync(copy);
        return {
          file,
          bundle: { manifest: sha256Of(file), pages: diff.changed(file), names: [], contents: new Map() },
        };
      };
      const about = { id: run.id, name: run.name, repository: 'ssh://git.test/app.git', base: 'a'.repeat(40) };
      const first = await next();
      await pool.store.submit({ ...about, labels: [], priority: 0, submittedBy: 'ada', about: {} }, first.bundle);
      diff.stored();
      const claim = await pool.store.claim(run.id, 'w');
      if (claim === undefined) throw new Error('it was not given');
      const counts: number[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        for (let index = 0; index < EVENTS; index += 1)
          ledger.append(run.id, 'noted', { step, index, text: `${step} `.repeat(150) });
        const { file, bundle } = await next();
        counts.push(bundle.pages.changed.size);
        await pool.store.storeBundle(claim, bundle);
        diff.stored();
        // The whole of it is read back less often, because it grows.
        if (step % 10 !== 0 && step !== STEPS - 1) continue;
        const stored = await pool.store.bundle(run.id);
        expect(sha256Of(Buffer.concat(stored?.pages ?? []))).toBe(sha256Of(file));
        expect(stored?.manifest).toBe(sha256Of(file));
      }
      ledger.close();
      expect(Math.max(...counts)).toBeLessThanOrEqual(MOST_PAGES);
      const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
      const tenth = Math.ceil(counts.length / 10);
      // Flat: not more of them as the ledger grows.
      expect(mean(counts.slice(-tenth))).toBeLessThanOrEqual(1.5 * mean(counts.slice(0, tenth)));
    },
  );
});
