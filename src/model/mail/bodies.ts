import { z } from 'zod';
import type { ComposeFacts } from './kind-entry.ts';
import { HANDOFF, ISSUE_CATEGORIES, ISSUE_SEVERITIES, MAIL_REASONS } from './vocabulary.ts';
import { idSchema, labelSchema, pathSchema, wordsSchema } from './wire-text.ts';

// The body of each kind of message. Fields that are not named here pass through: other senders may say more.

type Fields = Readonly<Record<string, unknown>>;

/** `code_path` or `context` of a question that has none. */
export const NOWHERE = '-';

const countSchema = z.int().nonnegative();
const lineSchema = z.int().positive();

export function text(description: string): z.ZodType {
  return wordsSchema.describe(description);
}

const dependencies = z.array(idSchema).default([]).describe('Tasks that must be done first.');

export const reviewBody = z.looseObject({
  doc_path: pathSchema.describe('The document to review.'),
  focus: z.array(wordsSchema).default([]).describe('What matters most, for example func, perf, ux.'),
  reviewers: z.array(z.string()).exactOptional().describe('The same as `to`. The router fills it in.'),
  review_deadline: z
    .int()
    .positive()
    .exactOptional()
    .describe('When the review ends (epoch ms). Default: an hour from now. A silent reviewer then counts as done.'),
});

export const assignBody = z.looseObject({
  task_type: labelSchema.describe('The kind of work, for example implement.'),
  files: z.array(pathSchema).describe('The files to work on.'),
  success_criteria: z.array(wordsSchema).min(1).describe('How to tell that the task is done.'),
  dependencies,
});

export const handoffBody = z.looseObject({
  task_type: z.literal(HANDOFF).describe('Makes it a hand-off.'),
  files: z.array(pathSchema).default([]).describe('The files to work on.'),
  success_criteria: z.array(wordsSchema).default([]).describe('How to tell that the task is done.'),
  dependencies,
});

export const clarifyBody = z.looseObject({
  code_path: pathSchema.describe(`Where in the code: src/a.ts#L12, or \`${NOWHERE}\`.`),
  question: wordsSchema.describe('What you want to know.'),
  context: wordsSchema.describe('What you know, and what you are doing.'),
  expected: z.string().exactOptional().describe('What you think the answer is.'),
  doc_path: pathSchema.exactOptional().describe('Where in the documentation.'),
});

export const verifyBody = z.looseObject({
  doc_path: pathSchema.describe('The document that changed.'),
  changes_summary: wordsSchema.describe('What changed.'),
  question: wordsSchema.describe('What to verify.'),
});

const spanSchema = z
  .looseObject({ start_line: lineSchema.describe('The first line.'), end_line: lineSchema.describe('The last line.') })
  .superRefine(({ start_line, end_line }, context) => {
    if (start_line <= end_line) return;
    context.addIssue({ code: 'custom', path: ['end_line'], message: 'must not be before start_line' });
  });

/** One issue that a reviewer found. Its fields are in the order that the protocol recommends. */
export const issueSchema = z
  .looseObject({
    issue_group: wordsSchema.exactOptional().describe('Issues of one group are the same issue.'),
    doc_path: pathSchema.exactOptional().describe('Where in the documentation.'),
    doc_paths: z.array(pathSchema).exactOptional().describe('More such places, sorted by path, then by line.'),
    code_path: pathSchema.exactOptional().describe('Where in the code.'),
    code_paths: z.array(pathSchema).exactOptional().describe('More such places, sorted by path, then by line.'),
    code_span: spanSchema.exactOptional().describe('`{start_line, end_line}`'),
    category: z.enum(ISSUE_CATEGORIES).describe('What it concerns.'),
    severity: z.enum(ISSUE_SEVERITIES).describe('How much it matters.'),
    summary: wordsSchema.describe('What is wrong.'),
    suggestion: wordsSchema.describe('What to do about it.'),
  })
  .superRefine(({ doc_path, doc_paths, code_path, code_paths }, context) => {
    const places = [doc_path, ...(doc_paths ?? []), code_path, ...(code_paths ?? [])];
    if (places.some((place) => place !== undefined)) return;
    const message = 'is required, unless doc_paths, code_path or code_paths says where the issue is';
    context.addIssue({ code: 'custom', path: ['doc_path'], message });
  });

