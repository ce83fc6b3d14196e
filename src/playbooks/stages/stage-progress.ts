import type { StageView, TaskView, View } from '../../model/plan.ts';
import type { Member, Objective } from '../../model/plan/board.ts';
import { givesTasks, judgesWhole, needsOf } from './list-facts.ts';
import type { Stage, StageList } from './stage-list.ts';
import { answerOf, passOf, roundsOf, stageTasks, type StagePass, type StageTask } from './stage-records.ts';

/** The parts of a view that a playbook of stages reads. */
export interface Scene extends Pick<View, 'options' | 'task' | 'tasks' | 'record' | 'records' | 'routes' | 'prompts'> {
  readonly objective: Objective;
  readonly roster: readonly Member[];
}

/** A task and its place in its stage. */
export interface Placed extends StageTask {
  readonly state: TaskView;
}

export interface StageProgress {
  readonly stage: Stage;
  readonly pass: StagePass;
  /** Tasks of the current pass. */
  readonly tasks: readonly Placed[];
  /** Tasks of all passes, oldest first. */
  readonly all: readonly Placed[];
  readonly state: StageView['state'];
}

const NONE: readonly Placed[] = [];

/** Where each stage of the list is. */
export function progressOf(view: Pick<View, 'task' | 'record' | 'records'>, list: StageList): readonly StageProgress[] {
  const placed = new Map<string, Placed[]>();
  for (const one of stageTasks(view)) {
    const state = view.task(one.task);
    if (state === undefined) continue;
    const before = placed.get(one.stage);
    const task = { ...one, state };
    if (before === undefined) placed.set(one.stage, [task]);
    else before.push(task);
  }
  const progress = list.stages.map((stage) => {
    const pass = passOf(view, stage.id);
    const all = placed.get(stage.id) ?? NONE;
    const tasks = all.every((one) => one.pass === pass.pass) ? all : all.filter((one) => one.pass === pass.pass);
    // Work that no plan has leaves its stage as it is.
    const planned = tasks.filter(({ added }) => added !== true);
    return { stage, pass, tasks, all, state: stateOf(view, list, { stage, pass, tasks: planned }) };
  });
  return progress.map((one) => (isLeftOut(one, progress) ? { ...one, state: 'skipped' } : one));
}

/** Whether a stage that commits entries has no task because their authors committed them. */
function isLeftOut({ stage, tasks, state }: StageProgress, progress: readonly StageProgress[]): boolean {
  if (!('commit' in stage.makes) || stage.each === undefined || !isUnopened(tasks) || state !== 'waiting') return false;
  const before = progress.find((one) => one.stage.id === stage.each?.of);
  return before !== undefined && !isUnopened(before.tasks) && isComplete(before);
}

function stateOf(
  view: Pick<View, 'record' | 'records'>,
  list: StageList,
  { stage, pass: { pass }, tasks }: Pick<StageProgress, 'stage' | 'pass' | 'tasks'>,
): StageView['state'] {
  if (stage.isDone === true) return 'done';
  if (tasks.length === 0) return 'waiting';
  const statuses = tasks.map(({ state }) => state.status);
  if (statuses.some((status) => !ENDED.has(status))) return 'live';
  const isBad = (status: string): boolean => status === 'failed' || status === 'cancelled';
  // Where one of several judges may be missing, the verdicts of the others decide.
  const mayLack = judgesWhole(stage) && stage.onFail === 'skip' && statuses.includes('done');
  if (statuses.some(isBad) && !mayLack) {
    // Other work went through the stage.
    if (stage.onFail === 'skip') return stage.judges === undefined && statuses.includes('done') ? 'done' : 'skipped';
    return 'failed';
  }
  if (statuses.every((status) => status === 'skipped')) return 'skipped';
  if (judgesWhole(stage)) {
    const round = roundsOf(view, stage.id).find((one) => one.pass === pass);
    return round === undefined ? 'live' : round.approved ? 'done' : 'failed';
  }
  // With a plan that a person approves, the answer counts later than its task ends.
  return givesTasks(list, stage) && answerOf(view, stage.id) === undefined ? 'live' : 'done';
}

const ENDED: ReadonlySet<string> = new Set(['done', 'failed', 'skipped', 'cancelled']);

/** Whether the stages that need it may start. */
export function isComplete({ state }: StageProgress): boolean {
  return state === 'done' || state === 'skipped';
}

/** Whether it has no task yet of its own, whatever mail added to it. */
export function isUnopened(tasks: readonly Placed[]): boolean {
  return tasks.every(({ added }) => added === true);
}

/** Stages without tasks whose needs are complete. */
export function dueStages(progress: readonly StageProgress[], list: StageList): readonly StageProgress[] {
  const complete = new Set(progress.filter(isComplete).map(({ stage }) => stage.id));
  return progress.filter(
    ({ stage, tasks, state }) =>
      isUnopened(tasks) && state === 'waiting' && needsOf(list, stage).every((need) => complete.has(need)),
  );
}

/** The roles that work on a document after the one that writes it. */
export function laterRoles({ all, by }: Stage, roster: readonly Pick<Member, 'role'>[]): string[] {
  if (all !== true) return [];
  return [...new Set(by)].filter((role) => roster.some((member) => member.role === role)).slice(1);
}

/** The role that works on a stage: the one that the entry names, if the stage lets it, or the first that an agent has. */
export function roleFor(
  { by }: Pick<Stage, 'by'>,
  roster: readonly Pick<Member, 'role'>[],
  entry?: { readonly role?: string },
): string | undefined {
  const named = by.filter((role) => role === entry?.role);
  return staffedRole([...named, ...by], roster);
}

/** The first of these roles that an agent has. */
export function staffedRole(roles: readonly string[], roster: readonly Pick<Member, 'role'>[]): string | undefined {
  return roles.find((role) => roster.some((member) => member.role === role));
}
