import type { Clock } from '../../src/substrate/ports/clock.ts';

/**
 * Time that stands still while anybody has something to do, and jumps to the next sleeper when nobody has. The same work
 * is woken in the same order every time, however busy the machine is.
 */
export interface VirtualTime {
  /** Epoch ms, whole: what the wall clock shows. */
  now(): number;
  /** ms that the machine has run. */
  monotonic(): number;
  /** Sleeps of whoever does not live any more never end. */
  clock(lives?: () => boolean): Clock;
  /** Runs once the machine has run for `ms` more. */
  after(ms: number, action: () => void): void;
  /** Somebody sets the wall clock; nothing else notices. */
  stepWall(ms: number): void;
  /** The machine sleeps: the wall clock goes on, its running time and with it every sleeper stands still. */
  suspend(ms: number): void;
  /** Lets time pass until this is settled. Throws when nobody sleeps any more, or once it has taken `most` ms. */
  pass<T>(work: Promise<T>, most: number): Promise<T>;
}

interface Sleeper {
  readonly at: number;
  readonly order: number;
  wake: (() => void) | undefined;
}

export function createVirtualTime(wall: number): VirtualTime {
  const sleepers = createQueue();
  let running = 0;
  let offset = wall;

  const after = (ms: number, wake: () => void): Sleeper => sleepers.add(running + Math.max(0, ms), wake);
  const sleep = async (ms: number, signal: AbortSignal | undefined, lives: () => boolean): Promise<void> => {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const sleeper = after(ms, () => {
        signal?.removeEventListener('abort', wakeEarly);
        if (lives()) resolve();
      });
      const wakeEarly = (): void => {
        sleeper.wake = undefined;
        if (lives()) resolve();
      };
      signal?.addEventListener('abort', wakeEarly, { once: true });
    });
  };
  const now = (): number => Math.floor(offset + running);
  const monotonic = (): number => running;

  return {
    now,
    monotonic,
    clock: (lives = () => true) => ({ now, monotonic, sleep: (ms, signal) => sleep(ms, signal, lives) }),
    after: (ms, action) => void after(ms, action),
    stepWall: (ms) => {
      offset += ms;
    },
    suspend: (ms) => {
      offset += ms;
    },
    pass: async (work, most) => {
      let settled = false;
      const settle = (): void => {
        settled = true;
      };
      work.then(settle, settle);
      const end = running + most;
      for (;;) {
        await quiet();
        if (settled) return work;
        const next = sleepers.take();
        if (next === undefined) throw new Error('nobody sleeps, and what is waited for has not ended');
        if (next.at > end) throw new Error(`it has not ended after ${most} ms`);
        running = Math.max(running, next.at);
        next.wake?.();
      }
    },
  };
}

/** Until every promise that can go on has, and no file is being worked on: what is left waits for time to pass. */
async function quiet(): Promise<void> {
  do await new Promise<void>((resolve) => setImmediate(resolve));
  while (process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq)/.test(name)));
}

/** By time, and of one moment by arrival. */
function createQueue() {
  const heap: Sleeper[] = [];
  let arrivals = 0;
  const isBefore = (a: Sleeper, b: Sleeper): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
  const swap = (a: number, b: number): void => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  };
  const isOrdered = (parent: number, child: number): boolean => {
    const [above, below] = [heap[parent], heap[child]];
    return above === undefined || below === undefined || isBefore(above, below);
  };
  const rise = (from: number): void => {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1;
      if (isOrdered(parent, child)) return;
      swap(parent, child);
      child = parent;
    }
  };
  const sink = (): void => {
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      const child = isOrdered(left, left + 1) ? left : left + 1;
      if (isOrdered(parent, child)) return;
      swap(parent, child);
      parent = child;
    }
  };
  return {
    add: (at: number, wake: () => void): Sleeper => {
      const sleeper: Sleeper = { at, order: arrivals, wake };
      arrivals += 1;
      heap.push(sleeper);
      rise(heap.length - 1);
      return sleeper;
    },
    take: (): Sleeper | undefined => {
      const first = heap[0];
      swap(0, heap.length - 1);
      heap.pop();
      sink();
      return first;
    },
  };
}
