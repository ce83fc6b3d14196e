import { z } from 'zod';
import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import type { AnswerForm } from '../../model/plan.ts';
import { ISSUE_CATEGORIES, ISSUE_SEVERITIES } from '../../model/mail/vocabulary.ts';
import { answerSchema } from '../shared/tasks.ts';

const issueSchema = z.object({
  doc_path: z.string(),
  code_paths: z.array(z.string()),
  category: z.enum(ISSUE_CATEGORIES),
  severity: z.enum(ISSUE_SEVERITIES),
  summary: z.string(),
  suggestion: z.string(),
});
/** `group`: issues of one group are the same one. */
export type Issue = z.infer<typeof issueSchema> & { readonly group?: string };

/** The place of the issue. */
export function placesOf({ doc_path, code_paths }: Issue): string {
  return [doc_path, ...code_paths].filter((path) => path !== '').join(', ');
}

/** The answer to a review or a verification. No issues: the member found none. */
export const findingsSchema = z.object({
  issues: z.array(issueSchema),
  summary: z.string(),
  questions: z.array(z.string()),
});
export type Findings = Omit<z.infer<typeof findingsSchema>, 'issues'> & { readonly issues: readonly Issue[] };

export const improvedSchema = z.object({ changes_summary: z.string() });

export const assignedSchema = z.object({
  summary: z.string(),
  assignments: z.array(
    z.object({
      task_id: z.string(),
      to: z.string(),
      task_type: z.string(),
      summary: z.string(),
      files: z.array(z.string()),
      success_criteria: z.array(z.string()),
      dependencies: z.array(z.string()),
      deadline_minutes: z.number(),
    }),
  ),
});
export type Assigned = z.infer<typeof assignedSchema>['assignments'][number];

export const closedSchema = z.object({ summary: z.string(), open_points: z.array(z.string()) });

/** The forms of answers for agents that used no tool. Without optional fields, because strict structured output needs all of them. */
export const COUNCIL_ANSWERS: Readonly<Record<string, AnswerForm>> = {
  findings: { schema: answerSchema(findingsSchema) },
  improved: { schema: answerSchema(improvedSchema) },
  assigned: { schema: answerSchema(assignedSchema) },
  closed: { schema: answerSchema(closedSchema) },
};

/** The form in mail, where most fields are optional and a path may be a text instead of a list. */
const mailedIssue = {
  issue_group: z.string().optional(),
  doc_path: z.string().default(''),
  doc_paths: z.array(z.string()).default([]),
  code_path: z.string().optional(),
  code_paths: z.array(z.string()).default([]),
  code_span: z.object({ start_line: z.number(), end_line: z.number() }).optional(),
  category: z.enum(ISSUE_CATEGORIES).catch('docs'),
  severity: z.enum(ISSUE_SEVERITIES).catch('medium'),
  summary: z.string(),
  suggestion: z.string().default(''),
};
const mailedFindings = {
  issues: z.array(z.object(mailedIssue)).default([]),
  summary: z.string().default(''),
  questions: z.array(z.string()).default([]),
};
const mailedFindingsSchema = z.object(mailedFindings);

/** A report without any field that is left out of its findings. What is counted or known from elsewhere says nothing more. */
const wholeSchema = z.strictObject({
  ...mailedFindings,
  issues: z.array(z.strictObject(mailedIssue)).default([]),
  doc_path: z.string().optional(),
  has_issues: z.boolean().optional(),
  issue_count: z.number().optional(),
});

export function isWhole(body: Json): boolean {
  return wholeSchema.safeParse(body).success;
}

/** The findings in the body of a report; undefined: it has another form. */
export function findingsOf(body: Json): Findings | undefined {
  const parsed = mailedFindingsSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { issues, summary, questions } = parsed.data;
  return {
    issues: issues.map(({ doc_path, doc_paths, code_path, code_paths, code_span: span, issue_group, ...issue }) => ({
      ...issue,
      doc_path: [doc_path, ...doc_paths].filter((path) => path !== '').join(', '),
      code_paths: [
        ...(code_path === undefined ? code_paths : [code_path, ...code_paths]),
        ...(span === undefined ? [] : [`lines ${span.start_line} to ${span.end_line}`]),
      ],
      ...defined({ group: issue_group }),
    })),
    summary,
    questions,
  };
}
