import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { plainJson } from '../../text/json.ts';
import { ENDED } from '../shared/tasks.ts';
import { stageTask } from '../stages/stage-records.ts';
import { answerIn, transitionIn } from './forms.ts';
import { chainOf, chainsOf, isQueued, stageTasksOf, type Chain } from './chains.ts';
import type { Category, Transition } from '../../model/sprint/transition.ts';

// Decisions of the sprint besides its list, and their records on the board, which only it writes.

/** The timer of the time at which no more todo begins. */
export const CUTOFF = 'sprint-cutoff';

const FLOW = 'sprint-flow';
const REOPENS = 'sprint-reopens';
const CLOSEOUT = 'sprint-closeout';

type Records = Pick<View, 'record' | 'records'>;

/** Why the sprint ends before its todos. */
interface EarlyEnd {
  readonly reason: string;
  readonly at: number;
}

export function earlyEnd({ record }: Records): EarlyEnd | undefined {
  return record(FLOW, 'end') as unknown as EarlyEnd | undefined;
}

/** Ends the run: a sprint without todos is blocked, and a person sees why. */
export function endEarly(now: number, reason: string): PlanChange[] {
  const value: EarlyEnd = { reason, at: now };
  return [put(FLOW, 'end', value), { do: 'finish', outcome: 'failed', why: `the sprint is blocked: ${reason}` }];
}

/** Why a todo cannot go on, in the words of the role that says so. */
interface Block extends Pick<Transition, 'reason' | 'required_inputs' | 'recommended_next_step'> {
  readonly role: string;
}

/** Why, and what is needed to continue. */
export function blockText({ reason, required_inputs: inputs, recommended_next_step: next }: Transition): string {
  const needs = inputs.length === 0 ? [] : [`required inputs: ${inputs.join('; ')}`];
  return [reason, ...needs, ...(next === null ? [] : [`next: ${next}`])].join('; ');
}

/** Why a todo waits, as the answer or the rejection says that ended one of its tasks; undefined: it does not. */
export function blockIn(chain: Chain): Block | undefined {
  const task = [...chain.values()].find(({ status, cause }) => status === 'failed' && cause === 'blocked');
  const last = task?.rounds.at(-1);
  if (last?.blocked !== undefined) {
    const role = last.by.find(({ approved }) => !approved)?.role ?? '';
    return { reason: last.feedback, role, ...last.blocked, required_inputs: [...last.blocked.required_inputs] };
  }
  const asked = transitionIn(task?.answer);
  return task === undefined || asked === undefined ? undefined : { ...asked, role: task.role };
}

interface Reopened {
  readonly by: string;
  readonly category: Category;
  readonly reason: string;
}

/** By its own authors; the board has what reviews reopened. */
export function reopensOf({ record }: Records, entry: string): readonly Reopened[] {
  return (record(REOPENS, entry) ?? []) as unknown as readonly Reopened[];
}

/** Whether the commit of this task was tried once more, after all other todos. */
export function isClosedOut({ record }: Records, task: string): boolean {
  return record(CLOSEOUT, task) !== undefined;
}

function put(where: string, id: string, value: object): PlanChange {
  return { do: 'put', in: where, id, value: plainJson(value) };
}

/** Changes that the sprint decides on itself; undefined: its list does. */
export function heard(view: View, event: PlaybookEvent): PlanChange[] | undefined {
  switch (event.type) {
    case 'timer':
      return event.id === CUTOFF ? wrapUp(view) : undefined;
    case 'task-skipped':
      return skipped(view, event.task);
    case 'task-done':
      return asked(view, event.task);
    default:
      return undefined;
  }
}

/** No more todo begins. Before there are any, the sprint ends. */
function wrapUp(view: View): PlanChange[] {
  const chains = [...chainsOf(view).values()];
  if (chains.length > 0)
    return chains.flatMap((chain) => (isQueued(chain) ? settle(chain, 'its sprint wraps up') : []));
  const asks = stageTasksOf(view, 'APPROVE').length > 0;
  return endEarly(view.now, asks ? NOT_APPROVED : NOT_PLANNED);
}

const NOT_APPROVED = 'no one approved its todos before its time was over';
const NOT_PLANNED = 'planning_incomplete: its time was over before it had todos';

