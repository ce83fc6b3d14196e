interface GraphTask {
  readonly id: string;
  readonly needs: readonly string[];
  readonly ms: number;
}

/** In the order of the plan: needs come before what needs them. */
export type Graph = readonly GraphTask[];

/** 60 tasks of 20 to 400 ms; each needs up to three of the twelve before it. The same seed is the same graph. */
export function createGraph(seed: number): Graph {
  const random = createRandom(seed);
  return Array.from({ length: 60 }, (_, index) => {
    const near = Array.from({ length: Math.min(index, 12) }, (_, back) => `t${index - 1 - back}`);
    const needs = near.filter(() => random() < 1.5 / 12).slice(0, 3);
    return { id: `t${index}`, needs, ms: 20 + Math.floor(random() * 381) };
  });
}

/** First planned, first out: the engine's own policy, with nothing to pay between two tasks. */
export function idealSchedule(graph: Graph, limit: number): number {
  const ends = new Map<string, number>();
  const started = new Set<string>();
  for (let now = 0; ;) {
    const busy = [...ends.values()].filter((end) => end > now).length;
    const isReady = ({ id, needs }: GraphTask): boolean =>
      !started.has(id) && needs.every((need) => (ends.get(need) ?? Infinity) <= now);
    for (const task of graph.filter(isReady).slice(0, limit - busy)) {
      started.add(task.id);
      ends.set(task.id, now + task.ms);
    }
    const ahead = [...ends.values()].filter((end) => end > now);
    if (ahead.length === 0) return now;
    now = Math.min(...ahead);
  }
}

/** The same with this machine's timers: what no engine in this process can be better than. */
export async function timerSchedule(graph: Graph, limit: number): Promise<number> {
  const done = new Set<string>();
  const started = new Set<string>();
  const from = performance.now();
  await new Promise<void>((resolve) => {
    const go = (): void => {
      if (done.size === graph.length) resolve();
      const ready = graph.filter(({ id, needs }) => !started.has(id) && needs.every((need) => done.has(need)));
      for (const { id, ms } of ready.slice(0, limit - (started.size - done.size))) {
        started.add(id);
        setTimeout(() => {
          done.add(id);
          go();
        }, ms);
      }
    };
    go();
  });
  return performance.now() - from;
}

/** mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
