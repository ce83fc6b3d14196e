import { describe, expect, it } from 'vitest';
import { factsOf } from '../../src/rules/run-facts.ts';
import type { BoundAgent, RunDefinition } from '../../src/model/run.ts';
import type { RunFacts } from '../../src/model/plan/board.ts';
import { definition } from '../view/report/support.ts';

const [, AGENT] = definition().agents as [BoundAgent, BoundAgent];
const REPOSITORY = { root: '/repository', base: 'abc', branch: 'main' };
const RUN: RunDefinition = { ...definition(), agents: [AGENT], repository: REPOSITORY };
const VERIFY = { run: 'npm test' } as RunDefinition['verify'][number];
const SETUP = { run: 'npm ci' } as RunDefinition['setup'][number];
const PLACE = { done: false, line: 1 };
const CRITERIA = [
  { text: 'it works', command: 'npm test', ...PLACE },
  { text: 'it is nice', ...PLACE },
];
const DOUBTFUL = { file: 'o.md' } as NonNullable<RunFacts['doubtful']>;
const objective = { ...RUN.objective, criteria: [...CRITERIA] };
const BEGAN = { prepares: true, verifies: true, commands: ['make'], criteria: [{ text: 'old', ...PLACE }] };

describe('what the plan uses of a definition', () => {
  it.each<[string, Partial<RunDefinition>, Partial<RunFacts>]>([
    ['its options', { options: { a: 1 } }, { options: { a: 1 } }],
    ['its judges', { judges: ['qa'] }, { judges: ['qa'] }],
    ['no command', {}, { prepares: false, verifies: false, commands: [] }],
    ['commands that prepare', { setup: [SETUP] }, { prepares: true, verifies: false }],
    ['commands that verify', { verify: [VERIFY] }, { prepares: false, verifies: true, commands: ['npm test'] }],
    [
      'what it began with, whatever was reloaded since',
      { setup: [SETUP], verify: [VERIFY], began: { ...BEGAN, prepares: false, verifies: false } },
      { prepares: false, verifies: false, commands: ['make'] },
    ],
    ['what it began with, without commands now', { began: BEGAN }, { prepares: true, verifies: true }],
    ['its base', {}, { base: 'abc' }],
    ['its language', {}, { locale: RUN.mail.locale }],
    ['the runtimes that stand in', { runtimes: { a: { fallback: 'b' }, c: {} } }, { fallbacks: { a: 'b' } }],
  ] as [string, Partial<RunDefinition>, Partial<RunFacts>][])('%s', (_name, more, expected) => {
    expect(factsOf({ ...RUN, ...more })).toMatchObject(expected);
  });

  it('has the criteria, each with its command if it has one', () => {
    expect(factsOf({ ...RUN, objective }).objective.criteria).toEqual([
      { text: 'it works', command: 'npm test' },
      { text: 'it is nice' },
    ]);
    expect(factsOf({ ...RUN, objective }).objective.criteria[1]).not.toHaveProperty('command');
  });

  it('has the criteria that the run began with', () => {
    const { objective: own, doubtful } = factsOf({ ...RUN, objective, doubtful: DOUBTFUL, began: BEGAN });
    expect([own.criteria, doubtful]).toEqual([[{ text: 'old' }], undefined]);
  });

  it.each<[string, keyof RunFacts, Partial<RunDefinition>, unknown]>([
    ['a check of its base', 'baseline', { baseline: 'green' }, 'green'],
    ['a report on its base', 'baseline', { baseline: 'report' }, 'report'],
    ['no check of its base where that is off', 'baseline', { baseline: 'off' }, undefined],
    ['no check of its base in older versions', 'baseline', { baseline: undefined }, undefined],
    ['no check of its base without a branch', 'baseline', { baseline: 'green', makesBranch: false }, undefined],
    ['what is doubtful', 'doubtful', { doubtful: DOUBTFUL }, DOUBTFUL],
    ['nothing that is doubtful', 'doubtful', {}, undefined],
    ['a plan for a person', 'asksForPlan', { plan: 'ask' }, true],
    ['a plan for no one', 'asksForPlan', { plan: 'auto' }, undefined],
    ['looks', 'looks', { looks: 'required' }, 'required'],
    ['no looks', 'looks', {}, undefined],
    ['no runtime that stands in', 'fallbacks', { runtimes: { a: {} } }, undefined],
    ['routes of mail', 'routes', { mail: { ...RUN.mail, routes: { a: ['b'] } } }, { a: ['b'] }],
  ] as [string, keyof RunFacts, Partial<RunDefinition>, unknown][])('%s', (_name, key, more, expected) => {
    const facts = factsOf({ ...RUN, ...more });
    expect(facts[key]).toEqual(expected);
    expect(key in facts).toBe(expected !== undefined);
  });

  it('has the deadline and the priority of an objective that has them', () => {
    const own = { ...objective, deadline: 5, priority: 'high' } as typeof objective;
    expect(factsOf({ ...RUN, objective: own }).objective).toMatchObject({ deadline: 5, priority: 'high' });
    expect(Object.keys(factsOf({ ...RUN, objective }).objective)).not.toContain('deadline');
  });

  it.each([
    ['coordinate', 2_000],
    ['session', 2_100],
  ])('limits the plan of %s to %d tasks', (playbook, tasks) => {
    const limits = { ...RUN.limits, reviewRounds: 3, retries: 7, walls: ['skip' as const] };
    expect(factsOf({ ...RUN, playbook, limits }).limits).toMatchObject({
      ...{ tasks, depth: 3, rounds: 3, retries: 7, stallFallbacks: ['skip'] },
    });
  });

  it.each<[string, Partial<BoundAgent>, object]>([
    ['may commit', {}, { name: AGENT.name, role: AGENT.role, account: AGENT.account, commits: true }],
    ['may commit nothing', { commits: false }, { commits: false }],
    [
      'only reads',
      { access: { ...AGENT.access, level: 'read-only' }, commits: true },
      { commits: false, readOnly: true },
    ],
    ['has a limit of turns', { limits: { parallel: 3 } }, { capacity: 3 }],
  ])('has an agent that %s', (_name, more, expected) => {
    const { roster } = factsOf({ ...RUN, agents: [{ ...AGENT, ...more }] });
    expect(roster).toMatchObject([expected]);
    expect(Object.keys(roster[0] ?? {}).sort()).toEqual(
      [...new Set(['name', 'role', 'account', 'commits', ...Object.keys(expected)])].sort(),
    );
  });
});
