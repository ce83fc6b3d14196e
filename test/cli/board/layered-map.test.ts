import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LayeredMap } from '../../../src/cli/board/board-state.ts';

const change = fc.tuple(fc.integer({ min: 0, max: 200 }).map(String), fc.record({ value: fc.integer() }));

it('has what a map has, in its order, after any changes, and every older version stays as it was', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
      const plain = new Map<string, { value: number }>();
      let layered = new LayeredMap<{ value: number }>();
      const versions = changes.map(([key, value]) => {
        plain.set(key, value);
        layered = layered.with(key, value);
        return { layered, entries: [...plain] };
      });
      for (const { layered: version, entries } of versions.filter((_, index) => index % 40 === 0)) {
        expect(version.entries()).toEqual(entries);
        expect(version.size).toBe(entries.length);
        for (const [key, value] of entries) expect(version.get(key)).toBe(value);
      }
      expect(layered.get('none')).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});