/** A todo whose first step is skipped does not begin. */
function skipped(view: View, id: string): PlanChange[] | undefined {
  const place = stageTask(view, id);
  if (place?.stage !== 'PLAN_TODO' || place.entry === undefined) return undefined;
  const rest = settle(chainOf(view, place.entry), `${id} was skipped`);
  return rest.length === 0 ? undefined : rest;
}

/** Acts on an answer that reopens an earlier step, or blocks its todo. Delivered work stays as it was judged. */
function asked(view: View, id: string): PlanChange[] | undefined {
  const { entry, stage } = stageTask(view, id) ?? {};
  const task = view.task(id);
  const transition = transitionIn(task?.answer);
  if (entry === undefined || task === undefined || transition === undefined || task.commit !== undefined)
    return undefined;
  const { outcome, reason, reopen_category: given } = transition;
  if (outcome === 'block') {
    const why = `blocked by ${task.role}: ${blockText(transition)}`;
    return [{ do: 'settle-task', id, as: 'failed', why, cause: 'blocked' }];
  }
  const isPlanned = stage === 'BUILD' && isOnlyPlanned(answerIn('built', task.answer)?.artifacts ?? []);
  const category = outcome === 'reopen' ? given : isPlanned ? 'scope' : null;
  return category === null ? undefined : reopen(view, { entry, task, category, reason });
}

/** Whether all that was handed in are documents of the planner. */
function isOnlyPlanned(artifacts: readonly string[]): boolean {
  return artifacts.length > 0 && artifacts.every((path) => PLANNED.test(path));
}

const PLANNED = /(?:^|\/)(?:milestone|plan|spec|iteration_log)\.md$/;

interface Reopening extends Omit<Reopened, 'by'> {
  readonly entry: string;
  /** The task that asks for it, which is done again afterwards. */
  readonly task: TaskView;
}

/** Opens the step that the category leads to, the steps between, and the one that asks, within the rounds of a review. */
function reopen(view: View, { entry, task, category, reason }: Reopening): PlanChange[] {
  const chain = chainOf(view, entry);
  const build = chain.get('BUILD');
  const before = reopensOf(view, entry);
  const taken = before.length + (build?.rounds ?? []).filter(({ approved }) => !approved).length;
  const most = build?.review?.rounds ?? 1;
  const said = `${task.role} reopened ${entry} for its ${category}: ${reason}`;
  if (taken + 1 >= most) {
    return [{ do: 'settle-task', id: task.id, as: 'failed', why: `${said}; it has used its ${most} rounds` }];
  }
  const steps = [...chain.values()];
  const first = category === 'architecture' ? 1 : 0;
  const again = steps.slice(first, steps.findIndex(({ id }) => id === task.id) + 1);
  return [
    put(REOPENS, entry, [...before, { by: task.role, category, reason }]),
    // All but the first begin with another answer in their brief, which the session that they have would not see.
    ...again.map(({ id }, at): PlanChange => {
      return { do: 'reopen-task', id, feedback: said, session: at === 0 && id !== task.id ? 'same' : 'new' };
    }),
  ];
}

/** The rest of a todo that its planner completes: nothing is built for it. */
export function withoutBuild(view: View, entry: string): PlanChange[] {
  const rest = [...chainOf(view, entry)].filter(([stage]) => stage !== 'PLAN_TODO');
  return settle(new Map(rest), `${entry} is a planning todo`);
}

function settle(chain: Chain, why: string): PlanChange[] {
  return [...chain.values()]
    .filter(({ status }) => !ENDED.has(status))
    .map(({ id }): PlanChange => ({ do: 'settle-task', id, as: 'skipped', why }));
}

/** Before the report, each commit that failed is tried once more. */
export function closedOut(view: View, changes: PlanChange[]): PlanChange[] {
  const isReport = (change: PlanChange): boolean =>
    (change.do === 'add-task' && change.task.id.startsWith('report')) ||
    (change.do === 'put' && change.in === 'stage-tasks' && change.id.startsWith('report'));
  if (!changes.some((change) => change.do === 'add-task' && isReport(change))) return changes;
  const left = stageTasksOf(view, 'COMMIT').filter(({ id, status }) => status === 'failed' && !isClosedOut(view, id));
  if (left.length === 0) return changes;
  return [
    ...changes.filter((change) => !isReport(change)),
    ...left.flatMap(({ id }): PlanChange[] => [
      put(CLOSEOUT, id, { again: true }),
      { do: 'reopen-task', id, feedback: 'Every other todo has ended. Commit what is left.', session: 'same' },
    ]),
  ];
}
