import { z } from 'zod';
import type { OptionsSource, Parsed, PlanReading, Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { Member, Objective } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { plainJson, type Json } from '../../text/json.ts';
import type { MailWork } from '../shared/mail-work.ts';
import { repairOf } from '../shared/repair.ts';
import {
  addTask,
  answerSchema,
  cancelOrFinish,
  failRun,
  finishWhenEnded,
  missingIn,
  workTask,
} from '../shared/tasks.ts';
import {
  answerByMail,
  builderRoles,
  settingsOf,
  settingsSchema,
  tasksByMail,
  tasksOfPiece,
  TEST_REPORT,
} from './pieces.ts';
import {
  CRITERIA_FORM,
  examplePlan,
  PLAN_WITH_CRITERIA,
  planAnswerSchema,
  planForm,
  planWithCriteriaSchema,
  readPlanAnswer,
  type PlannedTask,
} from './plan-answer.ts';
import { DELIVERY_ROLES, deliversFiles, deliveryCast } from './roles.ts';

export interface DeliveryInput {
  readonly objective: Objective;
  readonly roster: readonly Member[];
}

const testReportSchema = z.object({ passed: z.boolean(), summary: z.string(), failures: z.array(z.string()) });

const PLAN = 'plan';

/** Work that mail adds is planned like any other. */
export const DELIVERY_MAIL: MailWork = { tasks: tasksByMail, answer: answerByMail, finals: [] };

/** Planner → builders in folders of their own → review → committer → tester. */
export function createDeliveryPlaybook(): Playbook<DeliveryInput> {
  return {
    name: 'delivery',
    roles: DELIVERY_ROLES,
    otherRoles: { delivers: 'each' },
    cast: deliveryCast,
    options: optionsFrom,
    answers: {
      plan: { schema: answerSchema(planAnswerSchema) },
      [PLAN_WITH_CRITERIA]: { schema: answerSchema(planWithCriteriaSchema) },
      [TEST_REPORT]: { schema: answerSchema(testReportSchema) },
    },
    parse: parseSource,
    plan: planFirst,
    planning: { task: PLAN, read: readPlanned, example: ({ roster }) => examplePlan(builderRoles(roster)) },
    advance,
    tools: (role) => (role === 'planner' ? ['ask', 'send'] : ['ask', 'send', 'handoff', 'done', 'fail']),
    routes: () => 'everybody',
  };
}

/** A piece of work shows its pull request once: by the committer if it is handed to one, otherwise by its builder. */
function optionsFrom({ limits, publish, roles }: OptionsSource): Json {
  const prRoles = publish?.pr === true ? [...new Set(roles)].filter(deliversFiles) : [];
  return { reviewRounds: limits.reviewRounds, prRoles };
}

function parseSource(source: PlaybookSource): Parsed<DeliveryInput> {
  const { objective, roster, options } = source;
  const settings = settingsSchema.safeParse(options ?? {});
  const errors = [
    ...(settings.success ? [] : settings.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
    ...(builderRoles(roster).length === 0 ? ['delivery needs at least one agent that builds; add one to agents'] : []),
  ];
  return errors.length > 0 ? { ok: false, errors } : { ok: true, input: { objective, roster } };
}

function planFirst({ objective, roster }: DeliveryInput): PlanChange[] {
  const planner = roster.find((member) => member.role === 'planner')?.role ?? builderRoles(roster)[0] ?? 'builder';
  const criteria = objective.criteria.map((criterion) => `- ${criterion.text}`).join('\n');
  const proposes = objective.criteria.length === 0;
  const brief = [
    'Split this objective into tasks that agents can build in parallel. Change no file.',
    planForm(builderRoles(roster)),
    ...(proposes ? [CRITERIA_FORM] : []),
    objective.text,
    ...(criteria === '' ? [] : [`Success means:\n${criteria}`]),
  ].join('\n\n');
  const output = { schema: proposes ? PLAN_WITH_CRITERIA : 'plan', repairs: 1 };
  return [addTask(workTask({ id: PLAN, title: 'Plan the work', role: planner, brief }, { output }))];
}

function advance(view: View, event: PlaybookEvent): PlanChange[] {
  switch (event.type) {
    case 'task-done':
      if (event.task === PLAN) return planned(view, event.output ?? null);
      if (view.task(event.task)?.output?.schema === TEST_REPORT) return tested(view, event.task, event.output ?? null);
      return finishWhenEnded(view);
    case 'task-failed':
      if (event.task === PLAN) return [failRun(event.why)];
      return cancelOrFinish(view, event.task);
    case 'task-skipped':
      if (event.task === PLAN) return [failRun('the plan was skipped')];
      return skipRest(view, event.task);
    case 'gate-refused':
      return repairWhole(view, event);
    case 'refused':
      // A change that cannot be applied leaves a hole in the plan, so the run stops.
      if (event.change.do === 'add-task')
        return [failRun(`task ${event.change.task.id} cannot be added to the plan: ${event.why}`)];
      if (event.change.do === 'reopen-task') {
        // No rounds are left, so this piece is not delivered, even if its last turn claims success.
        const { id, feedback } = event.change;
        return [
          { do: 'settle-task', id, as: 'failed', why: `${event.why}, and its last test or review failed: ${feedback}` },
        ];
      }
      return [];
    case 'mail':
    case 'overdue':
    case 'timer':
    case 'answered':
      return [];
    default:
      return event satisfies never;
  }
}

function planned(view: View, output: unknown): PlanChange[] {
  const reading = readPlanned(view, output);
  if (!reading.ok) {
    const text = reading.problems.join('\n');
    const unusable = `the plan cannot be used:\n${text}`;
    if ((view.task(PLAN)?.round ?? 1) > 1) return [{ do: 'settle-task', id: PLAN, as: 'failed', why: unusable }];
    return [{ do: 'reopen-task', id: PLAN, session: 'same', feedback: `This plan cannot be used:\n${text}` }];
  }
  return reading.tasks.map(addTask);
}

function readPlanned(view: View, output: unknown): PlanReading {
  const checked = readPlanAnswer(output, builderRoles(view.roster));
  if (!checked.ok) return checked;
  const { answer, tasks } = checked;
  const { summary, criteria = [] } = answer;
  // Criteria that the objective has are a person's own.
  const isOpen = view.objective.criteria.every(({ proposed }) => proposed !== undefined);
  return {
    ok: true,
    answer: plainJson(answer),
    summary,
    tasks: tasks.flatMap((task) => tasksOfPiece(task, tasks, view.roster, settingsOf(view))),
    criteria: isOpen ? criteria.map(({ text, command }) => ({ text, ...(command === null ? {} : { command }) })) : [],
  };
}

/** A failed test, or one that names a failure, goes back to the builder's session. The commit and the test follow again. */
function tested(view: View, id: string, output: unknown): PlanChange[] {
  const report = testReportSchema.safeParse(output);
  if (report.success && report.data.passed && missingIn(report.data.failures).length === 0)
    return finishWhenEnded(view);
  const feedback = report.success
    ? [report.data.summary, ...report.data.failures.map((line) => `- ${line}`)].join('\n')
    : 'the tester gave no report';
  const piece = id.replace(/-test$/, '');
  const chain = [piece, `${piece}-commit`, id].filter((task) => view.task(task) !== undefined);
  return chain.map((task) => ({ do: 'reopen-task', id: task, feedback, session: 'same' }));
}

/** Skips the commit and test tasks of skipped work, which leaves them nothing to do. Other tasks that need it continue without it. */
function skipRest(view: View, skipped: string): PlanChange[] {
  const rest = view
    .tasks({ ended: false })
    .filter(
      ({ needs, base, output }) => needs.includes(skipped) && (base === skipped || output?.schema === TEST_REPORT),
    );
  if (rest.length === 0) return finishWhenEnded(view);
  return rest.map(({ id }) => ({ do: 'settle-task', id, as: 'skipped', why: `${skipped} was skipped` }));
}

function repairWhole(view: View, event: Extract<PlaybookEvent, { type: 'gate-refused' }>): PlanChange[] {
  const repair = repairOf(view, event);
  if (repair === undefined) return [failRun(event.problems.join('\n'))];
  const { id, title, brief, problems } = repair;
  const role = builderRoles(view.roster)[0] ?? 'builder';
  const fix: PlannedTask = { id, title, role, needs: [], brief, acceptance: problems.map(firstLine) };
  return tasksOfPiece(fix, [fix], view.roster, settingsOf(view)).map(addTask);
}

function firstLine(text: string): string {
  return `no longer: ${text.split('\n')[0] ?? ''}`;
}
