import { z } from 'zod';

const text = z.string().trim().min(1).optional().catch(undefined);
const texts = z
  .array(z.unknown())
  .catch([])
  .transform((all) => all.filter((one): one is string => typeof one === 'string' && one.trim() !== ''));

const changeSchema = z.object({
  title: text,
  /** The todo or the item that it belongs to. */
  todo: text,
  item: text,
  before: text,
  after: text,
  why: text,
  artifacts: texts,
  commit: text,
});

const objects = <T extends z.ZodType>(schema: T) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.flatMap((one) => schema.safeParse(one).data ?? []) as z.output<T>[]);

/**
 * The planner's answer of a sprint's report, as `sprintReportSchema` asks for it. Any part of it may be missing or of another form: the report is made of the records, and this
 * adds the planner's words.
 */
const plannerReportSchema = z.object({
  headline: text,
  overview: text,
  summary: text,
  changes: objects(changeSchema),
  contributions: objects(z.object({ role: z.string(), text: z.string() })),
  issues: texts,
  achievements: texts,
  judgement: text,
});
export type PlannerReport = z.infer<typeof plannerReportSchema>;

const NOTHING = plannerReportSchema.parse({});

export function readPlannerReport(report: unknown): PlannerReport {
  return plannerReportSchema.safeParse(report).data ?? NOTHING;
}

/** Hexadecimal words that look like commits, and are none on record. */
export function unknownCommits(words: readonly (string | undefined)[], known: ReadonlySet<string>): string[] {
  const named = words.flatMap((one) => [...(one ?? '').matchAll(COMMIT)].map(([commit]) => commit.toLowerCase()));
  return [...new Set(named)].filter((commit) => ![...known].some((one) => one.startsWith(commit)));
}

/** With a digit and a letter: a plain number or a word such as `defaced` names no commit. */
const COMMIT = /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/gi;
