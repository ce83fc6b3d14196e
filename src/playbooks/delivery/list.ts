import type { OptionsSource } from '../../model/plan.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { PLAN_WITH_CRITERIA } from './plan-answer.ts';
import { builderRoles } from './roles.ts';
import { TEST_REPORT } from './test-report.ts';

export type DeliverySubject = Pick<OptionsSource, 'roles' | 'limits' | 'publish' | 'objective' | 'prompts'>;

/** Planner → builders in folders of their own → review → committer → tester, as far as there are agents for it. */
export function deliveryList({ roles, limits, publish, objective, prompts }: DeliverySubject): StageList {
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
    brief: literal(
      renderPrompt('planner/first', { builders: builders.join(', '), proposes: proposes ? 'yes' : '' }, prompts),
    ),
    makes: { answer: proposes ? PLAN_WITH_CRITERIA : 'plan' },
  };
  const build: Stage = {
    id: 'BUILD',
    by: builders,
    each: { of: 'PLAN' },
    brief: renderPrompt('builder/first', { brief: '{item:brief}', acceptance: '{item:acceptance}' }, prompts),
    makes: { code: true },
    ...shows,
    ...review,
  };
  const commit: Stage = {
    id: 'COMMIT',
    by: ['committer'],
    each: { of: 'BUILD' },
    brief: renderPrompt('committer/first', { id: '{item:id}', title: '{item:title}' }, prompts),
    makes: { commit: true },
    ...shows,
  };
  const test: Stage = {
    id: 'TEST',
    by: ['tester'],
    each: { of: has('committer') ? 'COMMIT' : 'BUILD' },
    brief: renderPrompt('tester/first', { title: '{item:title}', acceptance: '{item:acceptance}' }, prompts),
    makes: { answer: TEST_REPORT },
    judges: { rounds: 20, else: { redo: 'BUILD' } },
  };
  return {
    shows: 'tasks',
    stages: [plan, build, ...(has('committer') ? [commit] : []), ...(has('tester') ? [test] : [])],
  };
}

/** Braces of a prompt are no placeholders of the list. */
export function literal(text: string): string {
  return text.replaceAll('{', '{{');
}
