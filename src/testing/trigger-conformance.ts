import { setTimeout } from 'node:timers/promises';
import type { SegmentOffer, StopTaking, TakenSegment, Trigger } from '../substrate/ports/trigger.ts';
import type { TestRunner } from './runtime-stage.ts';

/** Makes the queues on which `triggerConformance` tries an implementation of `Trigger`. */
export interface TriggerHarness {
  readonly name: string;
  /** One trigger for each call, all on one new and empty queue. */
  open(): Promise<{ connect(): Promise<Trigger>; close(): Promise<void> }>;
  /** The time after which a segment that is not renewed is given to another worker. */
  readonly heldMs: number;
  /** Within so many ms what is due has to arrive, on this machine. */
  readonly soonMs: number;
}

/** One case: workers and a submitter on a queue of their own. */
interface TriggerStage {
  readonly submitter: Trigger;
  /** A worker with a trigger of its own, which keeps what it took. */
  readonly worker: (offer?: Partial<SegmentOffer>) => Promise<TriggerWorker>;
  readonly until: (what: string, isSo: () => boolean, ms?: number) => Promise<void>;
  readonly harness: TriggerHarness;
}

interface TriggerWorker {
  readonly trigger: Trigger;
  readonly taken: TakenSegment[];
  readonly stop: StopTaking;
}

/** One promise of a trigger. Rejects where it is broken. */
export interface TriggerCase {
  readonly title: string;
  readonly check: (stage: TriggerStage) => Promise<void>;
}

const segment = (run: string, rest: { priority?: number; labels?: readonly string[] } = {}) => ({
  ...{ run, priority: 0, labels: [] },
  ...rest,
});

/** Tests one trigger against every promise of the port. */
export function triggerConformance(runner: TestRunner, harness: TriggerHarness): void {
  runner.describe(`${harness.name} keeps the promises of Trigger`, () => {
    for (const { title, check } of TRIGGER_CASES)
      runner.it(title, async () => runCase(harness, check), 8 * harness.heldMs + 12 * harness.soonMs + 60_000);
  });
}

async function runCase(harness: TriggerHarness, check: TriggerCase['check']): Promise<void> {
  const queue = await harness.open();
  const opened: Trigger[] = [];
  const connect = async (): Promise<Trigger> => {
    const trigger = await queue.connect();
    opened.push(trigger);
    return trigger;
  };
  try {
    await check({
      harness,
      submitter: await connect(),
      worker: async (offer = {}) => {
        const trigger = await connect();
        const taken: TakenSegment[] = [];
        const stop = await trigger.take({ labels: [], slots: 1, ...offer }, (one) => taken.push(one));
        return { trigger, taken, stop };
      },
      until: async (what, isSo, ms = harness.soonMs) => {
        for (let left = ms; !isSo(); left -= 20) {
          if (left <= 0) throw new Error(`within ${ms} ms this did not happen: ${what}`);
          await setTimeout(20);
        }
      },
    });
  } finally {
    await Promise.all(opened.map(async (trigger) => trigger.close()));
    await queue.close();
  }
}

const runsOf = ({ taken }: TriggerWorker) => taken.map(({ run }) => run).join(' ');

