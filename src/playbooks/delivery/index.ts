import { z } from 'zod';
import type { Parsed, Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { Member, Objective } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import type { Requirement } from '../../model/plan/task.ts';
import { judgeAgain, type MailWork } from '../shared/mail-work.ts';
import { addTask, answerSchema, BROKEN, cancelDependents, ENDED, finishWhenEnded, workTask } from '../shared/tasks.ts';
import {
  answerByMail,
  builderRoles,
  lastOf,
  settingsOf,
  settingsSchema,
  tasksByMail,
  tasksOfPiece,
  TEST_REPORT,
} from './pieces.ts';
import { checkPlan, planAnswerSchema, planForm, type PlannedTask } from './plan-answer.ts';

export interface DeliveryInput {
  readonly objective: Objective;
  readonly roster: readonly Member[];
}

const testReportSchema = z.object({ passed: z.boolean(), summary: z.string(), failures: z.array(z.string()) });

const PLAN = 'plan';
const VERIFY = 'verify';
/** Repairs of what only shows once everything is together. */
const MOST_FIXES = 2;

/** Work that mail adds is planned like any other, and verified with all else. */
export const DELIVERY_MAIL: MailWork = { tasks: tasksByMail, answer: answerByMail, finals: [VERIFY] };

/** Planner → builders in worktrees → review → committer → tester → everything verified together. */
export function createDeliveryPlaybook(): Playbook<DeliveryInput> {
  return {
    name: 'delivery',
    schemas: { plan: answerSchema(planAnswerSchema), [TEST_REPORT]: answerSchema(testReportSchema) },
    parse: parseSource,
    plan: planFirst,
    advance,
    tools: (role) => (role === 'planner' ? ['ask', 'send'] : ['ask', 'send', 'handoff', 'done', 'fail']),
    routes: () => 'everybody',
  };
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
  const brief = [
    'Split this objective into tasks that can be built in parallel. Change no file.',
    planForm(builderRoles(roster)),
    objective.text,
    ...(criteria === '' ? [] : [`Success means:\n${criteria}`]),
  ].join('\n\n');
  const output = { schema: 'plan', repairs: 1 };
  return [addTask(workTask({ id: PLAN, title: 'Plan the work', role: planner, brief }, { output }))];
}

function advance(view: View, event: PlanEvent): PlanChange[] {
  switch (event.type) {
    case 'task-done':
      if (event.task === PLAN) return planned(view, event.output ?? null);
      if (view.task(event.task)?.output?.schema === TEST_REPORT) return tested(view, event.task, event.output ?? null);
      return closeWhenEnded(view);
    case 'task-failed':
      if (event.task === PLAN) return [stop(`the planner gave no plan: ${event.why}`)];
      if (event.task === VERIFY && event.cause === 'verify') return repairWhole(view, event.why);
      return orFinish(view, cancelDependents(view, event.task));
    case 'task-skipped':
      if (event.task === PLAN) return [stop('the plan was skipped')];
      return closeWhenEnded(view);
    case 'refused':
      // A change to the plan that is not possible leaves a hole in it: better a clear stop than half a plan.
      if (event.change.do === 'add-task') return [stop(`${event.change.task.id} cannot be planned: ${event.why}`)];
      if (event.change.do === 'reopen-task') {
        const { id, feedback } = event.change;
        return broken(view, id, `${event.why}, and came back once more: ${feedback}`);
      }
      return [];
    case 'mail':
    case 'intervention':
    case 'overdue':
    case 'answer':
    case 'timer':
    case 'request':
    case 'review-round':
      return [];
    default:
      return event satisfies never;
  }
}

function planned(view: View, output: unknown): PlanChange[] {
  const answer = planAnswerSchema.safeParse(output);
  const roles = builderRoles(view.roster);
  const checked = answer.success
    ? checkPlan(answer.data, roles)
    : ({ ok: false, problems: ['the answer is not a plan'] } as const);
  if (!checked.ok) {
    const text = checked.problems.join('\n');
    if ((view.task(PLAN)?.round ?? 1) > 1) return [stop(`the plan cannot be used:\n${text}`)];
    return [{ do: 'reopen-task', id: PLAN, session: 'same', feedback: `This plan cannot be used:\n${text}` }];
  }
  const { tasks } = checked;
  const pieces = tasks.flatMap((task) => tasksOfPiece(task, tasks, view.roster, settingsOf(view)));
  return [...pieces.map(addTask), ...verifyAll(view, tasks)];
}

/** What the objective itself can check, on everything together. */
function verifyAll(view: View, tasks: readonly PlannedTask[]): PlanChange[] {
  const requires = view.objective.criteria.flatMap((criterion): Requirement[] =>
    criterion.command === undefined ? [] : [{ kind: 'command', run: criterion.command }],
  );
  if (requires.length === 0) return [];
  // A person may have added work by mail while it was planned.
  const added = view
    .tasks()
    .flatMap(({ id, status, integrate }) => (!ENDED.has(status) || (status === 'done' && integrate) ? [id] : []));
  const needs = [...tasks.map((task) => lastOf(task, view.roster)), ...added];
  const brief = 'Run the success criteria on the run branch.';
  const about = { id: VERIFY, title: 'Verify everything together', role: 'engine', brief };
  return [addTask(workTask(about, { kind: 'check', needs, requires }))];
}

/** A failed test goes back to the builder's own session, and the hand-off runs again behind it. */
function tested(view: View, id: string, output: unknown): PlanChange[] {
  const report = testReportSchema.safeParse(output);
  if (report.success && report.data.passed) return closeWhenEnded(view);
  const feedback = report.success
    ? [report.data.summary, ...report.data.failures.map((line) => `- ${line}`)].join('\n')
    : 'the tester gave no report';
  const piece = id.replace(/-test$/, '');
  const chain = [piece, `${piece}-commit`, id].filter((task) => view.task(task) !== undefined);
  return chain.map((task) => ({ do: 'reopen-task', id: task, feedback, session: 'same' }));
}

/** No rounds are left: this piece is not delivered, whatever its last turn said. The others go on. */
function broken(view: View, id: string, why: string): PlanChange[] {
  const mark: PlanChange = { do: 'put', in: BROKEN, id, value: why };
  const cancelled = cancelDependents(view, id);
  return [mark, ...(cancelled.length > 0 ? cancelled : finishWhenEnded(view, [`${id}: ${why}`]))];
}

function repairWhole(view: View, why: string): PlanChange[] {
  const verify = view.task(VERIFY);
  const fixes = view.tasks().filter(({ id }) => /^fix-\d+$/.test(id)).length;
  if (verify === undefined || fixes >= MOST_FIXES) return closeWhenEnded(view);
  const role = builderRoles(view.roster)[0] ?? 'builder';
  const id = `fix-${fixes + 1}`;
  const fix: PlannedTask = {
    id,
    title: 'Mend what fails together',
    role,
    needs: [],
    brief: `Everything is merged, and this fails:\n${why}`,
    acceptance: verify.requires.map((one) => (one.kind === 'command' ? `\`${one.run}\` passes` : one.kind)),
  };
  return [
    ...tasksOfPiece(fix, [fix], view.roster, settingsOf(view)).map(addTask),
    { do: 'reopen-task', id: VERIFY, feedback: why, session: 'same' },
    { do: 'edit-task', id: VERIFY, needs: [...verify.needs, lastOf(fix, view.roster)] },
  ];
}

function closeWhenEnded(view: View): PlanChange[] {
  if (view.tasks({ ended: false }).length > 0) return [];
  const again = judgeAgain(view, DELIVERY_MAIL);
  return again.length > 0 ? again : finishWhenEnded(view);
}

function orFinish(view: View, changes: PlanChange[]): PlanChange[] {
  return changes.length > 0 ? changes : closeWhenEnded(view);
}

function stop(why: string): PlanChange {
  return { do: 'finish', outcome: 'failed', why };
}
