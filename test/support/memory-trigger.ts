import type { Segment, SegmentOffer, TakenSegment, Trigger } from '../../src/substrate/ports/trigger.ts';

interface Entry extends Segment {
  due: number;
  order: number;
  takenBy?: { ticket: string; until: number };
}

interface Taker extends SegmentOffer {
  readonly tickets: Set<string>;
  readonly onTaken: (taken: TakenSegment) => void;
}

/** A queue in the memory of one process. A second implementation of the port, which needs no database. */
export function createMemoryQueue(heldMs: number) {
  const entries = new Map<string, Entry>();
  const takers = new Set<Taker>();
  let count = 0;

  const pass = (): void => {
    const now = Date.now();
    const waiting = [...entries.values()].filter(({ due, takenBy }) => due <= now && (takenBy?.until ?? 0) <= now);
    for (const entry of waiting.toSorted((a, b) => b.priority - a.priority || a.order - b.order)) {
      const taker = [...takers].find(
        ({ slots, labels, tickets }) => tickets.size < slots && entry.labels.every((label) => labels.includes(label)),
      );
      if (taker === undefined) continue;
      const ticket = `${(count += 1)}`;
      entry.takenBy = { ticket, until: now + heldMs };
      taker.tickets.add(ticket);
      taker.onTaken({ run: entry.run, ticket });
    }
  };
  const timer = setInterval(pass, 10);
  const holds = ({ run, ticket }: TakenSegment): Entry | undefined => {
    const entry = entries.get(run);
    return entry?.takenBy?.ticket === ticket ? entry : undefined;
  };
  const connect = (): Trigger => {
    const mine = new Set<Taker>();
    return {
      submit: async (segment) => {
        const known = entries.get(segment.run);
        if (known !== undefined) known.due = 0;
        else entries.set(segment.run, { ...segment, due: 0, order: (count += 1) });
        return Promise.resolve(known === undefined ? 'queued' : 'known');
      },
      take: async (offer, onTaken) => {
        const taker = { ...offer, onTaken, tickets: new Set<string>() };
        takers.add(taker);
        mine.add(taker);
        return Promise.resolve(async () => Promise.resolve(void takers.delete(taker)));
      },
      renew: async (taken) => {
        const entry = holds(taken);
        if (entry?.takenBy === undefined) return Promise.resolve('lost');
        entry.takenBy.until = Date.now() + heldMs;
        return Promise.resolve('kept');
      },
      release: async (taken, how) => {
        const entry = holds(taken);
        for (const { tickets } of mine) tickets.delete(taken.ticket);
        if (entry !== undefined) entries.delete(taken.run);
        if (entry !== undefined && how?.again !== undefined)
          entries.set(taken.run, {
            run: taken.run,
            priority: entry.priority,
            labels: entry.labels,
            due: how.again,
            order: entry.order,
          });
        return Promise.resolve();
      },
      close: async () => {
        for (const taker of mine) takers.delete(taker);
        return Promise.resolve();
      },
    };
  };
  return { connect, close: () => clearInterval(timer) };
}
