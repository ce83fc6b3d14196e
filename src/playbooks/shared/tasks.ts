import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { cascadesOf, cascadeText } from '../../model/plan/cascade.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { orderOf } from './mail-orders.ts';

/** A task with the usual settings, changed by `more`. */
export function workTask(
  task: Pick<NewTask, 'id' | 'title' | 'role'> & { readonly brief: string },
  more: Partial<Omit<NewTask, 'id' | 'title' | 'role' | 'brief'>> = {},
): NewTask {
  const { id, title, role, brief } = task;
  return {
    id,
    title,
    role,
    kind: 'work',
    needs: [],
    brief: { text: brief },
    workspace: { read: 'run' },
    session: 'new',
    requires: [],
    integrate: false,
    ...more,
  };
}

/** The change that adds a task. */
export function addTask(task: NewTask): PlanChange {
  return { do: 'add-task', task };
}

/** The JSON Schema of an answer, as strict structured output accepts it. */
export function answerSchema(schema: z.ZodType): Record<string, Json> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema) as Record<string, Json>;
  return rest;
}

export const ENDED = new Set(['done', 'failed', 'skipped', 'cancelled']);

/** Open tasks that need this one, directly or through others. */
function dependents(view: View, id: string): TaskView[] {
  const open = view.tasks({ ended: false });
  const dead = new Set([id]);
  let found: TaskView[] = [];
  for (;;) {
    const next = open.filter((task) => !dead.has(task.id) && task.needs.some((need) => dead.has(need)));
    if (next.length === 0) return found;
    found = [...found, ...next];
    for (const task of next) dead.add(task.id);
  }
}

/** This task and all tasks that it needs, directly or through others. */
export function reached(view: Pick<View, 'task'>, id: string): Set<string> {
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(view.task(next)?.needs ?? []));
  }
  return found;
}

/** Tasks that need a failed task can never start. */
export function cancelDependents(view: View, id: string): PlanChange[] {
  return dependents(view, id).map((task) => ({
    do: 'settle-task',
    id: task.id,
    as: 'cancelled',
    why: `it needs ${id}, which failed`,
  }));
}

/** Cancels the tasks that need a failed task. Without any, the run may be able to end. */
export function cancelOrFinish(view: View, failed: string): PlanChange[] {
  const cancelled = cancelDependents(view, failed);
  return cancelled.length > 0 ? cancelled : finishWhenEnded(view);
}

/** The change that ends the run as failed. */
export function failRun(why: string): PlanChange {
  return { do: 'finish', outcome: 'failed', why };
}

/** Ends the run once every task has ended. The tasks' states decide the outcome. */
export function finishWhenEnded(view: View): PlanChange[] {
  if (view.tasks({ ended: false }).length > 0) return [];
  // An unanswered question is no failure: the asker's own work is judged.
  const failed = view
    .tasks()
    .filter(({ id, status }) => (status === 'failed' || status === 'cancelled') && orderOf(view, id)?.answers !== true);
  if (failed.length === 0) return [{ do: 'finish', outcome: 'done', why: 'all work is delivered' }];
  return [failRun(failureReasons(failed).join('\n'))];
}

/** Why these tasks were not done. Those that were cancelled with another one are counted on one line. */
export function failureReasons(failed: readonly TaskView[]): string[] {
  const cascades = cascadesOf(failed.map((task) => ({ ...task, touched: task.attempts > 0 })));
  const folded = new Set([...cascades.values()].flat());
  return failed.flatMap(({ id, why, status }) => {
    const cancelled = cascades.get(id)?.length ?? 0;
    if (folded.has(id)) return [];
    return [`${id}: ${why ?? status}`, ...(cancelled === 0 ? [] : [cascadeText(cancelled)])];
  });
}
