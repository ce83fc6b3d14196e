import { z } from 'zod';
import type { Playbook, PlaybookSource, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import { addTask, answerSchema, cancelDependents, ENDED, finishWhenEnded, workTask } from '../shared/tasks.ts';

// A skeleton: review → improve → verify → assign → execute → done/fail. Clarify and answer, deadlines and the wire's own
// ids come with the mailbox.

export interface CouncilInput {
  readonly document: string;
  readonly text: string;
  readonly main: string;
  readonly members: readonly string[];
}

const issueSchema = z.object({
  doc_path: z.string(),
  category: z.enum(['func', 'perf', 'ux', 'security', 'docs']),
  severity: z.enum(['high', 'medium', 'low']),
  summary: z.string(),
  suggestion: z.string(),
});
const feedbackSchema = z.object({ has_issues: z.boolean(), issues: z.array(issueSchema), summary: z.string() });
const verifiedSchema = z.object({ has_new_issues: z.boolean(), summary: z.string() });
const assignmentSchema = z.object({
  assignments: z.array(
    z.object({
      to: z.string(),
      task_type: z.string(),
      files: z.array(z.string()),
      success_criteria: z.array(z.string()),
    }),
  ),
});

export function createCouncilPlaybook(): Playbook<CouncilInput> {
  return {
    name: 'council',
    schemas: {
      review_feedback: answerSchema(feedbackSchema),
      verified: answerSchema(verifiedSchema),
      assign: answerSchema(assignmentSchema),
    },
    parse: parseCouncil,
    plan: (input) => input.members.flatMap((name, index) => reviewBy(input, name, index)),
    advance,
    // Members speak with MAIN only; only MAIN assigns.
    tools: (role) =>
      role === 'main' ? ['review', 'assign', 'ask', 'send', 'done', 'fail'] : ['report', 'ask', 'done', 'fail'],
  };
}

function parseCouncil({ objective, roster, options }: PlaybookSource): ReturnType<Playbook<CouncilInput>['parse']> {
  const main = roster.find((member) => member.role === 'main')?.name;
  const members = roster.filter((member) => member.role === 'member').map((member) => member.name);
  const errors = [
    ...(main === undefined ? ['council needs one agent with the role main'] : []),
    ...(members.length === 0 ? ['council needs at least one agent with the role member'] : []),
  ];
  const { document } = z.object({ document: z.string().default('docs/design.md') }).parse(options ?? {});
  if (main === undefined || errors.length > 0) return { ok: false, errors };
  return { ok: true, input: { document, text: objective.text, main, members } };
}

/** The message is what the protocol shows; the task is what wakes the member. */
function reviewBy(input: CouncilInput, name: string, index: number): PlanChange[] {
  const id = `review-${index + 1}`;
  const body = { doc_path: input.document, focus: [], reviewers: [...input.members] };
  const brief = `Review ${input.document}.\n\n${input.text}`;
  const output = { schema: 'review_feedback', repairs: 1 };
  return [
    ...(index === 0 ? [{ do: 'put', in: 'council', id: 'document', value: input.document } as const] : []),
    addTask(
      workTask({ id, title: `Review by ${name}`, role: 'member', brief }, { agent: name, session: 'agent', output }),
    ),
    { do: 'send', to: [name], type: 'ask', action: 'review', task: id, body, wake: false },
  ];
}

function advance(view: View, event: PlanEvent): PlanChange[] {
  if (event.type !== 'task-done' && event.type !== 'task-failed' && event.type !== 'task-skipped') return [];
  const phase = event.task.replace(/-\d+$/, '');
  switch (phase) {
    case 'review':
      // A member that does not answer has had its say; it has not approved anything.
      return ended(view, 'review') ? improve(view) : [];
    case 'improve':
      return event.type === 'task-failed' ? [stop(event.why)] : [];
    case 'verify':
      return ended(view, 'verify') ? verified(view) : [];
    case 'assign':
      return event.type === 'task-done' ? assign(view, event.output ?? null) : [stop('MAIN assigned nothing')];
    default: {
      const cancelled = event.type === 'task-failed' ? cancelDependents(view, event.task) : [];
      return cancelled.length > 0 ? cancelled : finishWhenEnded(view);
    }
  }
}

function improve(view: View): PlanChange[] {
  const issues = of(view, 'review').flatMap((task) => {
    const report = feedbackSchema.safeParse(task.answer);
    return report.success
      ? report.data.issues.map((issue) => `- ${issue.doc_path}: ${issue.summary}. ${issue.suggestion}`)
      : [];
  });
  if (issues.length === 0) return [addTask(assignTask())];
  const document = z.string().catch('the document').parse(view.record('council', 'document'));
  const brief = `Improve ${document}:\n${issues.join('\n')}`;
  const own = { workspace: 'own', integrate: true, requires: [{ kind: 'commit' as const }] } as const;
  const members = view.roster.filter((member) => member.role === 'member');
  return [
    addTask(
      workTask(
        { id: 'improve', title: 'Improve', role: 'main', brief },
        { session: 'agent', ...own, requires: [...own.requires] },
      ),
    ),
    ...members.map((member, index) =>
      addTask(
        workTask(
          {
            id: `verify-${index + 1}`,
            title: `Verify by ${member.name}`,
            role: 'member',
            brief: `Verify ${document}.`,
          },
          { agent: member.name, session: 'agent', needs: ['improve'], output: { schema: 'verified', repairs: 1 } },
        ),
      ),
    ),
  ];
}

/** New issues go round again, as long as there are rounds left. */
function verified(view: View): PlanChange[] {
  const open = of(view, 'verify').flatMap((task) => {
    const answer = verifiedSchema.safeParse(task.answer);
    return answer.success && answer.data.has_new_issues ? [answer.data.summary] : [];
  });
  const silent = of(view, 'verify').every((task) => task.status !== 'done');
  if (silent) return [stop('nobody verified the improvement')];
  if (open.length === 0) return [addTask(assignTask())];
  if ((view.task('improve')?.round ?? 1) >= 4) return [stop(`still open after 4 rounds:\n${open.join('\n')}`)];
  const feedback = open.join('\n');
  return ['improve', ...of(view, 'verify').map((task) => task.id)].map((id) => ({
    do: 'reopen-task',
    id,
    feedback,
    session: 'same',
  }));
}

function assignTask() {
  const brief = 'Assign the work to the members.';
  const output = { schema: 'assign', repairs: 1 };
  return workTask({ id: 'assign', title: 'Assign', role: 'main', brief }, { session: 'agent', output });
}

function assign(view: View, output: unknown): PlanChange[] {
  const answer = assignmentSchema.safeParse(output);
  const members = new Set(view.roster.filter((member) => member.role === 'member').map((member) => member.name));
  if (!answer.success || answer.data.assignments.some((one) => !members.has(one.to))) {
    return [stop('MAIN assigned to somebody who is not a member')];
  }
  if (answer.data.assignments.length === 0) return finishWhenEnded(view);
  return answer.data.assignments.flatMap(({ to, task_type, files, success_criteria }, index): PlanChange[] => {
    const id = `execute-${index + 1}`;
    const brief = [`Do: ${task_type}`, ...files, ...success_criteria.map((line) => `- ${line}`)].join('\n');
    const task = workTask(
      { id, title: `${task_type} by ${to}`, role: 'member', brief },
      { agent: to, session: 'agent', workspace: 'own', requires: [{ kind: 'commit' }], integrate: true },
    );
    const body = { task_type, files, success_criteria, dependencies: [] };
    return [addTask(task), { do: 'send', to: [to], type: 'ask', action: 'assign', task: id, body, wake: false }];
  });
}

function of(view: View, phase: string) {
  return view.tasks().filter((task) => task.id.startsWith(`${phase}-`));
}

function ended(view: View, phase: string): boolean {
  return of(view, phase).every((task) => ENDED.has(task.status));
}

function stop(why: string): PlanChange {
  return { do: 'finish', outcome: 'failed', why };
}
