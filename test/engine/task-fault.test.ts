import { expect, it } from 'vitest';
import { createFaultFinder, endsEngine } from '../../src/engine/task-fault.ts';
import { ERROR_CODES, SquadError, type ErrorCode } from '../../src/model/errors.ts';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
const ENDING = [
  ...[
    'sqlite-unsafe',
    'network-filesystem',
    'schema-newer',
    'schema-older',
    'database-corrupt',
    'unknown-attempt',
    'unfinished',
  ],
  ...['storage-full', 'storage-refused', 'machine-limit', 'workspace-busy', 'lease-fenced', 'cursor-refused'],
  'not-trusted',
];

const withCode = (code: string): Error => Object.assign(new Error('it'), { code });
interface About {
  readonly head?: string | undefined;
  readonly ready?: boolean;
  readonly leaving?: boolean;
  readonly loss?: SquadError;
}
const finder = (about: About = {}) =>
  createFaultFinder({
    workspaces: {
      runHead: () => Promise.resolve('head' in about ? about.head : 'a'.repeat(40)),
      createRunBranch: () =>
        Promise.resolve(about.ready === false ? { type: 'taken', head: 'b'.repeat(40) } : { type: 'ready' }),
    },
    definition: { name: 'run' },
    watch: { findLoss: () => about.loss },
    isLeaving: () => about.leaving === true,
  });

it.each(CODES)('%s ends the engine only if it is about ledger, lock, disk or machine', async (code) => {
  const error = new SquadError({ code, message: 'it' });
  expect(endsEngine(error)).toBe(ENDING.includes(code));
  const found = finder()(error);
  await (ENDING.includes(code) ? expect(found).rejects.toBe(error) : expect(found).resolves.toBe('it'));
});

it('takes errors of SQLite and of a full disk or used-up machine as they are, and all else for the task’s', async () => {
  await expect(finder()(withCode('SQLITE_IOERR'))).rejects.toThrow('it');
  await expect(finder()(withCode('ENOSPC'))).rejects.toMatchObject({ code: 'storage-full' });
  await expect(finder()(withCode('EMFILE'))).rejects.toMatchObject({ code: 'machine-limit' });
  expect(await finder()(withCode('ENAMETOOLONG'))).toBe('squad failed at it: it');
  expect(await finder()(new TypeError('x is not a function'))).toBe('squad failed at it: x is not a function');
  expect(await finder()('a text')).toBe('squad failed at it: a text');
});

it('blames no task where none could go on: a run branch that is gone, a repository that takes no ref, a lost place, an engine that leaves', async () => {
  const error = new SquadError({ code: 'wrong-environment', message: 'it' });
  const loss = new SquadError({ code: 'storage-refused', message: 'moved' });
  const all: About[] = [{ head: undefined }, { ready: false }, { leaving: true }];
  for (const about of all) {
    await expect(finder(about)(error)).rejects.toBe(error);
  }
  await expect(finder({ loss })(error)).rejects.toBe(loss);
});

it('looks again where another task was delivered between its two looks at the run branch', async () => {
  const heads = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
  let moves = 0;
  const find = createFaultFinder({
    workspaces: {
      runHead: () => Promise.resolve(heads[moves]),
      createRunBranch: (_run, head) => {
        moves = Math.min(moves + 1, 2);
        const now = heads[moves] ?? '';
        return Promise.resolve(head === now ? { type: 'ready' } : { type: 'taken', head: now });
      },
    },
    definition: { name: 'run' },
    isLeaving: () => false,
  });
  expect(await find(new TypeError('boom'))).toBe('squad failed at it: boom');
});
