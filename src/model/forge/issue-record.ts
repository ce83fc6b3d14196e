import { z } from 'zod';

/** The kind of the records of issues, which the step of the intake writes. */
export const ISSUE_KIND = 'forge-issue';

/** The label of a state is `squad:` and this. */
const ISSUE_STATES = ['running', 'waiting', 'done', 'failed'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

export function stateLabel(state: IssueState): string {
  return `squad:${state}`;
}

/** A question of its run, as it was asked at the issue. Its number is its place, from 1. */
const askedSchema = z.object({ question: z.string(), comment: z.string() });

/** Why nothing was started: the label was set by a person who may not, the text was changed after that, or the run was refused. */
const LEFT = ['not-allowed', 'edited', 'not-started'] as const;

/**
 * An issue that has had the label, by `<place>#<number>`: what squad does about it. Texts are without secrets. Times are epoch ms. What was
 * done at the forge is written down afterwards; what is missing here is looked for there before it is done.
 */
export const issueRecordSchema = z.object({
  number: z.int(),
  /** How often a run was started for it. */
  round: z.int(),
  /** The newest setting of the label that was looked at. */
  set: z.object({ id: z.string(), by: z.string(), at: z.int() }),
  /** When the forge had changed it at the last look, in its own words. */
  seen: z.string(),
  left: z.enum(LEFT).optional(),
  /** Its text as it was when the label was set. Absent: nothing was taken, or its run has the text by now. */
  text: z.object({ title: z.string(), body: z.string(), url: z.string() }).optional(),
  playbook: z.string().optional(),
  priority: z.string().optional(),
  run: z.object({ id: z.string(), name: z.string() }).optional(),
  /** Its label of a state. */
  label: z.enum(ISSUE_STATES).optional(),
  /** The comment that says how its run is, and a hash of its text. */
  comment: z.object({ id: z.string(), says: z.string() }).optional(),
  asked: z.array(askedSchema),
  /** Comments up to this one were read. */
  heard: z.string().optional(),
  /** Its run was paused, because the label is gone or the issue is closed. Absent: it is not. */
  withdrawn: z.enum(['label', 'closed', 'gone']).optional(),
  /** A later setting of the label that only let its run go on. */
  again: z.string().optional(),
  /** The issue cannot be reached any more: nothing is written there. */
  gone: z.boolean().optional(),
  /** All about this run was said. */
  over: z.boolean().optional(),
  /** Its run was opened again after its end, such as for its pull request: what becomes of the label no longer pauses it. */
  reopened: z.boolean().optional(),
});
export type IssueRecord = z.infer<typeof issueRecordSchema>;
