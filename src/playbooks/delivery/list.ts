import type { OptionsSource } from '../../model/plan.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import { CRITERIA_FORM, PLAN_WITH_CRITERIA, planForm } from './plan-answer.ts';
import { builderRoles } from './roles.ts';
import { TEST_REPORT } from './test-report.ts';

export type DeliverySubject = Pick<OptionsSource, 'roles' | 'limits' | 'publish' | 'objective'>;

/** Planner → builders in folders of their own → review → committer → tester, as far as there are agents for it. */
export function deliveryList({ roles, limits, publish, objective }: DeliverySubject): StageList {
  const has = (role: string): boolean => roles.includes(role);
  const builders = builderRoles(roles);
  const proposes = objective.criteria.length === 0;
  const rounds = limits.reviewRounds;
  const shows = publish?.pr === true ? { requires: [{ pr: true } as const] } : {};
  const review = has('reviewer') ? { review: { id: 'REVIEW', by: ['reviewer'], rounds } } : {};
  const plan: Stage = {
    id: 'PLAN',
    title: 'Plan the work',
    by: has('planner') ? ['planner'] : builders.slice(0, 1),
    brief: planBrief(builders, objective),
    makes: { answer: proposes ? PLAN_WITH_CRITERIA : 'plan' },
  };
  const build: Stage = {
    id: 'BUILD',
    by: builders,
    each: { of: 'PLAN' },
    brief: '{item:brief}\n\nDone means:\n{item:acceptance}',
    makes: { code: true },
    ...shows,
    ...review,
  };
  const commit: Stage = {
    id: 'COMMIT',
    by: ['committer'],
    each: { of: 'BUILD' },
    brief:
      'Commit the reviewed work of {item:id} ({item:title}), which is staged in your folder. Do not change it. The message says why the work was done.',
    makes: { commit: true },
    ...shows,
  };
  const test: Stage = {
    id: 'TEST',
    by: ['tester'],
    each: { of: has('committer') ? 'COMMIT' : 'BUILD' },
    brief: 'Test “{item:title}” on the run branch. Done means:\n{item:acceptance}',
    makes: { answer: TEST_REPORT },
    judges: { rounds: 20, else: { redo: 'BUILD' } },
  };
  return {
    shows: 'tasks',
    stages: [plan, build, ...(has('committer') ? [commit] : []), ...(has('tester') ? [test] : [])],
  };
}

function planBrief(builders: readonly string[], { criteria }: DeliverySubject['objective']): string {
  const literal = (text: string): string => text.replaceAll('{', '{{');
  return [
    'Split this objective into tasks that agents can build in parallel. Change no file.',
    literal(planForm(builders)),
    ...(criteria.length === 0 ? [literal(CRITERIA_FORM)] : []),
    '{objective}',
    ...(criteria.length === 0
      ? []
      : [`Success means:\n${criteria.map(({ text }) => `- ${literal(text)}`).join('\n')}`]),
  ].join('\n\n');
}
