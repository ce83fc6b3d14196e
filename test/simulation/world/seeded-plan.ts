import { deliveryOptions } from '../../support/delivery-list.ts';
import { runDefinitionSchema, type BoundAgent, type RunDefinition } from '../../../src/model/run.ts';
import { BUILT_IN_RUNTIMES } from '../../../src/model/runtime-name.ts';
import { objectiveOptions } from '../../support/objective-documents.ts';
import { drawInt, draw, drawOf } from './draw.ts';
import { seededCast, type Mood } from './seeded-cast.ts';
import type { ClockFault, Crash, WorldPlan } from './simulated-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 2, 28, 22, 0, 0);

/** Whether nothing in the plan depends on when or by whom something is done: crashes then change nothing of its end. */
export interface SeededPlan extends WorldPlan {
  readonly timeless: boolean;
}

/** Everything about one run, drawn from its seed. Small worlds are for where there is little time. */
export function seededPlan(seed: number, size: 'small' | 'large'): SeededPlan {
  // Half of all worlds have no caps, no conflicts and nobody who gives up: there crashes alone must change nothing.
  const timeless = draw(seed, 'timeless') < 0.5;
  const mood = { ...moodOf(seed, timeless), tasks: tasksOf(seed, size) };
  return {
    seed,
    timeless,
    wall: START + drawInt(0, 8 * 60, seed, 'wall') * MINUTE,
    definition: definitionOf(seed, timeless, size),
    cast: (time) => seededCast(seed, mood, time),
    crashes: crashesOf(seed),
    clockFaults: clockFaultsOf(seed),
    answer: (question, options, time) => {
      const [again = '', giveUp = again] = options;
      const [, keep = again, without = again] = options;
      if (question.startsWith('engine/baseline/'))
        return drawOf([again, keep, without], seed, 'answer', question, time);
      return mood.givesUp && draw(seed, 'answer', question, time) < 0.2 ? giveUp : again;
    },
    most: 12 * HOUR,
  };
}

function tasksOf(seed: number, size: 'small' | 'large'): number {
  return size === 'large' ? drawInt(1, 8, seed, 'tasks') : drawOf([1, 1, 1, 2, 2, 3], seed, 'tasks');
}

function moodOf(seed: number, timeless: boolean): Omit<Mood, 'tasks'> {
  return {
    failures: drawOf([0, 0.05, 0.1, 0.25], seed, 'failures'),
    limits: drawOf([0, 0, 0, 0.1], seed, 'limits'),
    rejections: drawOf([0, 0.1, 0.3, 0.8], seed, 'rejections'),
    lies: drawOf([0, 0.05, 0.2], seed, 'lies'),
    conflicts: timeless ? 0 : drawOf([0, 0.3, 0.8], seed, 'conflicts'),
    walls: timeless ? 0 : drawOf([0, 0, 0, 0.1], seed, 'walls'),
    infrastructure: !timeless,
    wildUsage: !timeless,
    givesUp: !timeless,
    shape: drawOf(['chain', 'fan', 'diamond', 'any'], seed, 'shape'),
    failingVerify: timeless ? 0 : drawOf([0, 0.2], seed, 'verify fails'),
    longestTurnMs: drawOf([500, 2_000, 10_000], seed, 'turns'),
  };
}