function equal(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what}: expected ${String(expected)}, found ${String(found)}`);
}

function first({ taken: [one] }: TriggerWorker): TakenSegment {
  if (one === undefined) throw new Error('nothing was taken');
  return one;
}

/** Every case, for those who name one. */
export const TRIGGER_CASES: readonly TriggerCase[] = [
  {
    title: 'hands a segment to one worker alone',
    check: async ({ submitter, worker, until, harness }) => {
      const [one, two] = [await worker(), await worker()];
      equal(await submitter.submit(segment('a')), 'queued', 'the first submission');
      await until('a worker has it', () => one.taken.length + two.taken.length > 0);
      await setTimeout(harness.soonMs);
      equal(`${runsOf(one)}${runsOf(two)}`, 'a', 'what both have');
    },
  },
  {
    title: 'knows a run that waits or was taken, and one that was released no more',
    check: async ({ submitter, worker, until }) => {
      await submitter.submit(segment('a'));
      equal(await submitter.submit(segment('a')), 'known', 'while it waits');
      const one = await worker();
      await until('it is taken', () => one.taken.length === 1);
      equal(await submitter.submit(segment('a')), 'known', 'while it is taken');
      await one.trigger.release(first(one));
      equal(await submitter.submit(segment('a')), 'queued', 'once it was released');
      await until('it is taken again', () => one.taken.length === 2);
    },
  },
  {
    title: 'gives no more than there are slots, and more once one is free',
    check: async ({ submitter, worker, until, harness }) => {
      for (const run of ['a', 'b', 'c']) await submitter.submit(segment(run));
      const one = await worker({ slots: 2 });
      await until('two are taken', () => one.taken.length === 2);
      await setTimeout(harness.soonMs);
      equal(one.taken.length, 2, 'taken at once');
      await one.trigger.release(first(one));
      await until('the third is taken', () => one.taken.length === 3);
    },
  },
  {
    title: 'gives the higher priority first',
    check: async ({ submitter, worker, until }) => {
      await submitter.submit(segment('low', { priority: 1 }));
      await submitter.submit(segment('high', { priority: 7 }));
      const one = await worker();
      await until('one is taken', () => one.taken.length === 1);
      equal(runsOf(one), 'high', 'what is taken first');
    },
  },
  {
    title: 'gives a segment only to a worker that has all of its labels',
    check: async ({ submitter, worker, until, harness }) => {
      const [bare, part] = [await worker(), await worker({ labels: ['gpu'] })];
      await submitter.submit(segment('a', { labels: ['linux', 'gpu'] }));
      await setTimeout(harness.soonMs);
      equal(bare.taken.length + part.taken.length, 0, 'taken without the labels');
      const whole = await worker({ labels: ['gpu', 'linux', 'more'] });
      await until('the one with the labels has it', () => whole.taken.length === 1);
    },
  },
  {
    title: 'keeps a segment with the worker that renews it, beyond the time for which it is given',
    check: async ({ submitter, worker, until, harness }) => {
      const one = await worker();
      await submitter.submit(segment('a'));
      await until('it is taken', () => one.taken.length === 1);
      const two = await worker();
      for (let at = 0; at < harness.heldMs * 1.6; at += harness.heldMs * 0.3) {
        await setTimeout(harness.heldMs * 0.3);
        equal(await one.trigger.renew(first(one)), 'kept', 'the renewal');
      }
      equal(two.taken.length, 0, 'taken by the other worker');
    },
  },
  {
    title: 'gives it to another worker when it was not renewed, and lets the first one do nothing more with it',
    check: async ({ submitter, worker, until, harness }) => {
      const one = await worker();
      await submitter.submit(segment('a'));
      await until('it is taken', () => one.taken.length === 1);
      await one.stop();
      const two = await worker();
      await until('the other worker has it', () => two.taken.length === 1, 3 * harness.heldMs + harness.soonMs);
      equal(await one.trigger.renew(first(one)), 'lost', 'the renewal of the first');
      await one.trigger.release(first(one));
      equal(await two.trigger.renew(first(two)), 'kept', 'the renewal of the second');
      equal(await submitter.submit(segment('a')), 'known', 'a submission after the release of the first');
    },
  },
  {
    title: 'gives back what is due again at its time, and not before',
    check: async ({ submitter, worker, until, harness }) => {
      const one = await worker();
      await submitter.submit(segment('a'));
      await until('it is taken', () => one.taken.length === 1);
      await one.trigger.release(first(one), { again: Date.now() + 2 * harness.soonMs });
      await setTimeout(harness.soonMs);
      equal(one.taken.length, 1, 'taken before its time');
      await until('it is taken again', () => one.taken.length === 2, 3 * harness.soonMs);
    },
  },
  {
    title: 'gives at once what waits for its time and is submitted',
    check: async ({ submitter, worker, until }) => {
      const one = await worker();
      await submitter.submit(segment('a'));
      await until('it is taken', () => one.taken.length === 1);
      await one.trigger.release(first(one), { again: Date.now() + 3_600_000 });
      equal(await submitter.submit(segment('a')), 'known', 'the submission');
      await until('it is taken again', () => one.taken.length === 2);
    },
  },
  {
    title: 'takes nothing more for a worker that has stopped, and keeps what it has',
    check: async ({ submitter, worker, until, harness }) => {
      const one = await worker({ slots: 2 });
      await submitter.submit(segment('a'));
      await until('it is taken', () => one.taken.length === 1);
      await one.stop();
      await submitter.submit(segment('b'));
      await setTimeout(harness.soonMs);
      equal(runsOf(one), 'a', 'what it has');
      equal(await one.trigger.renew(first(one)), 'kept', 'the renewal');
    },
  },
];
