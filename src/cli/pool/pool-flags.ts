import type { Given } from '../../text/flags.ts';
import { BEGINNING, JSON_OBJECT, NEW_RUN, PLAN, STRICT, TRIES, YES } from '../flags.ts';
import { wholeNumber } from '../option-values.ts';

const POOL = ['--pool <url>', 'address of the pool’s PostgreSQL (default: $SQUAD_POOL)'] as const;

/** Flags of the commands about a pool. */
export const POOL_FLAGS = {
  submit: [
    POOL,
    ['--labels <list>', 'only a worker that has all of these takes it, A,B'],
    ['--remote <name>', 'the remote that workers fetch from and push to (default: origin)'],
    ...NEW_RUN,
    TRIES,
    ...PLAN,
    ...BEGINNING,
    STRICT,
    ['--key <key>', 'your own id of the run: a second `submit` with it is the first'],
    ['--priority <rank>', 'high, medium, low or a whole number (default: as the objective says)'],
    JSON_OBJECT,
  ],
  worker: [
    POOL,
    ['--name <name>', 'name of this worker, which no other one has (default: that of the machine)'],
    ['--slots <n>', 'runs at once (default: 4)', wholeNumber],
    ['--labels <list>', 'what this machine has, A,B: it also takes the runs that ask for that'],
    ['--repos <folder>', 'where mirrors and checkouts of repositories go (default: in the state folder)'],
    ['--once', 'end after one run, or its part of one'],
  ],
  'worker allow': [POOL, [YES, 'allow it without a question'], JSON_OBJECT],
  pool: [POOL, JSON_OBJECT],
} as const;

export type PoolOptions<Name extends keyof typeof POOL_FLAGS> = Given<(typeof POOL_FLAGS)[Name]>;

/** Options of a command that looks for its run in a pool itself. `pool`: its address. */
export interface OfPool {
  readonly pool?: string;
}
