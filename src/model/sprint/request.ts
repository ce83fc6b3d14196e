import { z } from 'zod';

/** `done` and `blocked` follow from its items. */
const REQUEST_STATES = ['received', 'planning', 'planned', 'done', 'blocked', 'cancelled', 'refused'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** The most of one file that comes with a request, a message or the start of a sprint. */
export const MOST_FILE_BYTES = 25 * 1024 * 1024;

/** A file that came with a request or with the start of a sprint. Its bytes are kept under hash and name. */
export const attachmentSchema = z.object({
  id: z.string(),
  /** A plain file name, safe in every file system. */
  name: z.string(),
  bytes: z.number().int(),
  sha256: z.string(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/** Where it is in the folder of all attachments. */
export function attachmentIn(folder: string, { sha256, name }: Pick<Attachment, 'sha256' | 'name'>): string {
  return `${folder}/${sha256}/${name}`;
}

/** A request of a person. Only the commands of people write this record. Times are epoch ms. */
export const requestSchema = z.object({
  text: z.string(),
  by: z.string(),
  at: z.number().int(),
  /** Equal for texts that ask for the same. */
  fingerprint: z.string(),
  attachments: z.array(attachmentSchema),
  /** Texts that were asked for later and mean this request: the same again, or what a blocked item waited for. */
  joined: z.array(z.object({ text: z.string(), by: z.string(), at: z.number().int(), key: z.string().optional() })),
  /** The blocked item that it brings the input for: that item was reopened, and nothing is planned. */
  reopens: z.string().optional(),
  /** The sender's own id of it, as a hash: the same one again is the same request. */
  key: z.string().optional(),
  cancelledAt: z.number().int().optional(),
});
export type SprintRequest = z.infer<typeof requestSchema>;

/** The planner's answer to a request. Only the run that planned it writes this record. */
export const requestPlanSchema = z.object({
  outcome: z.enum(['planned', 'refused']),
  /** Ids of its items: those that it made, and those that were there. */
  items: z.array(z.string()),
  /** For the person who asked. */
  answer: z.string(),
  at: z.number().int(),
});
export type RequestPlan = z.infer<typeof requestPlanSchema>;

/** The requests that one run of the planner has to plan. Written before that run begins, under an id such as `plan-7`. */
export const reviewSchema = z.object({
  /** The id of the run. */
  run: z.string(),
  requests: z.array(z.string()),
  /** Ids of findings. */
  findings: z.array(z.string()),
  at: z.number().int(),
});
export type PlannerReview = z.infer<typeof reviewSchema>;
