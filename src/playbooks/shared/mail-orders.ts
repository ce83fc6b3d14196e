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
