import type { OptionsSource, Playbook, View } from '../../model/plan.ts';
import { SPRINT } from '../../model/playbook-name.ts';
import { sprintOptionsSchema, type SprintOptions } from '../../model/sprint/options.ts';
import type { Json } from '../../text/json.ts';
import { limitsSchema } from '../../model/limits.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import { sprintForms } from './answers.ts';
import { kickoffWords } from '../../model/sprint/sprint.ts';
import { closedOut, CUTOFF, heard } from './flow.ts';
import { sprintList } from './list.ts';
import { recordsOfSprint } from './records.ts';
import { SPRINT_ROLES, sprintCast } from './roles.ts';
import { unrouted } from '../../model/sprint/routing.ts';
import { backgroundOfReport } from './todo-views.ts';

export { createReviewPlaybook, frozenReview } from './review.ts';

/** Plays one sprint, from research to report. A run keeps the options that it began with. */
export function createSprintPlaybook(options: SprintOptions): Playbook<unknown> {
  const everybody = { roles: Object.keys(SPRINT_ROLES), run: 'run', limits: limitsSchema.parse({}) };
  const listFor = (subject: Pick<OptionsSource, 'roles' | 'run' | 'limits' | 'prompts'>) =>
    sprintList(options, subject);
  const list: Playbook<unknown> = createStagesPlaybook({
    name: SPRINT,
    list: listFor(everybody),
    listFor,
    isForAgents: true,
    keeps: { ...options },
    roles: SPRINT_ROLES,
    cast: sprintCast,
    castsEachRole: true,
    answers: sprintForms(options),
    // It works while no person looks; `approve: todos` is its gate.
    asksForPlan: 'auto',
    background: (view, task) => backgroundOfReport(options, view, task),
    lacks: (roster) =>
      unrouted({
        ...{ policy: options.policy, text: kickoffWords(options) },
        staffed: roster.map(({ role }) => role),
      }),
    // Without a hand-off: no role chooses who comes next.
    tools: () => ['ask', 'send', 'report', 'fail'],
  });
  const { until } = options;
  return {
    ...list,
    plan: (input) => [
      ...list.plan(input),
      ...(until === null ? [] : [{ do: 'set-timer' as const, id: CUTOFF, at: until }]),
    ],
    advance: (view, event) => heard(view, event) ?? closedOut(view, list.advance(view, event)),
    records: (view: View) => recordsOfSprint(options, view),
  };
}

/** The sprint that a run is frozen with; undefined: these are no options of a sprint. */
export function frozenSprint(options: Json): SprintOptions | undefined {
  return sprintOptionsSchema.safeParse(options).data;
}
