import { z } from 'zod';
import type { AnswerForm, AnswerReading, PlannedEntry, PlaybookSource } from '../../model/plan.ts';
import { folderOf, OTHERS } from '../../model/repositories.ts';
import { isSlug } from '../../model/slug.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import { quotedName } from '../../text/plain-text.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { answerSchema } from '../shared/tasks.ts';
import { rolesToChoose, taskIdOf } from './list-facts.ts';
import { meets, pathProblem, placesOf, plainPath } from './planned-paths.ts';
import { foldedPath } from './folded-path.ts';
import type { StageList } from './stage-list.ts';
import { optionsOf } from './stage-options.ts';

const MOST_TASKS = 50;
/** More problems would fill the turn that fixes them. */
const MOST_PROBLEMS = 20;
/** Leaves room for the number of a later pass. */
const LONGEST_ID = 28;

const entrySchema = z.object({
  id: z
    .string()
    .describe(`lower-case letters, digits and dashes, starting with a letter, at most ${LONGEST_ID} characters`),
  title: z.string().describe('a few words'),
  brief: z
    .string()
    .describe(
      'the result and why it is wanted; where to begin; the exact interface that others rely on; limits; which tests to write; how to see that it works',
    ),
  needs: z.array(z.string()).describe('ids of the tasks that it builds on; with an empty list it starts at once'),
  paths: z
    .array(z.string())
    .describe(
      'files and folders that it changes, from the root of the repository, without patterns such as `*`: name the folder. squad accepts no change elsewhere. Two tasks may share one only if one of them needs the other',
    ),
  acceptance: z.array(z.string()).describe('the criteria of its review, one an entry'),
});

/** As squad reads them. `role`: only where the list leaves a choice. */
const tasksSchema = z.object({ tasks: z.array(entrySchema.extend({ role: z.string().exactOptional() })) });
type Entry = z.infer<typeof tasksSchema>['tasks'][number];

const OF_SQUAD = /^(?:fix|answer|mail)-\d+/;

/** The form in which a stage of this list plans the tasks of others. */
export function tasksForm(list: StageList): AnswerForm {
  const roles = rolesToChoose(list);
  const entry = roles.length === 0 ? entrySchema : entrySchema.extend({ role: z.string().describe('who does it') });
  return {
    schema: answerSchema(z.object({ tasks: z.array(entry) })),
    refusal: 'These tasks cannot be used:',
    guide: (about) => guideFor(roles, about),
    read: (view, output) => readTasks(output, optionsOf(view)?.list ?? list, view.objective.repositories),
  };
}

/** Only roles that are there. */
function guideFor(all: readonly string[], { roster, prompts }: Omit<PlaybookSource, 'options'>): string {
  const roles = all.filter((role) => roster.some((member) => member.role === role));
  return renderPrompt('stage/tasks', { roles: roles.join(', ') }, prompts);
}

/** Lists all problems at once, because the author has one turn to fix them. */
export function readTasks(output: unknown, list: StageList, others?: readonly string[]): AnswerReading {
  const { data: answer } = tasksSchema.safeParse(output);
  if (answer === undefined) return refused(answerProblems(tasksSchema, output));
  const entries = answer.tasks.map((entry) => ({ ...entry, paths: entry.paths.map(plainPath) }));
  if (entries.length === 0) return refused(['there is no task']);
  if (entries.length > MOST_TASKS)
    return refused([`there are ${entries.length} tasks; at most ${MOST_TASKS} are allowed`]);
  const ids = entries.map(({ id }) => id);
  const roles = rolesToChoose(list);
  const reserved = new Set(list.stages.map(taskIdOf));
  const problems = entries.flatMap((one, index) => [
    ...problemsOf(one, index, ids, reserved),
    ...roleProblem(one, index, roles),
    ...(others === undefined ? [] : unplaced(one, index, others)),
  ]);
  if (problems.length > 0) return refused(problems);
  const sorted = sortByNeeds(entries);
  if (sorted.length < entries.length) {
    const left = ids.filter((id) => !sorted.some((one) => one.id === id));
    return refused([`these tasks need each other in a circle: ${left.join(', ')}`]);
  }
  const shared = sharedPaths(sorted);
  return shared.length > 0 ? refused(shared) : { entries: sorted, summary: summaryOf(answer.tasks) };
}

