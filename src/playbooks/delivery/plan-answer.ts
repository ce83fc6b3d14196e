import { z } from 'zod';
import { isSlug } from '../../model/slug.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';

/** The planner's answer: the schema `plan`. */
export const planAnswerSchema = z.object({
  summary: z.string(),
  tasks: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      role: z.string(),
      needs: z.array(z.string()),
      brief: z.string(),
      acceptance: z.array(z.string()),
    }),
  ),
});
export type PlanAnswer = z.infer<typeof planAnswerSchema>;
export type PlannedTask = PlanAnswer['tasks'][number];

const MOST_TASKS = 50;
/** More problems would fill the turn that fixes them. */
const MOST_PROBLEMS = 20;
/** Leaves room for the suffixes of a piece's tasks. */
const LONGEST_ID = 24;
const RESERVED = /^(?:plan|fix-\d+)$|-(?:commit|test)$/;

/** The rules of `checkPlan`, for the planner's prompt. */
export function planForm(roles: readonly string[]): string {
  return [
    'Answer with a `summary` and the `tasks`. For each task:',
    `- \`id\`: lower-case letters, digits and dashes, starting with a letter, at most ${LONGEST_ID} characters. Not \`plan\` or \`fix-1\`, and not ending in \`-commit\` or \`-test\``,
    '- `title`: a few words',
    `- \`role\`: who builds it; ${roles.length === 1 ? `always ${roles.join('')}` : `one of ${roles.join(', ')}`}`,
    '- `needs`: the ids of the tasks that it builds on; with an empty list it starts at once',
    '- `brief`: what to do',
    '- `acceptance`: the criteria of its review, one per entry',
  ].join('\n');
}

export type CheckedPlan =
  | { readonly ok: true; readonly tasks: readonly PlannedTask[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Checks what the schema cannot. Lists all problems at once, because the planner has one turn to fix them. Linear in the
 * answer.
 */
export function checkPlan(answer: PlanAnswer, roles: readonly string[]): CheckedPlan {
  const { tasks } = answer;
  const count = tasks.length;
  if (count === 0) return { ok: false, problems: ['the plan has no tasks'] };
  if (count > MOST_TASKS) {
    return { ok: false, problems: [`the plan has ${count} tasks; at most ${MOST_TASKS} are allowed`] };
  }
  const ids = tasks.map((task) => task.id);
  const problems = tasks.flatMap((task, index) => problemsOf(task, index, ids, roles));
  if (problems.length > 0) return { ok: false, problems: atMost(problems) };
  const sorted = sortByNeeds(tasks);
  if (sorted.length < count) {
    const left = ids.filter((id) => !sorted.some((task) => task.id === id));
    return { ok: false, problems: [`these tasks need each other in a circle: ${left.join(', ')}`] };
  }
  return { ok: true, tasks: sorted };
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

function atMost(problems: readonly string[]): string[] {
  const left = problems.length - MOST_PROBLEMS;
  return left > 0 ? [...problems.slice(0, MOST_PROBLEMS), `and ${left} more problems`] : [...problems];
}

/** Shortens hostile names. */
function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text;
}
