// @module-tag all
import { fc, test } from '@fast-check/vitest';
import { expect, test as once } from 'vitest';
import { decide, openBench } from './support.ts';
import { checkHistory } from '../../support/ledger-history.ts';

const write = fc.record({
  id: fc.constantFrom('a', 'b', 'a b', 'é\u0000"'),
  value: fc.jsonValue({ maxDepth: 2 }),
  /** How far the writer's version is off; null: it asks for none. */
  off: fc.constantFrom(null, 0, 0, -1, 1),
});

test.prop([fc.array(write, { maxLength: 20 })], { numRuns: 30 })(
  'a record is its newest value, and a writer that knows an old version changes nothing',
  (writes) => {
    const { ledger, path } = openBench();
    const known = new Map<string, unknown[]>();
    for (const { id, value, off } of writes) {
      const values = known.get(id) ?? [];
      const before = ledger.lastSeq();
      // JSON has no -0.
      const stored = JSON.parse(JSON.stringify(value)) as typeof value;
      const after = off === null ? undefined : values.length + off;
      const written = ledger.writeRecord({ kind: 'item', id, value: stored as never, after });
      if (off !== null && off !== 0) {
        expect(written).toBeUndefined();
        expect(ledger.lastSeq()).toBe(before);
        continue;
      }
      known.set(id, [...values, stored]);
      expect(written?.version).toBe(values.length + 1);
    }
    for (const [id, values] of known) {
      const found = ledger.record('item', id);
      expect([found?.version, found?.value]).toEqual([values.length, values.at(-1)]);
    }
    expect(ledger.records('item').map(({ id }) => id)).toEqual([...known.keys()]);
    expect(ledger.records('other')).toEqual([]);
    expect(checkHistory(path)).toEqual([]);
  },
);

once('of writers that know the same version, one writes', () => {
  const { ledger } = openBench();
  const answers = [1, 2, 3].map((value) => ledger.writeRecord({ kind: 'slot', id: 's', value, after: 0 })?.version);
  expect(answers).toEqual([1, undefined, undefined]);
  expect(ledger.record('slot', 's')?.value).toBe(1);
});

once('a step of a run writes a record with all else that it decides, and only if it says something new', () => {
  const bench = openBench();
  const write = (value: number) => ({ do: 'write-record', kind: 'item', id: 'b', value }) as const;
  decide(bench, write(1));
  decide(bench, write(1), write(2));
  expect(bench.ledger.record('item', 'b')).toMatchObject({ version: 2, value: 2 });
  // A step that is refused as a whole writes none of it.
  const stale = { lease: bench.lease, cursor: 0, seq: bench.ledger.append('r', 'poke', null), driver: 'late' };
  expect(() => bench.ledger.apply({ ...stale, decisions: [write(3)] })).toThrow(/refused a step/);
  expect(bench.ledger.record('item', 'b')?.value).toBe(2);
  expect(checkHistory(bench.path)).toEqual([]);
});
