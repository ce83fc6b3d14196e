import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TraceTarget } from '../src/engine/tracing/target.ts';
import { answerTask, fixedPlan } from './shared/bench-playbook.ts';
import { createGraph, idealSchedule, timerSchedule, type Graph } from './shared/task-graph.ts';
import { mean, rowOf, type Bench } from './shared/row.ts';
import { runSimulated } from './shared/simulated-run.ts';

const SEEDS = [1, 2, 3, 4, 5];
const LIMIT = 6;

/** Random graphs of tasks through the whole engine, over the schedule that costs nothing. */
export const makespan: Bench = {
  name: 'makespan',
  run: async (folder) => {
    const squad: number[] = [];
    const ideal: number[] = [];
    const timers: number[] = [];
    for (const seed of SEEDS) {
      const graph = createGraph(seed);
      const own = join(folder, String(seed));
      mkdirSync(own);
      ideal.push(idealSchedule(graph, LIMIT));
      timers.push(await timerSchedule(graph, LIMIT));
      squad.push(await throughEngine(own, graph));
    }
    const target = { of: 'ratio', most: 1.05 } as const;
    const each = squad.map((one, index) => (one / (ideal[index] ?? NaN)).toFixed(3)).join(', ');
    return [
      rowOf('60 tasks, limit 6, mean of 5 seeds, over the ideal list schedule', 'ms', mean(squad), mean(ideal), {
        target,
        note: `each seed: ${each}`,
      }),
      rowOf('floor: the same by nothing but timers, over the ideal', 'ms', mean(timers), mean(ideal)),
    ];
  },
};

/** From the first claim to the last settlement, by the ledger's own times. `traces`: where the engine sends them meanwhile. */
export async function throughEngine(folder: string, graph: Graph, traces?: TraceTarget): Promise<number> {
  const durations = new Map(graph.map(({ id, ms }) => [id, ms]));
  const taskOf = (attemptId: string): string => attemptId.slice(attemptId.lastIndexOf('.') + 1).replace(/-\d+$/, '');
  const { events } = await runSimulated(folder, {
    playbook: fixedPlan(graph.map(({ id, needs }) => answerTask(id, needs))),
    parallel: LIMIT,
    turns: { durationMs: (attemptId) => durations.get(taskOf(attemptId)) ?? 0 },
    traces,
  });
  const first = events.find(({ type }) => type === 'attempt-claimed');
  const last = events.findLast(({ type }) => type === 'attempt-settled');
  return (last?.at ?? NaN) - (first?.at ?? NaN);
}
