import { deliveryOptions } from '../../support/delivery-list.ts';
import { runDefinitionSchema } from '../../../src/model/run.ts';
import type { VirtualTime } from '../../support/virtual-time.ts';
import { formOf, type Cue, type Part } from './simulated-agents.ts';
import type { WorldPlan } from './simulated-world.ts';

export interface Written {
  readonly wall?: number;
  /** Name, role and runtime of each; the runtime is its account too. */
  readonly team: readonly (readonly [string, string, 'claude' | 'codex' | 'scripted'])[];
  readonly tasks: readonly { readonly id: string; readonly needs?: readonly string[] }[];
  readonly limits?: Readonly<Record<string, number>>;
  /** What an agent does other than its work; undefined: it works. */
  readonly plays?: (cue: Cue, time: VirtualTime) => Part | undefined;
  readonly clockFaults?: WorldPlan['clockFaults'];
  readonly turnMs?: number;
}

/** A delivery without anything random in it, for what has to happen exactly so. */
export function writtenPlan({ wall, team, tasks, limits, plays, clockFaults, turnMs }: Written): WorldPlan {
  const { repository: _, ...definition } = runDefinitionSchema.parse({
    version: 1,
    name: 'simulated',
    source: 'objective.md',
    objective: { title: 'Written', goals: ['finish'], criteria: [], constraints: [], context: '', text: '# Written\n' },
    playbook: 'delivery',
    options: deliveryOptions(
      team.map(([, role]) => ({ role })),
      { criteria: [] },
    ),
    agents: team.map(([name, role, runtime]) => ({
      name,
      role,
      runtime,
      access: { level: 'edit' },
      instructions: `You are ${name}.`,
      account: runtime,
    })),
    runtimes: {},
    limits: { parallel: 6, ...limits },
    setup: [],
    verify: [],
    repository: { root: '/', base: '' },
    ...{ described: {}, judges: ['reviewer', 'member'], baseline: 'off', plan: 'auto', strict: false },
    trusted: null,
  });
  return {
    seed: 1,
    wall: wall ?? Date.UTC(2026, 10, 20, 12),
    definition,
    cast: (time) => (cue) => plays?.(cue, time) ?? work(cue, tasks, turnMs ?? 1_000),
    crashes: [],
    clockFaults: clockFaults ?? [],
    answer: (_question, [again = '']) => again,
    most: 24 * 3_600_000,
  };
}

/** Plans, approves or builds, without a fault. */
export function work(cue: Cue, tasks: Written['tasks'], ms: number): Part {
  const { task, request, number } = cue;
  const part = { ms, toolMs: ms / 2 };
  const completed = { outcome: 'completed' as const, text: `${task} is done` };
  switch (formOf(request)) {
    case '':
      return {
        ...part,
        result: completed,
        deed: { writes: { [`${task}.txt`]: `by turn ${number}` }, commits: true },
      };
    case 'summary tasks':
      return { ...part, result: { ...completed, structured: { summary: 'a plan', tasks: tasks.map(planned) } } };
    case 'criteria summary tasks':
      return {
        ...part,
        result: { ...completed, structured: { summary: 'a plan', tasks: tasks.map(planned), criteria: [] } },
      };
    default:
      return { ...part, result: { ...completed, structured: { approved: true, summary: 'good', findings: [] } } };
  }
}

function planned({ id, needs = [] }: Written['tasks'][number]) {
  return { id, title: id, role: 'builder', needs: [...needs], brief: `Build ${id}.`, acceptance: ['it works'] };
}
