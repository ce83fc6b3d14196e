import { describe, expect, it } from 'vitest';
import { askedPlanSchema } from '../../src/model/plan/asked-question.ts';
import type { Proposal } from '../../src/model/plan/proposal.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { workTask } from '../../src/playbooks/shared/tasks.ts';
import { askedPlan, planDifferences } from '../../src/view/asked-plan.ts';
import { definition } from './report/support.ts';

const REVIEW = { by: ['reviewer'], quorum: 'all', rounds: 4, criteria: ['it is there'] } as const;

interface More {
  readonly title?: string;
  readonly brief?: string;
}

function task(id: string, more: More = {}, needs: string[] = []): NewTask {
  const brief = `Make ${id}.\n\nDone means:\n- it is there`;
  const made = workTask(
    { id, title: `Make ${id}`, role: 'builder', brief, ...more },
    {
      review: { ...REVIEW, by: ['reviewer'], criteria: ['it is there'] },
      requires: [{ kind: 'file', path: `${id}.ts` }],
    },
  );
  return { ...made, needs };
}

function proposal(tasks: NewTask[], more: Partial<Proposal> = {}): Proposal {
  const about = { number: 1, question: 'plan-1', open: true, fixing: false, summary: 'Two files.', answer: {} };
  return { ...about, tasks, criteria: [], ...more };
}

const run = definition();
const of = { definition: run, limits: run.limits };

describe('the plan that a question carries', () => {
  it('says who may do each task, who reviews it and against what, what runs, and the limits', () => {
    const criteria = [{ text: 'tests pass', command: 'npm test' }, { text: 'reads well' }];
    const asked = askedPlan(proposal([task('a'), task('b', {}, ['a'])], { criteria }), of);
    expect(askedPlanSchema.parse(asked)).toEqual(asked);
    const builders = run.agents.filter(({ role }) => role === 'builder').map(({ name }) => name);
    expect(builders.length).toBeGreaterThan(0);
    expect(asked.tasks).toMatchObject([
      { id: 'a', agents: builders, review: ['reviewer'], needs: [], files: ['a.ts'], acceptance: ['it is there'] },
      { id: 'b', needs: ['a'] },
    ]);
    expect(asked.tasks[0]?.brief).toContain('Make a.');
    expect(asked.criteria.slice(-2)).toEqual([
      { text: 'tests pass', command: 'npm test', proposed: true },
      { text: 'reads well', command: null, proposed: true },
    ]);
    expect(asked.commands.map(({ run: command }) => command)).toEqual(
      [...run.setup, ...run.verify].map(({ run: command }) => command),
    );
    expect(asked.limits).toMatchObject({ usd: run.limits.usd, turns: run.limits.turns });
    expect(asked).not.toHaveProperty('changes');
  });

  it('names only the agent that the plan names', () => {
    const [only] = askedPlan(proposal([{ ...task('a'), agent: 'builder-2' }]), of).tasks;
    expect(only?.agents).toEqual(['builder-2']);
  });

  const two = { summary: 's', tasks: [task('a'), task('b')], criteria: [{ text: 'works' }] };
  it.each([
    ['nothing', two, []],
    ['another order', { ...two, tasks: two.tasks.toReversed() }, []],
    ['another summary', { ...two, summary: 'other' }, []],
    ['a task more', { ...two, tasks: [...two.tasks, task('c')] }, [{ change: 'added', task: 'c', after: 'Make c' }]],
    ['a task less', { ...two, tasks: [task('a')] }, [{ change: 'removed', task: 'b', before: 'Make b' }]],
    [
      'needs and the title',
      { ...two, tasks: [task('a'), task('b', { title: 'Make it' }, ['a'])] },
      [
        { change: 'changed', task: 'b', field: 'title', before: 'Make b', after: 'Make it' },
        { change: 'changed', task: 'b', field: 'needs', before: '', after: 'a' },
      ],
    ],
    [
      'only what the review checks',
      {
        ...two,
        tasks: [
          task('a'),
          {
            ...task('b', { brief: 'Make b.\n\nDone means:\n- it runs' }),
            review: { ...REVIEW, by: ['reviewer'], criteria: ['it runs'] },
          },
        ],
      },
      [{ change: 'changed', task: 'b', field: 'acceptance', before: 'it is there', after: 'it runs' }],
    ],
    [
      'a criterion',
      { ...two, criteria: [{ text: 'works', command: 'npm test' }] },
      [
        { change: 'added', after: 'works (run: npm test)' },
        { change: 'removed', before: 'works' },
      ],
    ],
  ])('says how a plan differs from the one before: %s', (_, after, expected) => {
    expect(planDifferences(two, { ...after, tasks: [...after.tasks], criteria: [...after.criteria] })).toEqual(
      expected,
    );
    expect(askedPlan(proposal([...after.tasks], { before: two, criteria: [...after.criteria] }), of).changes).toEqual(
      expected,
    );
  });
});
