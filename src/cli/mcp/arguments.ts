import { z } from 'zod';
import {
  feedbackBody,
  handoffBody,
  reviewBody,
  verifiedBody,
  verifyBody,
  assignBody,
  clarifyBody,
} from '../../model/mail/bodies.ts';

// What the tools take. None has a field that says who is calling.

const MOST_MINUTES = 14 * 24 * 60;

const to = z.array(z.string()).min(1).describe('Addresses of members; `status` lists them.');
const task = z.string().exactOptional().describe('Id of the task that it is about.');
const corr = z
  .string()
  .exactOptional()
  .describe('Id of the message that is answered. Absent: the one open ask of that task.');
const minutes = z.number().positive().max(MOST_MINUTES).exactOptional();

export const sendInput = z.strictObject({
  to,
  text: z.string().regex(/\S/, 'needs some words').describe('What you want to tell.'),
  task_id: task,
  corr: corr.describe('Id of the message that it goes on from, if any.'),
});

export const replyInput = z.strictObject({
  corr,
  task_id: task,
  text: z.string().regex(/\S/, 'needs some words').describe('The answer.'),
  doc_updated: z
    .boolean()
    .exactOptional()
    .describe('To a question: whether the documentation says it now, in a commit of yours. Else give `reason`.'),
  reason: z.string().exactOptional().describe('To a question: why the documentation needs no change.'),
  has_new_issues: z.boolean().exactOptional().describe('To a verify: whether the change brought new issues.'),
  new_issue_count: verifiedBody.shape.new_issue_count,
});

export const reportInput = z.strictObject({
  corr,
  task_id: task,
  doc_path: feedbackBody.shape.doc_path.exactOptional().describe('What was reviewed. Absent: what the ask names.'),
  issues: feedbackBody.shape.issues.describe('One by one; empty where there are none.'),
  summary: feedbackBody.shape.summary,
  questions: feedbackBody.shape.questions,
});

export const ASK_ACTIONS = ['clarify', 'verify', 'review'] as const;

export const askInput = z.strictObject({
  action: z
    .enum(ASK_ACTIONS)
    .describe('clarify: something is unclear. verify: is this change right? review: what is wrong with this?'),
  to,
  task_id: task,
  question: clarifyBody.shape.question.exactOptional().describe('Of clarify and verify: what you want to know.'),
  context: clarifyBody.shape.context.exactOptional().describe('Of clarify: what you know and are doing.'),
  code_path: clarifyBody.shape.code_path.exactOptional().describe('Of clarify: where in the code; src/a.ts#L12.'),
  expected: clarifyBody.shape.expected.describe('Of clarify: what you think the answer is.'),
  doc_path: verifyBody.shape.doc_path.exactOptional().describe('Where in the documentation; what is to be reviewed.'),
  changes_summary: verifyBody.shape.changes_summary.exactOptional().describe('Of verify: how it was changed.'),
  focus: reviewBody.shape.focus.removeDefault().exactOptional().describe('Of review: func, perf, ux, security, docs.'),
  minutes: minutes.describe('Of review: how long it may take. Absent: an hour.'),
});

const work = {
  to: to.describe('Addresses of members.'),
  task_id: z.string().describe('Id of the task, new or known.'),
  summary: z.string().exactOptional().describe('What is to be done.'),
  dependencies: assignBody.shape.dependencies,
  minutes: minutes.describe('How long it may take. Absent: an hour.'),
};

export const assignInput = z.strictObject({
  ...work,
  task_type: assignBody.shape.task_type,
  files: assignBody.shape.files,
  success_criteria: assignBody.shape.success_criteria,
});

export const handoffInput = z.strictObject({
  ...work,
  to: z.array(z.string()).length(1).describe('A role, or the address of a member.'),
  files: handoffBody.shape.files,
  success_criteria: handoffBody.shape.success_criteria,
  minutes: minutes.describe('How long it may take, with the wait for its place. Absent: eight hours.'),
});

export const doneInput = z.strictObject({
  corr,
  task_id: task,
  summary: z.string().exactOptional().describe('What was done.'),
  has_new_issues: z.boolean().exactOptional().describe('To a verify: whether the change brought new issues.'),
  new_issue_count: verifiedBody.shape.new_issue_count,
});

export const failInput = z.strictObject({
  corr,
  task_id: task,
  reason: z.string().regex(/\S/, 'needs some words').describe('Why it cannot be done.'),
  blocked_by: z.array(z.string()).default([]).describe('What stands in the way: tasks, files, people.'),
});

export const inboxInput = z.strictObject({
  id: z.string().exactOptional().describe('Read this one message as a whole.'),
  offset: z.int().nonnegative().default(0).describe('With `id`: go on from this character.'),
  limit: z.int().positive().max(20).default(10).describe('At most so many messages.'),
});

export const acceptInput = z.strictObject({
  ids: z.array(z.string()).min(1).max(200).describe('Ids of the messages that you have read.'),
});

export const statusInput = z.strictObject({});
