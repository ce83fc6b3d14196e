import type { Db, JobAttempt, PgBoss } from 'pg-boss';
import { z } from 'zod';
import { usageError } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Clock } from '../ports/clock.ts';
import { POOL_LEASE } from '../ports/pool.ts';
import type { Segment, SegmentOffer, StopTaking, TakenSegment, Trigger } from '../ports/trigger.ts';
import type { PoolDatabase, Statements } from './database.ts';
import { loadBoss } from './library.ts';
import { poolError } from './pool-errors.ts';

const SCHEMA = 'squad_boss';
const WAKE = 'squad_pool_wake';
/** A queue for each set of labels, because a worker cannot look at a job before it has taken it. */
const QUEUE = 'run';
const LABEL = /^[a-z0-9][a-z0-9-]{0,30}$/;
/** For a wake-up that was missed. */
const POLL_MS = 1_000;
/** Queues of labels that others have made since. */
const QUEUES_MS = 5_000;
const MOST_QUEUES = 10_000;
/** The longest that pg-boss keeps. A run gives its segment back before. */
const SEGMENT_S = 24 * 60 * 60;

const JOBS = {
  policy: 'exclusive',
  heartbeatSeconds: POOL_LEASE.heldMs / 1_000,
  // A lost worker is no fault of the run.
  retryLimit: 1_000,
  retryDelay: 0,
  expireInSeconds: SEGMENT_S,
  retentionSeconds: 30 * SEGMENT_S,
  deleteAfterSeconds: 60 * 60,
} as const;

/** `watches`: it also looks for segments of lost workers, as workers do. */
interface TriggerPorts {
  readonly database: PoolDatabase;
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
  readonly watches: boolean;
}

/** The trigger of a pool by pg-boss, in the database of the pool. */
export async function createTrigger({ database, clock, watches }: TriggerPorts): Promise<Trigger> {
  const boss = await openBoss(database, watches);
  const takings = new Set<Taking>();
  return {
    submit: async (segment) => submit(boss, segment),
    take: async (offer, onTaken) => {
      const taking = createTaking(boss, clock, offer, onTaken);
      takings.add(taking);
      return async () => {
        takings.delete(taking);
        await taking.stop();
      };
    },
    renew: async (taken) => {
      const { queue, attempt } = partsOf(taken);
      return (await boss.call(async (jobs) => affected(await jobs.touch(queue, attempt)))) ? 'kept' : 'lost';
    },
    release: async (taken, how) => {
      await release(boss, taken, how?.again);
      for (const taking of takings) taking.freed(taken);
    },
    close: async () => {
      await Promise.all([...takings].map(async (taking) => taking.stop()));
      await boss.jobs.stop({ graceful: false, close: false });
    },
  };
}

interface OpenedBoss {
  readonly jobs: PgBoss;
  readonly database: PoolDatabase;
  /** Queues that are known to be there. */
  readonly queues: Set<string>;
  /** With errors of the database as squad reports them. */
  call<T>(work: (jobs: PgBoss) => Promise<T>): Promise<T>;
}

async function openBoss(database: PoolDatabase, watches: boolean): Promise<OpenedBoss> {
  const { PgBoss: Boss } = await loadBoss();
  const jobs = new Boss({
    db: executorOf(database),
    schema: SCHEMA,
    ...{ schedule: false, supervise: watches, registerInstance: false, monitorVacuum: false, reindex: false },
    ...{ superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, openTelemetry: { enabled: false } },
  });
  // It repeats its own work, and work for a caller throws there.
  jobs.on('error', () => undefined);
  const call: OpenedBoss['call'] = async (work) => {
    try {
      return await work(jobs);
    } catch (error) {
      throw poolError(database.address.shown, error);
    }
  };
  await call(async () => jobs.start());
  return { jobs, database, queues: new Set(), call };
}

function executorOf({ raw }: Pick<Statements, 'raw'>): Db {
  return { executeSql: async (text, values) => raw(text, values) };
}

export function queueOf(labels: readonly string[]): string {
  const wrong = labels.find((label) => !LABEL.test(label));
  if (wrong === undefined) return [QUEUE, ...new Set(labels.toSorted())].join('.');
  throw usageError(
    `${plainLine(wrong, 60)} is no label`,
    'A label has small letters, digits and hyphens: `--labels gpu,linux`.',
  );
}

