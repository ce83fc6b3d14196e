import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import type { Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { Objective } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import type { NewTask, ReviewPolicy } from '../../model/plan/task.ts';
import { judgeAgain, mailCriteria, type MailWork } from '../shared/mail-work.ts';
import { repairByLastAuthor } from '../shared/repair.ts';
import { OBJECTIVE_ROLES, objectiveCast, unstaffed } from './roles.ts';
import { addTask, answerSchema, cancelOrFinish, failRun, finishWhenEnded, workTask } from '../shared/tasks.ts';

// A skeleton: its main path is whole; time display, history files and partition of the plan between the builders are not.

/** In order. A review stage is the review of the work stage before it. */
const STAGES = [
  'setup',
  'business-problem',
  'spec',
  'spec-review',
  'research',
  'test-strategy',
  'plan',
  'plan-review',
  'implementation',
  'implementation-review',
  'test',
  'post-review',
  'complete',
] as const;
type Stage = (typeof STAGES)[number];

const postReviewSchema = z.object({ approved: z.boolean(), summary: z.string() });

/** The tasks that judge the whole, in order. */
const FINALS = ['test', 'post-review'] as const;

/** Work that mail adds is reviewed like a stage's work. Reviewers change nothing. */
export const OBJECTIVE_MAIL: MailWork = {
  tasks: (view, asked) => {
    if (asked.role === 'reviewer') return [asked];
    const commits = view.roster.filter(({ role }) => role === asked.role).every((member) => member.commits);
    const requires = [{ kind: commits ? 'commit' : 'diff' } as const];
    return [{ ...asked, workspace: 'own', integrate: true, requires, review: reviewByMail(view) }];
  },
  answer: (view, task) => ({ ...task, review: reviewByMail(view) }),
  finals: FINALS,
};

function reviewByMail(view: View): ReviewPolicy {
  return { by: ['reviewer'], quorum: 'all', rounds: 4, criteria: mailCriteria(view) };
}

export function createObjectivePlaybook(): Playbook<Objective> {
  return {
    name: 'objective',
    roles: OBJECTIVE_ROLES,
    cast: objectiveCast,
    schemas: { 'post-review': answerSchema(postReviewSchema) },
    parse: ({ objective, roster }: PlaybookSource) => {
      const errors = unstaffed(roster);
      return errors.length === 0 ? { ok: true, input: objective } : { ok: false, errors };
    },
    plan: planStages,
    advance,
    tools: () => ['ask', 'send', 'report', 'handoff', 'fail'],
    routes: () => 'everybody',
    files: (view) => [{ path: 'state.json', text: `${JSON.stringify(stateOf(view), null, 2)}\n` }],
  };
}

function planStages(objective: Objective): PlanChange[] {
  const document = (id: Stage, role: string, need: string, by: string[]): NewTask => {
    const path = `docs/${id}.md`;
    const brief = `Write ${path} for the stage ${id}.\n\n${objective.text}`;
    const review = { by, quorum: 'all', rounds: 4, criteria: objective.criteria.map((one) => one.text) } as const;
    return workTask(
      { id, title: id, role, brief },
      {
        needs: need === '' ? [] : [need],
        workspace: 'own',
        requires: [{ kind: 'commit' }, { kind: 'file', path }],
        integrate: true,
        ...(by.length === 0 ? {} : { review }),
      },
    );
  };
  const builders = ['implementation-1', 'implementation-2'];
  return [
    workTask({ id: 'setup', title: 'setup', role: 'pm', brief: objective.text }),
    document('business-problem', 'ba', 'setup', []),
    document('spec', 'ba', 'business-problem', ['reviewer', 'pm']),
    document('research', 'builder', 'spec', []),
    document('test-strategy', 'builder', 'research', []),
    document('plan', 'pm', 'test-strategy', ['reviewer']),
    ...builders.map((id) => implementation(id, objective)),
    testStage(objective, builders),
    workTask(
      {
        id: 'post-review',
        title: 'post-review',
        role: 'pm',
        brief: `Review all delivered work against the objective.\n\n${objective.text}`,
      },
      { needs: ['test'], output: { schema: 'post-review', repairs: 1 } },
    ),
  ].map(addTask);
}

/** The two builders work in parallel, each on its part of docs/plan.md. */
function implementation(id: string, objective: Objective): NewTask {
  const brief = `Build the part of docs/plan.md that is marked ${id}.`;
  const criteria = objective.criteria.map((one) => one.text);
  return workTask(
    { id, title: id, role: 'builder', brief },
    {
      needs: ['plan'],
      workspace: 'own',
      requires: [{ kind: 'commit' }],
      integrate: true,
      review: { by: ['reviewer'], quorum: 'all', rounds: 4, criteria },
    },
  );
}

function testStage(objective: Objective, needs: string[]): NewTask {
  const commands = objective.criteria.flatMap(({ command }) =>
    command === undefined ? [] : [{ kind: 'command', run: command } as const],
  );
  const brief = 'Run the commands of the success criteria.';
  if (commands.length === 0) return workTask({ id: 'test', title: 'test', role: 'builder', brief }, { needs });
  return workTask({ id: 'test', title: 'test', role: 'builder', brief }, { needs, kind: 'check', requires: commands });
}

/** The stages are sequential, so a failed stage ends the run. */
function advance(view: View, event: PlaybookEvent): PlanChange[] {
  switch (event.type) {
    case 'task-failed':
      return cancelOrFinish(view, event.task);
    case 'task-done':
    case 'task-skipped':
      return [{ do: 'put', in: 'stages', id: event.task, value: { endedAt: event.at } }, ...close(view)];
    case 'gate-refused':
      return repairByLastAuthor(view, event);
    case 'refused':
      if (event.change.do !== 'reopen-task') return [];
      return [failRun(`${event.change.feedback} ${event.why}.`)];
    case 'mail':
    case 'overdue':
    case 'timer':
    case 'answered':
      return [];
    default:
      return event satisfies never;
  }
}

/** Once all tasks have ended, the post-review decides how the run ends. */
function close(view: View): PlanChange[] {
  if (view.tasks({ ended: false }).length > 0) return [];
  const again = judgeAgain(view, OBJECTIVE_MAIL);
  if (again.length > 0) return again;
  const review = view.task('post-review');
  const answer = postReviewSchema.safeParse(review?.answer);
  const ended = finishWhenEnded(view);
  if (review?.status !== 'done' || ended.some((change) => change.do === 'finish' && change.outcome === 'failed')) {
    return ended;
  }
  const why = answer.success ? answer.data.summary : 'there is no post-review';
  return [{ do: 'finish', outcome: answer.success && answer.data.approved ? 'done' : 'failed', why }];
}

function stateOf(view: View): Json {
  const rounds = view.tasks().flatMap((task) => (task.review === undefined ? [] : [[task.id, task.round] as const]));
  const current = view.tasks().find((task) => view.record('stages', task.id) === undefined);
  return {
    objective_title: view.objective.title,
    current_stage: current?.id ?? 'complete',
    stage_history: view.records('stages').map(({ id }) => id),
    review_iterations: Object.fromEntries(rounds),
  };
}
