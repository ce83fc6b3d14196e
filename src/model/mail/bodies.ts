import { z } from 'zod';
import { issueSchema } from './issue.ts';
import { HANDOFF, MAIL_REASONS } from './vocabulary.ts';
import { idSchema, labelSchema, pathSchema, wordsSchema } from './wire-text.ts';

// Bodies by what a message is. Fields that are not named here pass through: newer and other senders may say more.

const countSchema = z.int().nonnegative();

export const reviewBody = z.looseObject({
  doc_path: pathSchema.describe('What is to be reviewed.'),
  focus: z.array(wordsSchema).default([]).describe('What to look at above all; for example func, perf, ux.'),
  reviewers: z.array(z.string()).exactOptional().describe('The same as `to`; absent: filled in.'),
  review_deadline: z
    .int()
    .positive()
    .exactOptional()
    .describe('By when (epoch ms); absent: an hour from now. Whoever is silent then counts as done.'),
});

export const assignBody = z.looseObject({
  task_type: labelSchema.describe('What kind of work it is; for example implement.'),
  files: z.array(pathSchema).describe('Which files it is about.'),
  success_criteria: z.array(wordsSchema).min(1).describe('How to tell that it is done.'),
  dependencies: z.array(idSchema).default([]).describe('Tasks that have to be done before.'),
});

export const handoffBody = z.looseObject({
  task_type: z.literal(HANDOFF).describe('That it is a hand-off.'),
  files: z.array(pathSchema).default([]).describe('Which files it is about.'),
  success_criteria: z.array(wordsSchema).default([]).describe('How to tell that it is done.'),
  dependencies: z.array(idSchema).default([]).describe('Tasks that have to be done before.'),
});

export const clarifyBody = z.looseObject({
  code_path: pathSchema.describe('Where in the code; `-` where it is about none.'),
  question: wordsSchema.describe('What is unclear.'),
  context: wordsSchema.describe('What the asker knows and is doing.'),
  expected: z.string().exactOptional().describe('What the asker thinks the answer is.'),
  doc_path: pathSchema.exactOptional().describe('Where in the documentation.'),
});

export const verifyBody = z.looseObject({
  doc_path: pathSchema.describe('What was changed.'),
  changes_summary: wordsSchema.describe('How it was changed.'),
  question: wordsSchema.describe('What is to be verified.'),
});

export const feedbackBody = z
  .looseObject({
    doc_path: pathSchema.describe('What was reviewed.'),
    has_issues: z.boolean().describe('Whether `issues` holds any.'),
    issue_count: countSchema.exactOptional().describe('How many `issues` holds; absent: counted.'),
    issues: z.array(issueSchema).default([]).describe('One by one; a table of its own is below.'),
    summary: z.string().default('').describe('All in all.'),
    questions: z.array(wordsSchema).default([]).describe('What the reviewer wants to know.'),
  })
  .superRefine(({ has_issues, issue_count, issues }, context) => {
    if (issue_count !== undefined && issue_count !== issues.length) {
      context.addIssue({ code: 'custom', path: ['issue_count'], message: 'is the number of issues' });
    }
    if (has_issues !== issues.length > 0) {
      context.addIssue({
        code: 'custom',
        path: ['has_issues'],
        message: 'is true if there are issues, and false if not',
      });
    }
  });

export const answerBody = z
  .looseObject({
    doc_updated: z.boolean().exactOptional().describe('Whether the documentation says it now, in a commit.'),
    reason: z.string().exactOptional().describe('Why the documentation needs no change.'),
  })
  .superRefine(({ doc_updated, reason }, context) => {
    if (doc_updated === true || /\S/.test(reason ?? '')) return;
    const message = 'is true, or `reason` says why the documentation needs no change';
    context.addIssue({ code: 'custom', path: ['doc_updated'], message });
  });

export const noteBody = z.looseObject({});

export const doneBody = z.looseObject({
  status: wordsSchema.exactOptional().describe('In answer to a review: `no_issues`; absent: filled in.'),
});

export const verifiedBody = z
  .looseObject({
    has_new_issues: z.boolean().describe('Whether the change brought new issues.'),
    new_issue_count: countSchema.exactOptional().describe('How many.'),
  })
  .superRefine(({ has_new_issues, new_issue_count }, context) => {
    if (new_issue_count === undefined || has_new_issues === new_issue_count > 0) return;
    const message = 'is above 0 if there are new issues, and 0 if not';
    context.addIssue({ code: 'custom', path: ['new_issue_count'], message });
  });

export const failBody = z.looseObject({
  reason: wordsSchema.describe(`Why: in words, or ${MAIL_REASONS.map((reason) => `\`${reason}\``).join(', ')}.`),
  blocked_by: z.array(wordsSchema).default([]).describe('What stands in the way: tasks, files, people.'),
});

/** What the router tells MAIN when it gives a message up: the body of a `fail` from ROUTER. */
export const deadLetterBody = failBody.extend({
  message_id: z.string().describe('Which message was given up.'),
  target: z.string().describe('Whom it did not reach.'),
  last_error: z.string().describe('What happened at the last try.'),
  retries: countSchema.describe('How often it was tried again.'),
});

/** What the sender of a message that is refused gets back. */
export const nackSchema = z.strictObject({
  reason: z.enum(MAIL_REASONS).describe('Why.'),
  field: z.string().describe('Which field; empty: the message as a whole.'),
  rule: z.string().describe('The rule that it breaks. Never repeats what the message says.'),
});
