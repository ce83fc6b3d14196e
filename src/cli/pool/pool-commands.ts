import type { Commands } from '../command-row.ts';
import { LIMIT_FLAGS } from '../flags.ts';
import { OBJECTIVE } from '../read-objective.ts';
import { POOL_FLAGS } from './pool-flags.ts';

/** Runs on many machines. Nothing of a pool is loaded before one of these, or `--pool`. */
export const POOL_COMMANDS: Commands = {
  submit: {
    about: 'Give an objective to a pool of machines: one of its workers runs it.',
    examples: ['squad submit objective.md --pool "$SQUAD_POOL"', 'squad submit "add a login form" --labels gpu'],
    words: [['[objective]', OBJECTIVE]],
    flags: [...POOL_FLAGS.submit, ...LIMIT_FLAGS],
    load: async () => (await import('./submit.ts')).submitRun,
  },
  worker: {
    about: 'Take runs from a pool and work on them here, until it is stopped.',
    examples: ['squad worker --pool "$SQUAD_POOL"', 'squad worker --slots 2 --labels gpu', 'squad worker --once'],
    flags: POOL_FLAGS.worker,
    load: async () => (await import('./worker.ts')).worker,
    commands: {
      allow: {
        about: 'Show what a run of the pool would do on this machine, and allow that here, now and later.',
        examples: ['squad worker allow login-form'],
        words: [['<run>', 'name or id of a run of the pool']],
        flags: POOL_FLAGS['worker allow'],
        load: async () => (await import('./allow.ts')).allow,
      },
      segment: {
        hidden: true,
        about: 'Work on one run of the pool. `squad worker` starts this.',
        flags: [],
        load: async () => (await import('./segment.ts')).segment,
      },
    },
  },
  pool: {
    about: 'Show the workers of a pool, its runs, and who waits for a person.',
    examples: ['squad pool', 'squad pool --json'],
    flags: POOL_FLAGS.pool,
    load: async () => (await import('./pool.ts')).pool,
    commands: {
      drain: {
        about: 'Let a worker take no more, and hand its runs on once their turns have ended.',
        examples: ['squad pool drain worker-2'],
        words: [['<worker>', 'name of a worker']],
        flags: POOL_FLAGS.pool,
        load: async () => (await import('./pool.ts')).drain,
      },
      remove: {
        about: 'Remove a worker, whose runs others take over, or a run, on which no worker works any more.',
        examples: ['squad pool remove worker-2', 'squad pool remove login-form'],
        words: [['<name>', 'name of a worker, or name or id of a run']],
        flags: POOL_FLAGS.pool,
        load: async () => (await import('./pool.ts')).remove,
      },
    },
  },
};
