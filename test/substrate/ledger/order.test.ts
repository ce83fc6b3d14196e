import { expect, it } from 'vitest';
import { exportLedger } from '../../../src/substrate/ledger/index.ts';
import { openBench } from './support.ts';

it.each([1_000, 365 * 24 * 3_600_000, -365 * 24 * 3_600_000])(
  'runs are in the order in which they were made, whatever the clock says: set back by %i ms between them',
  (back) => {
    const { ledger, clock, path } = openBench();
    const names = ['first', 'second', 'third', 'fourth'];
    for (const name of names.slice(1)) {
      clock.time -= back;
      ledger.createRun({ id: `id-${name}`, name });
    }
    expect(ledger.runs().map(({ name }) => name)).toEqual(names);
    const lines = [...exportLedger(path, null)].map((line) => JSON.parse(line) as { table?: string; name?: string });
    expect(lines.flatMap(({ name }) => (names.includes(name ?? '') ? [name] : []))).toEqual(names);
  },
);