function definitionOf(seed: number, timeless: boolean, size: 'small' | 'large'): Omit<RunDefinition, 'repository'> {
  const playbook = draw(seed, 'playbook') < (size === 'large' ? 0.85 : 0.97) ? 'delivery' : 'objective';
  const capped = !timeless && draw(seed, 'capped') < 0.5;
  const rounds = drawInt(1, 4, seed, 'rounds');
  const criteria = [
    { text: 'it works', done: false, line: 1, ...(draw(seed, 'criterion') < 0.3 ? { command: 'make check' } : {}) },
  ];
  const agents = playbook === 'delivery' ? deliveryTeam(seed) : objectiveTeam(seed);
  const { repository: _, ...definition } = runDefinitionSchema.parse({
    version: 1,
    name: 'simulated',
    source: 'objective.md',
    objective: {
      title: 'Simulated',
      goals: ['finish'],
      criteria,
      constraints: [],
      context: '',
      text: '# Simulated\n',
    },
    playbook,
    options: playbook === 'delivery' ? deliveryOptions(agents, { criteria }, { rounds }) : objectiveOptions(rounds),
    agents,
    runtimes: {},
    limits: {
      parallel: drawInt(1, 6, seed, 'parallel'),
      reviewRounds: rounds,
      retries: drawInt(0, 2, seed, 'retries'),
      ...(capped ? capsOf(seed) : { turns: 1_000, usd: 100_000, minutes: 20_000 }),
    },
    setup: draw(seed, 'setup') < 0.15 ? [{ run: 'make setup' }] : [],
    verify: draw(seed, 'verify') < 0.3 ? [{ run: 'make verify' }] : [],
    baseline: drawOf(['report', 'report', 'green', 'off'], seed, 'baseline'),
    repository: { root: '/', base: '' },
    ...{ described: {}, judges: ['reviewer', 'member'], plan: 'auto', strict: false },
    trusted: null,
  });
  return definition;
}

function capsOf(seed: number) {
  switch (drawOf(['turns', 'usd', 'tokens', 'minutes'], seed, 'cap')) {
    case 'turns':
      return { turns: drawInt(1, 12, seed, 'turns cap') };
    case 'usd':
      return { usd: drawInt(1, 40, seed, 'usd cap') / 10 };
    case 'tokens':
      return { tokens: drawInt(1, 200, seed, 'tokens cap') * 1_000 };
    case 'minutes':
      return { minutes: drawInt(1, 20, seed, 'minutes cap') / 10 };
  }
}

function deliveryTeam(seed: number): BoundAgent[] {
  const committer = draw(seed, 'committer') < 0.2;
  const builders = Array.from({ length: drawInt(1, 3, seed, 'builders') }, (_, index) =>
    agent(seed, `builder-${index + 1}`, 'builder', !committer),
  );
  return [
    ...builders,
    ...(draw(seed, 'planner') < 0.5 ? [agent(seed, 'planner', 'planner')] : []),
    ...(draw(seed, 'reviewer') < 0.7 ? [agent(seed, 'reviewer', 'reviewer')] : []),
    ...(committer ? [agent(seed, 'committer', 'committer')] : []),
    ...(draw(seed, 'tester') < 0.2 ? [agent(seed, 'tester', 'tester')] : []),
  ];
}

function objectiveTeam(seed: number): BoundAgent[] {
  return ['pm', 'ba', 'builder', 'reviewer'].map((role) => agent(seed, role, role));
}

function agent(seed: number, name: string, role: string, commits = true): BoundAgent {
  const runtime = drawOf(BUILT_IN_RUNTIMES, seed, 'runtime', name);
  return {
    name,
    role,
    runtime,
    access: { level: 'edit' },
    instructions: `You are ${name}.`,
    account: runtime,
    ...(commits ? {} : { commits: false }),
  };
}

/** Mostly a few, often several in a row before an engine has got anywhere. */
function crashesOf(seed: number): Crash[] {
  const count = draw(seed, 'crashes') < 0.3 ? 0 : drawInt(1, 5, seed, 'how many');
  return Array.from({ length: count }, (_, index): Crash => {
    const soon = draw(seed, 'soon', index) < 0.4;
    return {
      effect: soon ? drawInt(1, 8, seed, 'effect', index) : drawInt(1, 150, seed, 'effect', index),
      when: drawOf(['before', 'after'], seed, 'when', index),
      downMs: drawOf([0, 500, 20_000, 10 * MINUTE], seed, 'down', index),
      reboot: draw(seed, 'reboot', index) < 0.2,
    };
  });
}

function clockFaultsOf(seed: number): ClockFault[] {
  if (draw(seed, 'clock faults') < 0.7) return [];
  return Array.from({ length: drawInt(1, 3, seed, 'clock fault count') }, (_, index) => ({
    afterMs: drawInt(0, 120_000, seed, 'clock fault', index),
    ...drawOf(
      [
        { do: 'step', ms: HOUR },
        { do: 'step', ms: -HOUR },
        { do: 'step', ms: -900 },
        { do: 'suspend', ms: 8 * HOUR },
      ],
      seed,
      'clock fault kind',
      index,
    ),
  }));
}
