import { z } from 'zod';
import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { TASK_ENDS, type NewTask } from '../../model/plan/task.ts';

/** Records under this name link a task to the message that added it. */
const BY_MAIL = 'mail';

const orderSchema = z.object({
  message: z.string(),
  from: z.string(),
  /** The address or role that it was for. */
  by: z.string(),
  /** It only answers, and delivers nothing. */
  answers: z.boolean(),
  /** If the message added several tasks: the first one, and the one that delivers. Absent: this one. */
  first: z.string().optional(),
  delivers: z.string().optional(),
});
export type MailOrder = z.infer<typeof orderSchema>;

/** undefined: no message added the task. */
export function orderOf(view: Pick<View, 'record'>, task: string): MailOrder | undefined {
  return orderSchema.safeParse(view.record(BY_MAIL, task)).data;
}

/** Leaves room for what a playbook adds to the id of a piece: `-commit`, `-test`. */
const LONGEST_ID = 24;

/**
 * An unused id for the task of one recipient, by its place among them: several recipients may share a role or the start of a long name,
 * and a playbook may have used any id.
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

/** The last task of one of these agents, whose session can continue. */
export function lastTaskOf(view: View, agents: readonly string[]): string | undefined {
  const done = view.tasks().filter(({ doneBy }) => doneBy !== undefined && agents.includes(doneBy));
  return (done.findLast(({ status }) => ENDS.has(status)) ?? done.at(-1))?.id;
}

const ENDS: ReadonlySet<string> = new Set(TASK_ENDS);
