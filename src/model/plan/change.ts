import { z } from 'zod';
import { jsonSchema } from '../../text/json.ts';
import { MAIL_ACTIONS } from '../mail/kind.ts';
import { MAIL_TYPES } from '../mail/vocabulary.ts';
import { briefSchema, newTaskSchema, TASK_ENDS } from './task.ts';

/**
 * All that a playbook can ask of the engine. One that is not possible comes back as a `refused` event, and is stored like any
 * other: ids that agents thought up are any text here, and judged when the change is applied.
 */
export const planChangeSchema = z.discriminatedUnion('do', [
  z.object({ do: z.literal('add-task'), task: newTaskSchema.extend({ id: z.string() }) }),
  z.object({
    do: z.literal('edit-task'),
    id: z.string(),
    needs: z.array(z.string()).optional(),
    brief: briefSchema.optional(),
    agent: z.string().optional(),
    priority: z.number().int().optional(),
  }),
  /** The next round of a task that has ended; refused above its cap. */
  z.object({
    do: z.literal('reopen-task'),
    id: z.string(),
    feedback: z.string(),
    session: z.enum(['same', 'new']),
  }),
  /** A live attempt is cancelled first; the task ends when it is settled. */
  z.object({ do: z.literal('settle-task'), id: z.string(), as: z.enum(TASK_ENDS), why: z.string() }),
  z.object({
    do: z.literal('ask'),
    id: z.string(),
    text: z.string(),
    options: z.array(z.string()).optional(),
    blocks: z.union([z.literal('run'), z.array(z.string())]),
    defaultAfter: z.object({ ms: z.number().int().nonnegative(), answer: z.string() }).optional(),
  }),
  z.object({ do: z.literal('set-timer'), id: z.string(), at: z.number().int() }),
  z.object({ do: z.literal('clear-timer'), id: z.string() }),
  /** Mail in a member's name. It wakes nobody: whoever should answer needs a task, or has one. */
  z.object({
    do: z.literal('send'),
    /** Address; absent: MAIN's. */
    from: z.string().optional(),
    to: z.array(z.string()).min(1),
    type: z.enum(MAIL_TYPES),
    action: z.enum(MAIL_ACTIONS).optional(),
    task: z.string().optional(),
    /** The playbook's own name for it, once in a run: replies come back with it. */
    key: z.string().optional(),
    /** Id of the message that it answers. */
    corr: z.string().optional(),
    /** The same, by the key of one that the playbook sent. */
    corrKey: z.string().optional(),
    body: z.record(z.string(), jsonSchema),
    /** Epoch ms. */
    deadline: z.number().int().optional(),
  }),
  /** Its sender is told why nothing comes of it. */
  z.object({ do: z.literal('refuse-mail'), message: z.string(), reason: z.string() }),
  /** Whoever waits for this answer goes on. `by`: the address that owed it. */
  z.object({ do: z.literal('close-ask'), message: z.string(), by: z.string() }),
  /** The playbook's own records; null deletes. */
  z.object({ do: z.literal('put'), in: z.string(), id: z.string(), value: jsonSchema }),
  z.object({ do: z.literal('finish'), outcome: z.enum(['done', 'failed']), why: z.string() }),
]);
export type PlanChange = z.infer<typeof planChangeSchema>;
