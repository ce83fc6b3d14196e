/** `npm test` runs the lane `commit`, and `npm run test:all` what that leaves out (docs/testing.md). */
export const LANE = process.env['SQUAD_TEST_LANE'] === 'all' ? 'all' : 'commit';

/** How many trials this lane makes; the test carries `SPREAD`, so that it runs in both lanes. */
export function spread(commit: number, all: number): number {
  return LANE === 'all' ? all : commit;
}

/** `count` of these, evenly spread, in `npm test`; all of them in `npm run test:all`. Their test carries `SPREAD`. */
export function some<T>(all: readonly T[], count: number): readonly T[] {
  if (LANE === 'all') return all;
  return all.filter(
    (_, index) => Math.floor((index * count) / all.length) > Math.floor(((index - 1) * count) / all.length),
  );
}

/** Of a test that takes its number of trials from `spread`: `it('…', { ...SPREAD, timeout }, …)`. */
export const SPREAD = { tags: ['spread'] };

/** Of a test that only `npm run test:all` runs. */
export const ALL = { tags: ['all'] };
