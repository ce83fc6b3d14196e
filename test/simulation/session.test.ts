import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../src/model/limits.ts';
import { runDefinitionSchema } from '../../src/model/run.ts';
import { createSessionPlaybook } from '../../src/playbooks/session/index.ts';
import { plainJson } from '../../src/text/json.ts';
import { castFor, sessionFrom } from '../playbooks/session/support.ts';
import { answer, type SessionAbout } from '../support/session-folder.ts';
import { ALL } from '../support/lane.ts';
import { brokenPromises } from './world/broken-promises.ts';
import { runWorld, type WorldEnd, type WorldPlan } from './world/simulated-world.ts';

const DAY = 24 * 3_600_000;
const ROLES = [
  { name: 'analyst', responsibility: 'read-only' },
  { name: 'builder', responsibility: 'code-gen' },
  { name: 'writer', responsibility: 'code-gen (docs)', inner_loop: true },
];

/** Tasks in rows of ten, each of which needs two of the row before. */
function wideGraph(count: number): SessionAbout {
  const id = (index: number): string => `TASK-${String(index + 1).padStart(4, '0')}`;
  return {
    roles: ROLES,
    tasks: Array.from({ length: count }, (_, index) => ({
      id: id(index),
      role: ROLES[index % 3]?.name ?? '',
      needs:
        index < 10
          ? []
          : [id(index - 10), id(index - 10 - (index % 10 === 0 ? 0 : 1))].filter(
              (one, at, all) => all.indexOf(one) === at,
            ),
    })),
  };
}

function planOf(about: SessionAbout, most: number): WorldPlan {
  const session = sessionFrom(about);
  const limits = { turns: 5_000, minutes: 20_000, parallel: 8 };
  const { repository: _, ...definition } = runDefinitionSchema.parse({
    version: 1,
    name: 'simulated',
    source: 'session',
    objective: { title: 'Session', goals: [], criteria: [], constraints: [], context: '', text: 'Make things' },
    playbook: 'session',
    options: createSessionPlaybook(session).options?.({
      ...{
        run: 'simulated',
        section: undefined,
        limits: limitsSchema.parse(limits),
        publish: undefined,
        roles: [],
        objective: { criteria: [] },
      },
    }),
    agents: castFor(session).map(({ name, role, commits }) => ({
      ...{ name, role, runtime: 'claude', account: 'claude', instructions: `You are ${name}.` },
      access: { level: commits ? 'edit' : 'read-only' },
    })),
    runtimes: {},
    limits,
    setup: [],
    verify: [],
    repository: { root: '/', base: '' },
    ...{ described: {}, judges: ['reviewer', 'member'], baseline: 'off', plan: 'auto', strict: false },
    trusted: null,
  });
  return {
    ...{ seed: 1, wall: Date.UTC(2026, 10, 20, 12), definition, crashes: [], clockFaults: [], most },
    cast:
      () =>
      ({ task }) => ({
        ms: 1_000,
        toolMs: 500,
        result: { outcome: 'completed', text: `${task} is done`, structured: plainJson(answer({ summary: task })) },
        ...(Number(task.slice(5)) % 3 === 1 ? {} : { deed: { writes: { [`${task}.txt`]: task }, commits: true } }),
      }),
    answer: (_question, [again = '']) => again,
  };
}

function expectAllDone(world: WorldEnd, about: SessionAbout): void {
  const turns = world.agents.starts.length;
  expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
  expect(turns).toBe(about.tasks.length - (about.done ?? []).length);
  expect(brokenPromises(world)).toEqual([]);
  expect([...(world.reading.board.records.get('session-done')?.keys() ?? [])]).toHaveLength(turns);
}

describe('a session of many tasks in virtual time', () => {
  it('plays 500 tasks, half of which were done elsewhere, each once', { ...ALL, timeout: 300_000 }, async () => {
    const whole = wideGraph(500);
    const about = { ...whole, done: whole.tasks.slice(0, 250).map(({ id }) => id) };
    expectAllDone(await runWorld(planOf(about, DAY)), about);
  });

  it.skipIf(process.env['SQUAD_LONG_SESSION'] === undefined)(
    'plays 2,000 tasks (SQUAD_LONG_SESSION=1)',
    { ...ALL, timeout: 900_000 },
    async () => {
      const about = wideGraph(2_000);
      expectAllDone(await runWorld(planOf(about, DAY)), about);
    },
  );
});
