const asked = process.env['SQUAD_TEST_LANE'];

/**
 * `npm test` runs the lane `commit`, `npm run test:all` what that leaves out, with a twentieth of the repetitions, and `npm run test:night`
 * all of them (docs/testing.md).
 */
export const LANE = asked === 'all' || asked === 'night' ? asked : 'commit';

/**
 * How many of `night` trials this lane makes; the test carries `SPREAD`, so that it runs in each lane. `all`: where a twentieth of them would
 * take the lane longer than CI has.
 */
export function spread(commit: number, night: number, all = Math.ceil(night / 20)): number {
  return { commit, all: Math.max(commit, all), night }[LANE];
}

/**
 * As many rows as `spread` says, evenly spread. Their test carries `SPREAD`. The lane `all` takes others than `commit` has tried, as long
 * as there are others. `commit` 0: the test carries `ALL`, and `npm test` only collects its rows.
 */
export function some<T>(rows: readonly T[], commit: number, all?: number): readonly T[] {
  if (LANE === 'commit' && commit === 0) return rows;
  if (LANE !== 'all') return evenly(rows, spread(commit, rows.length));
  const tried = new Set(evenly(rows, commit));
  const others = rows.filter((row) => !tried.has(row));
  return others.length === 0 ? rows : evenly(others, Math.max(1, spread(commit, rows.length, all) - commit));
}

function evenly<T>(rows: readonly T[], count: number): readonly T[] {
  return rows.filter(
    (_, index) => Math.floor((index * count) / rows.length) > Math.floor(((index - 1) * count) / rows.length),
  );
}

/**
 * Of a test that takes its number of trials from `spread`: `it('…', { ...SPREAD, timeout }, …)`. Frozen, like the two below: vitest
 * writes into the options of an `it.concurrent`, and then all later tests of the process with the same ones would run at once.
 */
export const SPREAD = Object.freeze({ tags: ['spread'] });

/** Of a test that `npm test` leaves out. A file of which it leaves out all begins with `@module-tag all`. */
export const ALL = Object.freeze({ tags: ['all'] });

/** Of a test that only `npm run test:night` runs. */
export const NIGHT = Object.freeze({ tags: ['night'] });

/** For the configuration of vitest. */
export const TAGS = [
  {
    name: 'spread',
    description: 'makes a few trials in `npm test`, a twentieth in `npm run test:all`, all in `test:night`',
  },
  { name: 'all', description: 'is left out by `npm test`' },
  { name: 'night', description: 'runs in `npm run test:night` only' },
];