export const feedbackBody = z
  .looseObject({
    doc_path: pathSchema.describe('The document that was reviewed.'),
    has_issues: z.boolean().describe('Whether there are issues.'),
    issue_count: countSchema.exactOptional().describe('The number of issues. Default: counted.'),
    issues: z.array(issueSchema).default([]).describe('The issues, one by one; empty if there are none.'),
    summary: z.string().default('').describe('The overall result.'),
    questions: z.array(wordsSchema).default([]).describe('What the reviewer wants to know.'),
  })
  .superRefine(({ has_issues, issue_count, issues }, context) => {
    if (issue_count !== undefined && issue_count !== issues.length) {
      context.addIssue({ code: 'custom', path: ['issue_count'], message: 'must be the number of issues' });
    }
    if (has_issues !== issues.length > 0) {
      const message = 'must be true if there are issues, and false if not';
      context.addIssue({ code: 'custom', path: ['has_issues'], message });
    }
  });

export function completeFeedback({ issues = [] }: Fields): Fields {
  const count = Array.isArray(issues) ? issues.length : 0;
  return { has_issues: count > 0, issue_count: count, issues };
}

/** More is a new plan. */
export const MOST_PATHS = 20;

export const answerBody = z
  .looseObject({
    doc_updated: z.boolean().exactOptional().describe('Whether the documentation has the answer now, in a commit.'),
    reason: z.string().exactOptional().describe('Why the documentation needs no change.'),
    paths: z
      .array(pathSchema)
      .max(MOST_PATHS)
      .exactOptional()
      .describe("Paths that the asker's task may change too. They count from the planner of the task, and from MAIN."),
  })
  .superRefine(({ doc_updated, reason }, context) => {
    if (doc_updated === true || /\S/.test(reason ?? '')) return;
    const message = 'must be true, unless `reason` says why the documentation needs no change';
    context.addIssue({ code: 'custom', path: ['doc_updated'], message });
  });

/** A person who answers in words does not have to say why the documentation stays. */
export function completeAnswer({ doc_updated, reason }: Fields, { person }: ComposeFacts): Fields {
  const isOpen = person === true && doc_updated !== true && reason === undefined;
  return isOpen ? { reason: 'answered by a person, in words' } : {};
}

export const noteBody = z.looseObject({});

export const doneBody = z.looseObject({
  status: wordsSchema.exactOptional().describe('`no_issues` in answer to a review. The router fills it in.'),
});

export const verifiedBody = z
  .looseObject({
    has_new_issues: z.boolean().describe('Whether the change brought new issues.'),
    new_issue_count: countSchema.exactOptional().describe('The number of new issues.'),
  })
  .superRefine(({ has_new_issues, new_issue_count }, context) => {
    if (new_issue_count === undefined || has_new_issues === new_issue_count > 0) return;
    const message = 'must be above 0 if there are new issues, and 0 if not';
    context.addIssue({ code: 'custom', path: ['new_issue_count'], message });
  });

export function completeVerified({ has_new_issues, new_issue_count: count }: Fields): Fields {
  return { has_new_issues: has_new_issues ?? (typeof count === 'number' ? count > 0 : undefined) };
}

export const failBody = z.looseObject({
  reason: wordsSchema.describe(`Why: in words, or ${MAIL_REASONS.map((reason) => `\`${reason}\``).join(', ')}.`),
  blocked_by: z.array(wordsSchema).default([]).describe('What blocks it: tasks, files, people.'),
});

/** How ROUTER reports a message that it gave up to MAIN: the body of its `fail`. */
export const givenUpBody = failBody.extend({
  message_id: z.string().describe('The message that was given up.'),
  target: z.string().describe('The recipient that it did not reach.'),
  last_error: z.string().describe('What happened at the last try.'),
  retries: countSchema.describe('The number of retries.'),
});

/** The answer to the sender of a refused message. */
export const nackSchema = z.strictObject({
  reason: z.enum(MAIL_REASONS).describe('The kind of refusal.'),
  field: z.string().describe('The field; empty: the message as a whole.'),
  rule: z.string().describe('What the field must be. Never repeats what the message says.'),
});
