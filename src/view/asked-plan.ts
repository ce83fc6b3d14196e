import type { AskedPlan, AskedQuestion, PlanDifference } from '../model/plan/asked-question.ts';
import type { Board } from '../model/plan/board.ts';
import type { Proposal, ProposedPlan } from '../model/plan/proposal.ts';
import { reviewRoles, type NewTask } from '../model/plan/task.ts';
import type { Limits } from '../model/limits.ts';
import type { RunDefinition } from '../model/run.ts';
import { defined } from '../text/defined.ts';
import type { OpenQuestion } from './open-questions.ts';
import { proposalOn } from './proposed-plan.ts';

interface OfRun {
  readonly definition: RunDefinition;
  readonly limits: Limits;
}

type Question = Pick<OpenQuestion, 'id' | 'text' | 'options'>;

/** The question with what it asks about. */
export function askedQuestion(reading: OfRun & { readonly board: Board }, question: Question): AskedQuestion {
  const { id, text, options } = question;
  return { id, text, options: [...options], ...defined({ plan: planAskedBy(reading.board, reading, id) }) };
}

/** The questions on the board without an answer. */
export function askedOn(board: Board, of: OfRun): AskedQuestion[] {
  const open = [...board.questions.values()].filter(({ answer }) => answer === null);
  return open.map((question) => askedQuestion({ board, ...of }, question));
}

/** The plan that the question with this id asks about. */
export function planAskedBy(board: Board, of: OfRun, id: string): AskedPlan | undefined {
  const proposal = proposalOn(board);
  return proposal?.question === id ? askedPlan(proposal, of) : undefined;
}

/** A proposed plan with everything of the run that a person decides on with it. */
export function askedPlan(
  proposal: ProposedPlan & Pick<Partial<Proposal>, 'note' | 'before'>,
  { definition, limits }: OfRun,
): AskedPlan {
  const { summary, note, tasks, criteria, before } = proposal;
  const { setup, verify, objective } = definition;
  const { usd, turns, minutes, tokens = null } = limits;
  const changes = before === undefined ? undefined : planDifferences(before, proposal);
  return {
    summary,
    ...defined({ note }),
    tasks: tasks.map((task) => askedTask(task, definition)),
    criteria: [
      ...objective.criteria.map(({ text, command = null }) => ({ text, command, proposed: false })),
      ...criteria.map(({ text, command = null }) => ({ text, command, proposed: true })),
    ],
    commands: [
      ...setup.map(({ run }) => ({ for: 'setup' as const, run })),
      ...verify.map(({ run }) => ({ for: 'verify' as const, run })),
    ],
    limits: { usd, turns, minutes, tokens },
    ...defined({ changes }),
  };
}

function askedTask(task: NewTask, { agents }: Pick<RunDefinition, 'agents'>): AskedPlan['tasks'][number] {
  const { id, title, role, agent, needs, brief } = task;
  const able = agents.filter((one) => one.role === role).map(({ name }) => name);
  return {
    ...{ id, title, role, agents: agent === undefined ? able : [agent] },
    ...{ review: reviewRoles(task), needs: [...needs], brief: brief.text },
    ...{ files: filesOf(task), acceptance: [...(task.review?.criteria ?? [])] },
  };
}

/** Files that the task makes or may change. */
export function filesOf({ brief, requires }: Pick<NewTask, 'brief' | 'requires'>): string[] {
  const required = requires.flatMap((one) => {
    if (one.kind === 'file' || one.kind === 'document') return [one.path];
    return one.kind === 'diff' || one.kind === 'only' ? (one.paths ?? []) : [];
  });
  return [...new Set([...(brief.files ?? []), ...required])];
}

/** The parts of a plan that are compared. */
interface Compared {
  readonly tasks: readonly NewTask[];
  readonly criteria: readonly ProposedPlan['criteria'][number][];
}

/** The differences of a plan from the one before, in the order of its tasks; a task that moved has not changed. */
export function planDifferences(before: Compared, after: Compared): PlanDifference[] {
  const [old, now] = [byId(before.tasks), byId(after.tasks)];
  return [
    ...after.tasks.flatMap((task): PlanDifference[] => {
      const was = old.get(task.id);
      return was === undefined
        ? [{ change: 'added', task: task.id, after: task.title }]
        : fieldDifferences(task.id, textsOf(was), textsOf(task));
    }),
    ...before.tasks.flatMap(({ id, title }): PlanDifference[] =>
      now.has(id) ? [] : [{ change: 'removed', task: id, before: title }],
    ),
    ...criteriaDifferences(before.criteria.map(criterionText), after.criteria.map(criterionText)),
  ];
}

function byId(tasks: readonly NewTask[]): ReadonlyMap<string, NewTask> {
  return new Map(tasks.map((task) => [task.id, task]));
}

function textsOf(task: NewTask): Readonly<Record<string, string>> {
  const { title, role, agent = '', needs, brief, review } = task;
  const of = { title, role, agent, needs: needs.join(', '), files: filesOf(task).join(', ') };
  return {
    ...of,
    review: reviewRoles(task).join(', '),
    brief: brief.text,
    acceptance: (review?.criteria ?? []).join('\n'),
  };
}

function fieldDifferences(
  task: string,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): PlanDifference[] {
  return Object.keys(after).flatMap((field): PlanDifference[] => {
    const [was = '', is = ''] = [before[field], after[field]];
    // The brief repeats what the review checks.
    const isRepeated = field === 'brief' && workIn(was) === workIn(is);
    return was === is || isRepeated ? [] : [{ change: 'changed', task, field, before: was, after: is }];
  });
}

/** The text of a brief without the criteria of its review. */
export function workIn(brief: string): string {
  return brief.split('\n\nDone means:\n')[0] ?? '';
}

function criteriaDifferences(before: readonly string[], after: readonly string[]): PlanDifference[] {
  return [
    ...after.flatMap((text): PlanDifference[] => (before.includes(text) ? [] : [{ change: 'added', after: text }])),
    ...before.flatMap((text): PlanDifference[] => (after.includes(text) ? [] : [{ change: 'removed', before: text }])),
  ];
}

function criterionText({ text, command }: ProposedPlan['criteria'][number]): string {
  return command === undefined ? text : `${text} (run: ${command})`;
}