function summaryOf(tasks: readonly PlannedEntry[]): string {
  return tasks.map(({ title }) => title).join('; ');
}

function refused(problems: readonly string[]): AnswerReading {
  return { problems: atMost(problems, MOST_PROBLEMS, (left) => `and ${left} more problems`) };
}

function problemsOf(entry: Entry, index: number, ids: readonly string[], reserved: ReadonlySet<string>): string[] {
  const { id, needs, paths } = entry;
  const where = `task ${index + 1} (${quotedName(id)})`;
  const unknown = [...new Set(needs)].filter((need) => !ids.includes(need));
  const wrong = paths.flatMap((path) => pathProblem(path) ?? []);
  return [
    ...(isSlug(id) && id.length <= LONGEST_ID
      ? []
      : [`${where}: the id must be lower-case letters, digits and dashes, at most ${LONGEST_ID}`]),
    ...(reserved.has(id) || OF_SQUAD.test(id) ? [`${where}: squad uses this id itself`] : []),
    ...(ids.indexOf(id) === index ? [] : [`${where}: the id is used twice`]),
    ...(needs.includes(id) ? [`${where}: it needs itself`] : []),
    ...unknown.map((need) => `${where}: it needs ${quotedName(need)}, which is not among the tasks`),
    ...(entry.title.trim() === '' || entry.brief.trim() === '' ? [`${where}: it needs a title and a brief`] : []),
    ...(paths.length === 0 ? [`${where}: it needs the paths that it changes`] : []),
    ...wrong.map((problem) => `${where}: ${problem}`),
  ];
}

function roleProblem({ id, role }: Entry, index: number, roles: readonly string[]): string[] {
  if (role === undefined || roles.length === 0 || roles.includes(role)) return [];
  return [`task ${index + 1} (${quotedName(id)}): no role ${quotedName(role)} works on it; roles: ${roles.join(', ')}`];
}

function unplaced({ id, paths }: Entry, index: number, others: readonly string[]): string[] {
  const problem = paths.length === 0 ? undefined : repositoryProblem(paths, others);
  return problem === undefined ? [] : [`task ${index + 1} (${quotedName(id)}): ${problem}`];
}

/** Pairs of tasks that may run at the same time and change the same path, each with its first one. `sorted`: in the order of their needs. */
export function sharedPaths(sorted: readonly Pick<PlannedEntry & Entry, 'id' | 'needs' | 'paths'>[]): string[] {
  const before = new Map<string, Set<string>>();
  for (const { id, needs } of sorted) {
    before.set(id, new Set(needs.flatMap((need) => [need, ...(before.get(need) ?? [])])));
  }
  const places = new Map(sorted.map(({ id, paths }) => [id, placesOf(paths)]));
  return sorted.flatMap((one, index) =>
    sorted.slice(index + 1).flatMap((other) => {
      const others = places.get(other.id);
      if (others === undefined || before.get(other.id)?.has(one.id) === true) return [];
      const shared = one.paths.find((path) => meets(path, others));
      return shared === undefined
        ? []
        : [
            `${one.id} and ${other.id} both change ${quotedName(shared)}: let one of them need the other, or divide the paths`,
          ];
    }),
  );
}

/** Why a task of a run with several repositories does not name one of them by its plain paths; undefined: it does. `others`: names. */
export function repositoryProblem(paths: readonly string[], others: readonly string[]): string | undefined {
  const known = `name files of one repository, by their paths from the top folder: ${['the top folder itself', ...others.map(folderOf)].join(', ')}`;
  if (paths.length === 0) return `it names no repository; ${known}`;
  const places = new Set(paths.map((path) => repositoryAt(path)));
  for (const place of places) {
    if (place !== '' && !others.includes(place))
      return `no repository of this run is at ${quotedName(`${OTHERS}/${place}`)}; ${known}`;
  }
  if (paths.includes('.')) return `\`.\` is all repositories at once; ${known}`;
  if (places.size === 1) return undefined;
  const named = [...places].map((place) => (place === '' ? 'the top folder' : folderOf(place))).toSorted();
  return `it changes ${named.join(' and ')}, which are several repositories: make it a task for each`;
}

/** The name of the repository with this path, as the path has it; empty: that of the top folder. */
function repositoryAt(path: string): string {
  const [first, second = '?'] = path.split('/');
  return first !== undefined && foldedPath(first) === OTHERS ? second : '';
}
