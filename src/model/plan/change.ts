import { z } from 'zod';
import { jsonSchema } from '../../text/json-schema.ts';
import { MAIL_ACTIONS } from '../mail/kind.ts';
import { MAIL_TYPES } from '../mail/vocabulary.ts';
import { RUN_ENDS } from '../run-state.ts';
import { verdictSchema } from './gate.ts';
import { briefSchema, newTaskSchema, requirementSchema, TASK_ENDS } from './task.ts';

/**
 * Everything that a playbook can ask of the engine. Changes are stored even if they are refused, so ids are any text here and
 * are checked when the change is applied. A refused change comes back as the event `refused`.
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
    /** Also while its agent is at work: what counts is checked at the end of the turn. */
    requires: z.array(requirementSchema).optional(),
  }),
  /**
   * Opens the next round of a task that has ended. Refused once its rounds are used up. `agent`: another agent starts a failed task
   * from the beginning, in the same round and without its answers; then `feedback` says why, for people alone.
   */
  z.object({
    do: z.literal('reopen-task'),
    id: z.string(),
    feedback: z.string(),
    session: z.enum(['same', 'new']),
    agent: z.string().optional(),
    /** Set where the work has no fault, as where a person wants more: what fails later has its own cause. */
    isFault: z.literal(false).optional(),
  }),
  /** A live attempt is cancelled first. The task ends when the attempt is settled. `cause`: of a failure that waits for a person. */
  z.object({
    do: z.literal('settle-task'),
    id: z.string(),
    as: z.enum(TASK_ENDS),
    why: z.string(),
    cause: z.literal('blocked').optional(),
  }),
  z.object({ do: z.literal('set-timer'), id: z.string(), at: z.number().int() }),
  /** Sends mail in a member's name. This starts no turn: the recipient needs a task to answer. */
  z.object({
    do: z.literal('send'),
    /** Address. Absent: MAIN. */
    from: z.string().optional(),
    to: z.array(z.string()).min(1),
    type: z.enum(MAIL_TYPES),
    action: z.enum(MAIL_ACTIONS).optional(),
    task: z.string().optional(),
    /** The playbook's name for the message, unique in the run. Replies refer to it. */
    key: z.string().optional(),
    /** Id of the message that it answers. */
    corr: z.string().optional(),
    /** `key` of a message from the playbook that this one answers, in place of `corr`. */
    corrKey: z.string().optional(),
    body: z.record(z.string(), jsonSchema),
    /** Epoch ms. */
    deadline: z.number().int().optional(),
  }),
  /** Refuses a message and sends its sender the reason. */
  z.object({ do: z.literal('refuse-mail'), message: z.string(), reason: z.string() }),
  /** Marks an ask as answered by the address `by`, so that the asker continues. */
  z.object({ do: z.literal('close-ask'), message: z.string(), by: z.string() }),
  /** Stores a record of the playbook. null deletes it. */
  z.object({ do: z.literal('put'), in: z.string(), id: z.string(), value: jsonSchema }),
  /**
   * Asks a person. `options` are the answers with a meaning of their own; any other text is an answer too. No other task starts
   * until the answer, which is the event `answered`. An operator who decides on `task` withdraws the question.
   */
  z.object({
    do: z.literal('ask'),
    id: z.string(),
    text: z.string(),
    options: z.array(z.string()),
    task: z.string(),
  }),
  /**
   * Gives a run whose objective has no criteria the ones that an agent wrote. `agreed`: a person has read them. Otherwise a command
   * that neither the objective nor `squad.yaml` has is not run.
   */
  z.object({
    do: z.literal('propose-criteria'),
    criteria: z.array(z.object({ text: z.string(), command: z.string().optional() })),
    agreed: z.boolean(),
  }),
  /**
   * Records what the agent of `task` says about a criterion that has no command. The engine knows the agent and the commit that it
   * read, and checks the file. “met” does not count from an author of the work, nor does anything once the run branch has moved on.
   */
  verdictSchema.extend({ do: z.literal('judge-criterion'), task: z.string() }),
  /** `remarks`: of an end as done, what its agents said is open. The engine adds the tasks that are not done, and questions without an answer. */
  z.object({
    do: z.literal('finish'),
    outcome: z.enum(RUN_ENDS),
    why: z.string(),
    remarks: z.array(z.string()).optional(),
  }),
]);
export type PlanChange = z.infer<typeof planChangeSchema>;
