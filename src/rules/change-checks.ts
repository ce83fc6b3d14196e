import { reviewRoles, reviewsOf } from '../model/plan/task.ts';
import type { Board } from '../model/plan/board.ts';
import type { PlanChange } from '../model/plan/change.ts';
import { newTaskSchema, type NewTask } from '../model/plan/task.ts';
import { isForJudge } from './judge-evidence.ts';
import { roundCap } from './work.ts';
import { roundsTaken } from './work-step.ts';

type BoardPart = Pick<Board, 'tasks' | 'facts'>;
type Change<D extends PlanChange['do']> = Extract<PlanChange, { do: D }>;

/** Why a task may not be added, or undefined. Its needs must already be in the plan. */
export function refuseTask(board: BoardPart, task: NewTask): string | undefined {
  const parsed = newTaskSchema.safeParse(task);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${issue?.path.join('.') ?? 'task'}: ${issue?.message ?? 'not a task'}`;
  }
  const { limits } = board.facts;
  if (board.tasks.has(task.id)) return `there is a task ${task.id} already`;
  if (board.tasks.size >= limits.tasks) return `a plan has at most ${limits.tasks} tasks`;
  if (task.needs.includes(task.id)) return `${task.id} would need itself`;
  const depth = depthOf(board, task);
  if (depth > limits.depth) return `${task.id} would be ${depth} levels deep; ${limits.depth} are allowed`;
  return refuseUnknown(board, task) ?? refuseStaff(board, task) ?? refuseShape(task);
}

export function depthOf(board: Pick<Board, 'tasks'>, task: NewTask): number {
  return task.parent === undefined ? 0 : (board.tasks.get(task.parent)?.depth ?? 0) + 1;
}

function refuseUnknown(board: BoardPart, task: NewTask): string | undefined {
  const named = [
    ...task.needs,
    ...(task.parent === undefined ? [] : [task.parent]),
    ...(typeof task.session === 'object' ? [task.session.of] : []),
    ...reviewsOf(task).flatMap(({ session }) => session?.of ?? []),
    ...(typeof task.workspace === 'object' && task.workspace.read !== 'run' ? [task.workspace.read] : []),
  ];
  const unknown = named.find((id) => !board.tasks.has(id));
  if (unknown !== undefined) return `there is no task ${unknown}`;
  const commitOf = [task.base, typeof task.workspace === 'object' ? task.workspace.read : undefined];
  const loose = commitOf.find((id) => id !== undefined && id !== 'run' && !task.needs.includes(id));
  return loose === undefined ? undefined : `${task.id} starts from ${loose}, which is not among its needs`;
}

function refuseStaff(board: BoardPart, task: NewTask): string | undefined {
  if (task.kind !== 'work') return undefined;
  const { roster } = board.facts;
  const roles = [task.role, ...reviewRoles(task)];
  const unstaffed = roles.find((role) => !roster.some((member) => member.role === role));
  if (unstaffed !== undefined) return `no agent has the role ${unstaffed}`;
  return refuseAgent(board, task.agent);
}

function refuseAgent(board: BoardPart, agent: string | undefined): string | undefined {
  if (agent === undefined || board.facts.roster.some((member) => member.name === agent)) return undefined;
  return `there is no agent ${agent}`;
}

function refuseShape(task: NewTask): string | undefined {
  const judged = task.review !== undefined || task.integrate;
  switch (task.kind) {
    case 'work':
      if (judged && task.workspace !== 'own') return 'only work in a folder of its own can be reviewed or integrated';
      if (new Set(reviewRoles(task)).size !== reviewRoles(task).length) return 'a role reviews once';
      if (task.laterReviews !== undefined && !reviewsOf(task).every(({ id }, at, all) => isOwnId(id, at, all)))
        return 'each of several reviews has an id of its own';
      return undefined;
    case 'check':
      if (judged) return 'a check is not reviewed and not integrated';
      return task.requires.length === 0 ? 'a check requires something' : undefined;
    case 'integrate':
      return task.base === undefined ? 'an integration names the task whose commit it takes' : undefined;
    default:
      return task.kind satisfies never;
  }
}

function isOwnId(id: string | undefined, at: number, all: readonly { readonly id?: string | undefined }[]): boolean {
  return id !== undefined && all.findIndex((one) => one.id === id) === at;
}

export function refuseEdit(board: BoardPart, change: Change<'edit-task'>): string | undefined {
  const state = board.tasks.get(change.id);
  if (state === undefined) return `there is no task ${change.id}`;
  const { phase, author } = state.work;
  if (phase.at === 'ended') return `${change.id} has ended`;
  const { needs } = change;
  if (needs !== undefined) {
    if (phase.at !== 'working' || author.state.at === 'live') return `${change.id} is at work`;
    const unknown = needs.find((need) => !board.tasks.has(need));
    if (unknown !== undefined) return `there is no task ${unknown}`;
    if (needs.some((need) => reaches(board, need, change.id))) return `${change.id} would need itself`;
    if (state.task.base !== undefined && !needs.includes(state.task.base)) {
      return `${change.id} starts from ${state.task.base}, which is not among its needs`;
    }
  }
  const shape = change.requires === undefined ? undefined : refuseShape({ ...state.task, requires: change.requires });
  return shape ?? refuseAgent(board, change.agent);
}

/** Whether `from` is `to` or needs it, directly or through others. */
export function reaches(board: Pick<Board, 'tasks'>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(board.tasks.get(id)?.task.needs ?? []));
  }
  return false;
}

export function refuseReopen(board: BoardPart, change: Change<'reopen-task'>): string | undefined {
  const state = board.tasks.get(change.id);
  if (state === undefined) return `there is no task ${change.id}`;
  if (state.work.phase.at !== 'ended') return `${change.id} is still at work`;
  const { agent } = change;
  if (agent !== undefined) {
    if (state.work.phase.as !== 'failed') return `${change.id} has not failed`;
    return refuseAgent(board, agent);
  }
  const cap = roundCap(state.task, board.facts);
  return roundsTaken(state.work) >= cap ? `${change.id} has used its ${cap} rounds` : undefined;
}

export function refuseSettle(board: BoardPart, change: Change<'settle-task'>): string | undefined {
  const phase = board.tasks.get(change.id)?.work.phase;
  if (phase === undefined) return `there is no task ${change.id}`;
  // Delivered work may still fail.
  const isTakenBack = phase.at === 'ended' && phase.as === 'done' && change.as === 'failed';
  if (phase.at === 'ended' && !isTakenBack) return `${change.id} has ended`;
  if (phase.at === 'stopping') return `${change.id} is being stopped`;
  return phase.at === 'advancing' ? `${change.id} is being delivered` : undefined;
}

export function refuseVerdict({ tasks, facts }: BoardPart, id: string, criterion: number): string | undefined {
  const one = facts.objective.criteria[criterion];
  if (one === undefined) return `the objective has no criterion ${criterion}`;
  if (!isForJudge(one)) return `a command decides on criterion ${criterion}`;
  const task = tasks.get(id)?.task;
  if (task === undefined) return `there is no task ${id}`;
  const reads = typeof task.workspace === 'object' && task.workspace.read === 'run';
  return reads ? undefined : `${id} does not read the run branch`;
}

export function isEngines(id: string): boolean {
  return id.startsWith('engine/');
}
