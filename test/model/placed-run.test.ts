import { expect, it } from 'vitest';
import { placedAt, type RunDefinition } from '../../src/model/run.ts';
import { folderOf } from '../../src/view/run-folders.ts';

const OLD = '/home/lee/app';
const NEW = '/mnt/app-2';

/** As the preflight freezes them: with absolute paths. */
const RUNTIMES = {
  mine: { command: `${OLD}/tools/mine`, config: { script: `${OLD}/a.json`, more: 3, url: 'https://x/y' } },
  claude: { command: '/usr/bin/claude', env: ['A'] },
};

/** The parts of a definition that name places. */
function definition(playbook: string, folder: string | undefined, made: string | undefined): RunDefinition {
  const options = made === undefined ? { other: '/home/lee/app/x' } : { folder: made, other: '/home/lee/app/x' };
  const makesBranch = playbook === 'coordinate' ? false : undefined;
  return {
    ...{ playbook, makesBranch, folder, options, runtimes: RUNTIMES },
    repository: { root: OLD, base: 'b' },
  } as unknown as RunDefinition;
}

it.each([
  ['session', `${OLD}/s`, undefined, `${NEW}/s`],
  ['session', '/elsewhere/s', undefined, '/elsewhere/s'],
  ['session', `${OLD}-2/s`, undefined, `${OLD}-2/s`],
  ['coordinate', undefined, `${OLD}/s`, `${NEW}/s`],
  ['coordinate', undefined, '/elsewhere/s', '/elsewhere/s'],
  ['coordinate', undefined, `${OLD}-2/s`, `${OLD}-2/s`],
  ['delivery', undefined, undefined, undefined],
])(
  'the session folder of a %s run at %s or %s moves with the checkout that it lies in',
  (playbook, folder, made, now) => {
    const stored = definition(playbook, folder, made);
    const placed = placedAt(stored, NEW);
    expect(folderOf(placed)).toBe(now);
    expect(placed.repository.root).toBe(NEW);
    expect(placed.options).toMatchObject({ other: '/home/lee/app/x' });
    expect(placedAt(stored, OLD)).toBe(stored);
    // Back again.
    if (now !== undefined) expect(folderOf(placedAt(placed, OLD))).toBe(folderOf(stored));
  },
);

it('a folder of another playbook’s options is not a place', () => {
  const { options } = placedAt(definition('objective', undefined, `${OLD}/s`), NEW);
  expect(options).toMatchObject({ folder: `${OLD}/s` });
});

it('the program of a runtime, and the files that its settings name, move with the checkout; others stay', () => {
  const stored = definition('delivery', undefined, undefined);
  expect(placedAt(stored, NEW).runtimes).toEqual({
    mine: { command: `${NEW}/tools/mine`, config: { script: `${NEW}/a.json`, more: 3, url: 'https://x/y' } },
    claude: RUNTIMES.claude,
  });
  expect(placedAt(placedAt(stored, NEW), OLD).runtimes).toEqual(RUNTIMES);
});
