import { z } from 'zod';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import type { Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { commandRefusal } from '../../model/settings-text.ts';
import { isSlug } from '../../model/slug.ts';
import { repositoryProblem, sharedPaths } from '../stages/plan-tasks.ts';
import { plainPath } from '../stages/planned-paths.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';

/** Leaves room for the suffixes of a piece's tasks. */
const LONGEST_ID = 24;

/** The planner's answer: the schema `plan`. */
export const planAnswerSchema = z.object({
  summary: z.string().describe('how the work is split and why, in two or three sentences'),
  tasks: z.array(
    z.object({
      id: z
        .string()
        .describe(
          `lower-case letters, digits and dashes, a letter first, at most ${LONGEST_ID} characters; not \`plan\` or \`fix-1\`, and not ending in \`-commit\` or \`-test\``,
        ),
      title: z.string().describe('a few words'),
      role: z.string().describe('who builds it: one of the roles that build'),
      needs: z.array(z.string()).describe('ids of the tasks that it builds on; with none it starts at once'),
      brief: z
        .string()
        .describe(
          'the result and why it is wanted; where to begin (files, or a similar place as path:line); the exact interface that others rely on; limits; what to leave alone; which tests to write; how to see that it works',
        ),
      files: z
        .array(z.string())
        .default([])
        .describe(
          'files and folders that it will create or change; none of them in another task that may run at the same time',
        ),
      acceptance: z
        .array(z.string())
        .describe(
          'what a reviewer can check: a command that passes, or a behaviour with its input and output; one an entry',
        ),
    }),
  ),
  cannot: z
    .object({
      why: z.enum(['nothing-to-do', 'unclear']),
      text: z.string().describe('what is there already, or what has to be answered before a plan is possible'),
    })
    .nullable()
    .default(null)
    .describe('why there is no task; null if there are tasks'),
});
export type PlannedTask = z.infer<typeof planAnswerSchema>['tasks'][number];

/** The answer where the objective has no criteria. */
export const PLAN_WITH_CRITERIA = 'plan-with-criteria';

/** No field is optional, because strict structured output requires all. */
export const planWithCriteriaSchema = planAnswerSchema.extend({
  criteria: z
    .array(
      z.object({
        text: z.string().describe('what is true once the work is done'),
        command: z
          .string()
          .nullable()
          .describe(
            'a shell command that this repository can run, and that exits with 0 only if it is true; null if no command can show it',
          ),
      }),
    )
    .describe('how to tell that the objective is reached'),
});

/** Either, as the planner or a person wrote it. */
const writtenSchema = planAnswerSchema.extend({
  criteria: z.array(z.object({ text: z.string(), command: z.string().nullable().default(null) })).optional(),
});
export type PlanAnswer = z.infer<typeof writtenSchema>;

const MOST_CRITERIA = 20;

const MOST_TASKS = 50;
/** More problems would fill the turn that fixes them. */
const MOST_PROBLEMS = 20;
const RESERVED = /^(?:plan|fix-\d+)$|-(?:commit|test)$/;

export type CheckedPlan =
  | { readonly ok: true; readonly tasks: readonly PlannedTask[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type ReadPlan =
  | { readonly ok: true; readonly answer: PlanAnswer; readonly tasks: readonly PlannedTask[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A plan as the planner answers it, or a person edits it: the same checks. */
export function readPlanAnswer(output: unknown, roles: readonly string[]): ReadPlan {
  const { data: answer } = writtenSchema.safeParse(output);
  if (answer === undefined) return { ok: false, problems: fewOf(answerProblems(writtenSchema, output)) };
  const checked = checkPlan(answer, roles);
  return checked.ok ? { ...checked, answer } : checked;
}

/** One task for each role. */
export function examplePlan(roles: readonly string[]): Json {
  return {
    summary: '<summary>',
    tasks: roles.map((role, index) => ({
      ...{ id: `task-${index + 1}`, title: '<title>', role, needs: [] },
      ...{ brief: '<brief by the planner>', files: ['<file>'], acceptance: ['<criterion by the planner>'] },
    })),
  };
}

/**
 * Checks what the schema cannot. Lists all problems at once, because the planner has one turn to fix them. Linear in the
 * answer.
 */
export function checkPlan(answer: PlanAnswer, roles: readonly string[]): CheckedPlan {
  const { tasks, cannot } = answer;
  const count = tasks.length;
  if (cannot !== null) return checkWithout(answer, cannot);
  if (count === 0)
    return { ok: false, problems: ['the plan has no tasks; if there is a reason for that, it belongs into `cannot`'] };
  if (count > MOST_TASKS) {
    return { ok: false, problems: [`the plan has ${count} tasks; at most ${MOST_TASKS} are allowed`] };
  }
  const ids = tasks.map((task) => task.id);
  const problems = [
    ...tasks.flatMap((task, index) => problemsOf(task, index, ids, roles)),
    ...criteriaProblems(answer.criteria ?? []),
  ];
  if (problems.length > 0) return { ok: false, problems: fewOf(problems) };
  const sorted = sortByNeeds(tasks);
  if (sorted.length < count) {
    const left = ids.filter((id) => !sorted.some((task) => task.id === id));
    return { ok: false, problems: [`these tasks need each other in a circle: ${left.join(', ')}`] };
  }
  return { ok: true, tasks: sorted };
}

function checkWithout(
  { tasks, criteria = [] }: PlanAnswer,
  { why, text }: NonNullable<PlanAnswer['cannot']>,
): CheckedPlan {
  const problems = [
    ...(tasks.length > 0 ? ['the plan has tasks and says in `cannot` why there are none; give one of the two'] : []),
    ...(text.trim() === '' ? [`\`cannot\` says ${why}, and its \`text\` does not say more`] : []),
    ...criteriaProblems(criteria),
  ];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, tasks: [] };
}

/** Problems of files that two tasks change which may run at the same time. `tasks`: in the order of their needs. */
export function sharedFiles(tasks: readonly PlannedTask[]): string[] {
  return fewOf(sharedPaths(tasks.map(({ id, needs, files }) => ({ id, needs, paths: files.map(plainPath) }))));
}

/** Problems of tasks that do not name one repository by their files. `others`: see `Objective`. */
export function unplacedFiles(tasks: readonly PlannedTask[], others: readonly string[]): string[] {
  return fewOf(
    tasks.flatMap(({ id, files }) => {
      const problem = repositoryProblem(files.map(plainPath), others);
      return problem === undefined ? [] : [`${shown(id)}: in its \`files\`, ${problem}`];
    }),
  );
}

function problemsOf(task: PlannedTask, index: number, ids: readonly string[], roles: readonly string[]): string[] {
  const where = `task ${index + 1} (${shown(task.id)})`;
  const unknown = [...new Set(task.needs)].filter((need) => !ids.includes(need));
  return [
    ...(isSlug(task.id) && task.id.length <= LONGEST_ID
      ? []
      : [`${where}: the id must be lower case letters, digits and dashes, at most ${LONGEST_ID}`]),
    ...(RESERVED.test(task.id) ? [`${where}: this id is reserved`] : []),
    ...(ids.indexOf(task.id) === index ? [] : [`${where}: the id is used twice`]),
    ...(task.needs.includes(task.id) ? [`${where}: it needs itself`] : []),
    ...unknown.map((need) => `${where}: it needs ${shown(need)}, which is not in the plan`),
    ...(roles.includes(task.role)
      ? []
      : [`${where}: no agent has the role ${shown(task.role)}; roles: ${roles.join(', ')}`]),
    ...(task.title.trim() === '' || task.brief.trim() === '' ? [`${where}: it needs a title and a brief`] : []),
    ...(task.acceptance.length === 0 ? [`${where}: it needs at least one acceptance criterion`] : []),
  ];
}

function criteriaProblems(criteria: NonNullable<PlanAnswer['criteria']>): string[] {
  if (criteria.length > MOST_CRITERIA) return [`the plan has ${criteria.length} criteria; at most ${MOST_CRITERIA}`];
  return criteria.flatMap(({ text, command }, index) => {
    const refusal = command === null ? undefined : commandRefusal(command);
    return [
      ...(text.trim() === '' ? [`criterion ${index + 1}: it needs a text`] : []),
      ...(refusal === undefined ? [] : [`criterion ${index + 1}: ${refusal}`]),
    ];
  });
}

function fewOf(problems: readonly string[]): string[] {
  return atMost(problems, MOST_PROBLEMS, (left) => `and ${left} more problems`);
}

/** Shortens hostile names. */
function shown(text: string): string {
  return plainLine(text, 60);
}
