import { z } from 'zod';
import type { View } from '../../model/plan.ts';

/** Records of this name say which tasks there are because of a message, and which. */
export const BY_MAIL = 'mail';

const orderSchema = z.object({
  message: z.string(),
  from: z.string(),
  /** The address or role that it was for. */
  by: z.string(),
  /** It is only there to answer: nothing is delivered by it. */
  answers: z.boolean(),
});
export type MailOrder = z.infer<typeof orderSchema>;

/** undefined: the task is not there because of a message. */
export function orderOf(view: View, task: string): MailOrder | undefined {
  return orderSchema.safeParse(view.record(BY_MAIL, task)).data;
}

/**
 * Of a task for one recipient of a message, by its place among them: several may share a role, or a long name's beginning.
 * A plan may name its tasks as it likes. Cut to what is a slug.
 */
export function freshId(
  view: View,
  what: 'answer' | 'mail',
  { message, place, name }: { readonly message: string; readonly place: number; readonly name: string },
): string {
  const seq = message.split('-').at(-1) ?? '0';
  const id = `${what}-${place === 0 ? seq : `${seq}-${place + 1}`}-${name}`.slice(0, 30);
  for (let extra = 0; ; extra += 1) {
    const candidate = extra === 0 ? id : `${id.slice(0, 28)}-${extra}`;
    if (view.task(candidate) === undefined) return candidate;
  }
}
