import { z } from 'zod';
import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { TASK_ENDS, type NewTask } from '../../model/plan/task.ts';

/** Records of this name say which tasks there are because of a message, and which. */
const BY_MAIL = 'mail';

const orderSchema = z.object({
  message: z.string(),
  from: z.string(),
  /** The address or role that it was for. */
  by: z.string(),
  /** It is only there to answer: nothing is delivered by it. */
  answers: z.boolean(),
  /** If there are several tasks for it: the first, and the one that delivers. Absent: this one. */
  first: z.string().optional(),
  delivers: z.string().optional(),
});
export type MailOrder = z.infer<typeof orderSchema>;

/** undefined: the task is not there because of a message. */
export function orderOf(view: View, task: string): MailOrder | undefined {
  return orderSchema.safeParse(view.record(BY_MAIL, task)).data;
}

/** Leaves room for what a playbook adds to the id of a piece: `-commit`, `-test`. */
const LONGEST_ID = 24;

/**
 * Of a task for one recipient of a message, by its place among them: several may share a role, or a long name's beginning.
 * A plan may name its tasks as it likes.
 */
export function freshId(
  view: View,
  what: 'answer' | 'mail',
  { message, place, name }: { readonly message: string; readonly place: number; readonly name: string },
): string {
  const seq = message.split('-').at(-1) ?? '0';
  const id = `${what}-${place === 0 ? seq : `${seq}-${place + 1}`}-${name}`.slice(0, LONGEST_ID);
  for (let extra = 0; ; extra += 1) {
    const candidate = extra === 0 ? id : `${id.slice(0, LONGEST_ID - 4)}-${extra}`;
    if (view.task(candidate) === undefined) return candidate;
  }
}

/** Adds the tasks of one recipient's work or answer, each with a record of its order. Tests of delivered work get no record. */
export function ordered(
  tasks: readonly NewTask[],
  order: Pick<MailOrder, 'message' | 'from' | 'by' | 'answers'>,
): PlanChange[] {
  const [first] = tasks;
  const last = Math.max(
    tasks.findLastIndex((task) => task.integrate),
    0,
  );
  const delivers = tasks[last];
  return tasks.flatMap((task, index): PlanChange[] => {
    const added: PlanChange = { do: 'add-task', task };
    if (index > last || first === undefined || delivers === undefined) return [added];
    const value = { ...order, ...(last === 0 ? {} : { first: first.id, delivers: delivers.id }) };
    return [{ do: 'put', in: BY_MAIL, id: task.id, value }, added];
  });
}

/** The task that one of these agents did last: its session can be continued. */
export function lastTaskOf(view: View, agents: readonly string[]): string | undefined {
  const done = view.tasks().filter(({ doneBy }) => doneBy !== undefined && agents.includes(doneBy));
  return (done.findLast(({ status }) => ENDS.has(status)) ?? done.at(-1))?.id;
}

const ENDS: ReadonlySet<string> = new Set(TASK_ENDS);
