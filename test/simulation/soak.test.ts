import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { VirtualTime } from '../support/virtual-time.ts';
import { slopeOf, usageOf } from '../support/process-usage.ts';
import { brokenPromises } from './world/broken-promises.ts';
import { formOf, type Cue, type Part } from './world/simulated-agents.ts';
import { runWorld } from './world/simulated-world.ts';
import { writtenPlan } from './world/written-plan.ts';
import { NIGHT } from '../support/lane.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';

const HOUR = 3_600_000;
const MB = 1024 * 1024;
/** With their four rounds each, six at a time, they fill eight hours. */
const TASKS = Array.from({ length: 50 }, (_, index) => ({ id: `t-${index}` }));
const ROUNDS = 4;
const TURN_MS = 7.5 * 60_000;
const TEAM = [
  ['planner', 'planner', 'claude'],
  ['builder-1', 'builder', 'claude'],
  ['builder-2', 'builder', 'codex'],
  ['builder-3', 'builder', 'claude'],
  ['reviewer-1', 'reviewer', 'codex'],
  ['reviewer-2', 'reviewer', 'claude'],
] as const;

interface Sample {
  readonly hours: number;
  readonly heapMb: number;
  readonly rssMb: number;
  readonly files: number;
}

/** Every review but the last rejects. */
function sendsBack({ request, number }: Cue): Part | undefined {
  if (!formOf(request).includes('approved') || number >= ROUNDS) return undefined;
  const findings = [finding(`round ${number}`)];
  const structured = { approved: false, summary: 'not yet', findings, settled: ALL_FIXED };
  return { ms: TURN_MS, toolMs: 1_000, result: { outcome: 'completed', text: 'judged', structured } };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, []);
}

it(
  'T22: eight hours of six agents leave memory, files, timers and listeners as they were',
  { ...NIGHT, timeout: 240_000 },
  async () => {
    const samples: Sample[] = [];
    const sample = (time: VirtualTime): void => {
      const hours = time.monotonic() / HOUR;
      if (hours < (samples.at(-1)?.hours ?? -1) + 0.5) return;
      collectGarbage();
      const { rssMb, files } = usageOf('self');
      samples.push({ hours, heapMb: process.memoryUsage().heapUsed / MB, rssMb, files });
    };
    const plan = writtenPlan({
      team: TEAM,
      tasks: TASKS,
      turnMs: TURN_MS,
      limits: { turns: 2_000, minutes: 10_000, reviewRounds: ROUNDS, parallel: 6 },
      plays: (cue, time) => {
        sample(time);
        return sendsBack(cue);
      },
    });
    // Of the plan and one task: what every run has, and what is compiled once.
    const small = await runWorld(writtenPlan({ team: TEAM, tasks: TASKS.slice(0, 1) }));
    const before = leftBehind();
    const world = await runWorld(plan);
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(brokenPromises(world)).toEqual([]);
    expect(world.ranMs).toBeGreaterThan(8 * HOUR);

    const turns = world.agents.starts.length;
    expect(turns).toBe(1 + 2 * ROUNDS * TASKS.length);
    const perThousand = ((world.bytes - small.bytes) / MB / (turns - small.agents.starts.length)) * 1_000;
    const settled = samples.filter(({ hours }) => hours > 1);
    const slope = slopeOf(settled.map(({ hours, heapMb }) => ({ x: hours, y: heapMb })));
    const rssMb = Math.max(...samples.map((one) => one.rssMb));
    console.log(
      `${turns} turns: ${perThousand.toFixed(1)} MB of databases for 1,000, heap ${slope.toFixed(2)} MB an hour, ` +
        `at most ${rssMb.toFixed(0)} MB resident`,
    );
    expect(perThousand).toBeLessThan(50);
    expect(slope).toBeLessThan(1);
    expect(rssMb).toBeLessThan(500);
    expect(new Set(settled.map(({ files }) => files)).size).toBe(1);
    // Of what the test's own runner has at the moment, there may be less.
    const more = Object.entries(leftBehind()).filter(([name, count]) => count > (before[name] ?? 0));
    expect(more).toEqual([]);
  },
);

/** What keeps a process alive, or hears of things after their end. */
function leftBehind(): Record<string, number> {
  const left = Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
  for (const name of process.getActiveResourcesInfo()) {
    // Gone by the next turn of the loop.
    if (name !== 'Immediate') left[name] = (left[name] ?? 0) + 1;
  }
  return left;
}
