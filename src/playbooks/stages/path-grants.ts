import { addressOf, agentAt } from '../../model/mail/address.ts';
import { MOST_PATHS } from '../../model/mail/bodies.ts';
import { MAIN, ROUTER } from '../../model/mail/vocabulary.ts';
import type { TaskView } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { limitOf } from '../../model/plan/task.ts';
import { quotedName } from '../../text/plain-text.ts';
import type { PathGrants, PathsAnswer } from '../shared/mail-work.ts';
import { ENDED, reached } from '../shared/tasks.ts';
import { planOf, plannerOf } from './kept-paths.ts';
import { overlaps, pathProblem, plainPath } from './planned-paths.ts';
import type { StagesOptions } from './stage-options.ts';
import { progressOf, type Scene } from './stage-progress.ts';

/** Lets the planner of a task, or MAIN, add paths to it by an answer, except paths that other work needs. */
export function grantsOf(options: StagesOptions): PathGrants {
  return {
    mayAdd: (view, { via, from }, agent) => {
      const task = via === undefined ? undefined : view.task(via);
      if (task === undefined || limitOf(task.requires) === undefined || !isAuthor(view, task, from)) return false;
      const member = view.roster.find(({ name }) => name === agent);
      return member !== undefined && may(view, options, task, addressOf(member));
    },
    add: (view, answer) => {
      const task = answer.ask.via === undefined ? undefined : view.task(answer.ask.via);
      const limit = limitOf(task?.requires ?? []);
      if (task === undefined || limit === undefined || answer.paths.length === 0) return { added: [], changes: [] };
      const { added, refused } = decideGrant(view, options, { ...answer, task });
      const paths = [...limit.paths, ...added];
      const requires = task.requires.map((one) => (one === limit ? { ...limit, paths } : one));
      const edit: PlanChange[] = added.length === 0 ? [] : [{ do: 'edit-task', id: task.id, requires }];
      const text = [
        ...(added.length === 0 ? [] : [`${added.join(', ')} added to the paths of ${task.id}, by ${answer.by}.`]),
        ...refused.map((why) => `Not added to the paths of ${task.id}: ${why}.`),
        `It may change only ${paths.join(', ')}.`,
      ].join('\n');
      const note: PlanChange = {
        ...{ do: 'send', from: ROUTER, to: [answer.ask.from], type: 'send' },
        body: { text },
      };
      return { added, changes: [...edit, note] };
    },
  };
}

/** Which of the paths an answer adds, and why the others are not added. */
export function decideGrant(
  scene: Scene,
  options: StagesOptions,
  { task, ask, by, paths }: PathsAnswer & { readonly task: TaskView },
): { readonly added: readonly string[]; readonly refused: readonly string[] } {
  const none = (why: string) => ({ added: [], refused: [why] });
  if (ENDED.has(task.status)) return none(`${task.id} has ended`);
  if (!isAuthor(scene, task, ask.from)) return none(`${ask.from} is not its author`);
  if (!may(scene, options, task, by)) {
    const planner = plannerAt(scene, options, task);
    return none(`${by} did not plan it; only ${planner === undefined ? '' : `${planner} or `}${MAIN} can add paths`);
  }
  if (paths.length > MOST_PATHS) return none(`an answer adds at most ${MOST_PATHS} paths`);
  const limit = limitOf(task.requires)?.paths ?? [];
  const wanted = [...new Set(paths.map(plainPath))].filter((path) => !limit.some((own) => path === own));
  const judged = wanted.map((path) => ({ path, why: refusePath(scene, options, task, path) }));
  return {
    added: judged.flatMap(({ path, why }) => (why === undefined ? [path] : [])),
    refused: judged.flatMap(({ why }) => why ?? []),
  };
}

function refusePath(scene: Scene, { folder }: StagesOptions, task: TaskView, path: string): string | undefined {
  const problem = pathProblem(path);
  if (problem !== undefined) return problem;
  if (path === '.') return 'the whole repository; name files or folders';
  if (overlaps(path, folder)) return `${quotedName(path)}, because the documents of the run are in ${folder}`;
  const other = scene.tasks({ ended: false }).find((one) => {
    if (one.id === task.id || !(limitOf(one.requires)?.paths ?? []).some((own) => overlaps(path, own))) return false;
    // As in a plan: one after the other, they may share a path.
    return !reached(scene, one.id).has(task.id) && !reached(scene, task.id).has(one.id);
  });
  return other === undefined ? undefined : `${quotedName(path)}, because ${other.id} changes it at the same time`;
}

function isAuthor({ roster }: Pick<Scene, 'roster'>, { doneBy }: TaskView, address: string): boolean {
  return doneBy !== undefined && agentAt(roster, address)?.name === doneBy;
}

/** No agent adds to its own paths. */
function may(scene: Scene, options: StagesOptions, task: TaskView, by: string): boolean {
  if (by === MAIN) return !isAuthor(scene, task, MAIN);
  return by === plannerAt(scene, options, task) && !isAuthor(scene, task, by);
}

/** The address of the agent that planned the task. */
function plannerAt(scene: Scene, { list }: StagesOptions, task: TaskView): string | undefined {
  const progress = progressOf(scene, list);
  const plan = planOf(scene, progress, task.id);
  const planner = plan === undefined ? undefined : plannerOf(progress, plan);
  const member = scene.roster.find(({ name }) => name === planner);
  return member === undefined ? undefined : addressOf(member);
}
