import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { throughEngine } from './makespan.ts';
import type { TraceTarget } from '../src/engine/tracing/target.ts';
import { growingPlan } from './shared/bench-playbook.ts';
import { mean, rowOf, type Bench } from './shared/row.ts';
import { runSimulated, type SimulatedRun } from './shared/simulated-run.ts';
import { createGraph } from './shared/task-graph.ts';

/** Five supersteps each. */
const TURNS = 400;
const WARM_UP = 200;
const ROUNDS = 3;
const SEEDS = [1, 2, 3, 4, 5];
const LIMIT = 6;
/** A process of its own: what takes the spans has no part in the engine's time. */
const COLLECTOR = `require('node:http').createServer((request, response) =>
  request.resume().on('end', () => response.end('{}'))).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;

/** What traces cost the engine, where the collector answers. */
export const traces: Bench = {
  name: 'traces',
  run: async (folder) => {
    const collector = spawn(process.execPath, ['-e', COLLECTOR], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [port] = (await once(collector.stdout, 'data')) as [Buffer];
      const url = `http://127.0.0.1:${port.toString().trim()}/v1/traces`;
      return await measure(folder, { to: 'otlp', url, headers: {}, content: false });
    } finally {
      collector.kill();
    }
  },
};

async function measure(folder: string, target: TraceTarget) {
  let runs = 0;
  const own = (): string => {
    runs += 1;
    const path = join(folder, String(runs));
    mkdirSync(path);
    return path;
  };
  const long = async (turns: number, to?: TraceTarget): Promise<Long> => {
    const before = process.cpuUsage();
    const plan = { playbook: growingPlan(turns), parallel: LIMIT, turns: { durationMs: () => 0 }, traces: to };
    const { supersteps, traces: sent } = await runSimulated(own(), plan);
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1000 / supersteps.length;
    return { supersteps, sent, cpuMs };
  };
  await long(WARM_UP, target);
  await long(WARM_UP);
  const [without, traced]: [Long[], Long[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await long(TURNS));
    traced.push(await long(TURNS, target));
  }
  const steps = traced[0]?.supersteps.length ?? NaN;
  const tenth = Math.floor(steps / 10);
  const each = (of: readonly Long[], from?: number, to?: number): number =>
    mean(of.map((one) => msEach(one, from, to)));
  const cpu = (of: readonly Long[]): number => mean(of.map(({ cpuMs }) => cpuMs));
  const makespans = { traced: [] as number[], without: [] as number[] };
  for (const seed of SEEDS) {
    makespans.without.push(await throughEngine(own(), createGraph(seed)));
    makespans.traced.push(await throughEngine(own(), createGraph(seed), target));
  }
  const { sent, dropped } = traced[0]?.sent ?? { sent: NaN, dropped: NaN };
  return [
    rowOf(`a superstep, ${steps} of them`, 'ms', each(traced), each(without), {
      target: { of: 'squad', most: 3 },
      note: `${sent} spans sent, ${dropped} dropped`,
    }),
    rowOf('the same in time of the processor, start and end included', 'ms', cpu(traced), cpu(without)),
    rowOf('the last tenth of them over the first', 'ms', each(traced, -tenth), each(traced, 0, tenth), {
      target: { of: 'ratio', most: 1.2 },
    }),
    rowOf('60 tasks, limit 6, mean of 5 seeds', 'ms', mean(makespans.traced), mean(makespans.without), {
      target: { of: 'ratio', most: 1.02 },
    }),
  ];
}

interface Long extends Pick<SimulatedRun, 'supersteps'> {
  readonly sent: SimulatedRun['traces'];
  /** For each superstep. */
  readonly cpuMs: number;
}

function msEach({ supersteps }: Long, from = 0, to?: number): number {
  const part = supersteps.slice(from, to);
  return ((part.at(-1)?.at ?? NaN) - (part[0]?.at ?? NaN)) / (part.length - 1);
}
