import { expect, it } from 'vitest';
import { chaosSeed } from '../support/chaos-row.ts';
import { LANE, NIGHT } from '../support/lane.ts';
import { canRecord } from '../support/power/system-calls.ts';
import { cutPower, type Syncs } from '../support/power/trial.ts';

const MINUTES = 60_000;
const CUTS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? (LANE === 'night' ? 200 : 10));
/** `ledger`: as if squad and its gits flushed nothing else. The first test fails then. */
const SYNCS = (process.env['SQUAD_TEST_SYNCS'] ?? 'all') as Syncs;
const skipped = canRecord() ? '' : ' (skipped: strace is not installed, or may not trace)';

it.skipIf(!canRecord())(
  `${CUTS} power cuts from the start of a run to its merge: the same end, and nothing on record is missing${skipped}`,
  { ...NIGHT, timeout: 120 * MINUTES },
  async () => {
    expect(await cutPower({ cuts: CUTS, seed: chaosSeed(), syncs: SYNCS })).toEqual([]);
  },
);

it.skipIf(!canRecord())(
  `the same cuts find what is missing where nothing but the ledger is flushed${skipped}`,
  { ...NIGHT, timeout: 120 * MINUTES },
  async () => {
    const found = await cutPower({ cuts: Math.min(CUTS, 10), seed: chaosSeed(), syncs: 'ledger' });
    expect(found).not.toEqual([]);
  },
);