async function submit(boss: OpenedBoss, { run, priority, labels }: Segment): Promise<'queued' | 'known'> {
  const queue = queueOf(labels);
  const sent = await boss.call(async (jobs) => {
    if (!boss.queues.has(queue)) await jobs.createQueue(queue, JOBS);
    boss.queues.add(queue);
    const id = await jobs.send(queue, { run }, { singletonKey: run, priority });
    if (id === null) await jobs.update(queue, { run }, { singletonKey: run, priority, startAfter: 0 });
    return id;
  });
  await wake(boss.database);
  return sent === null ? 'known' : 'queued';
}

async function wake(statements: Statements): Promise<void> {
  await statements.rows(`select pg_notify('${WAKE}', '')`);
}

async function release(boss: OpenedBoss, taken: TakenSegment, again: number | undefined): Promise<void> {
  const { queue, attempt } = partsOf(taken);
  await boss.call(async (jobs) =>
    boss.database.transaction(async (statements) => {
      const db = executorOf(statements);
      const found = again === undefined ? [] : await jobs.findJobs(queue, { id: attempt.id, db });
      if (!affected(await jobs.complete(queue, attempt, null, { db })) || again === undefined) return;
      const options = { singletonKey: taken.run, priority: found[0]?.priority ?? 0, startAfter: new Date(again), db };
      await jobs.send(queue, { run: taken.run }, options);
      await wake(statements);
    }),
  );
}

const answerSchema = z.object({ affected: z.int() });

function affected(answer: unknown): boolean {
  return answerSchema.parse(answer).affected > 0;
}

/** The ticket of a taken job: its queue, its id, and how often it was taken before. */
function ticketOf(queue: string, { id, retryCount }: JobAttempt): string {
  return `${queue} ${id} ${retryCount}`;
}

function partsOf({ ticket }: TakenSegment): { readonly queue: string; readonly attempt: JobAttempt } {
  const [queue = '', id = '', count = ''] = ticket.split(' ');
  return { queue, attempt: { id, retryCount: Number(count) } };
}

interface Taking {
  freed(taken: TakenSegment): void;
  stop: StopTaking;
}

const jobSchema = z.object({ run: z.string() });

/** Looks at the queues whose labels the offer has, as long as a slot is free: when it is woken, and from time to time. */
function createTaking(
  { jobs, database }: OpenedBoss,
  clock: TriggerPorts['clock'],
  { labels, slots }: SegmentOffer,
  onTaken: (taken: TakenSegment) => void,
): Taking {
  queueOf(labels);
  const mine = new Set<string>();
  const offered = new Set(labels);
  const stopped = new AbortController();
  let wakeUp = new AbortController();
  let queues: { readonly at: number; readonly names: readonly string[] } | undefined;

  const findQueues = async (): Promise<readonly string[]> => {
    if (queues !== undefined && clock.monotonic() - queues.at < QUEUES_MS) return queues.names;
    const all = await jobs.getQueues(undefined, { limit: MOST_QUEUES });
    const names = all.map(({ name }) => name).filter((name) => fits(name, offered));
    queues = { at: clock.monotonic(), names };
    return names;
  };
  const look = async (): Promise<void> => {
    for (const queue of await findQueues()) {
      const free = slots - mine.size;
      if (free <= 0 || stopped.signal.aborted) return;
      for (const job of await jobs.fetch(queue, { batchSize: free })) {
        const { run } = jobSchema.parse(job.data);
        const taken = { run, ticket: ticketOf(queue, job) };
        mine.add(taken.ticket);
        onTaken(taken);
      }
    }
  };
  const again = (): void => wakeUp.abort();
  const deaf = database.listen(WAKE, () => {
    // A new set of labels may have come.
    queues = undefined;
    again();
  });
  const looking = (async () => {
    while (!stopped.signal.aborted) {
      wakeUp = new AbortController();
      // The database may be away for a while; the next look is soon.
      await look().catch(() => undefined);
      await clock.sleep(POLL_MS, wakeUp.signal);
    }
  })();
  return {
    freed: ({ ticket }) => {
      mine.delete(ticket);
      again();
    },
    stop: async () => {
      stopped.abort();
      deaf();
      again();
      await looking;
    },
  };
}

function fits(queue: string, offered: ReadonlySet<string>): boolean {
  const [first, ...labels] = queue.split('.');
  return first === QUEUE && labels.every((label) => offered.has(label));
}
