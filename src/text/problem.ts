import { z } from 'zod';

/** One problem in a file that a person wrote, and its place. */
export const problemSchema = z.object({
  file: z.string(),
  /** From 1. */
  line: z.int().positive(),
  /** From 1, in UTF-16 units. */
  column: z.int().positive().optional(),
  /** One sentence. It may quote shortened text of the file, which is untrusted where it is shown. */
  message: z.string(),
  /** A correct example, as lines of the file. */
  example: z.string().optional(),
});
export type Problem = z.infer<typeof problemSchema>;

const MOST = 50;

/** Sorts problems in the file's order. Lists the first fifty and counts the rest. */
export function orderProblems(problems: readonly Problem[]): Problem[] {
  const ordered = [...problems].sort((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0));
  const last = ordered[MOST];
  if (last === undefined) return ordered;
  const message = `${ordered.length - MOST} more problems from this line on`;
  return [...ordered.slice(0, MOST), { file: last.file, line: last.line, message }];
}

/** `objective.md:3: …`, as editors and terminals recognise it, then the indented example without its blank lines. */
export function problemText({ file, line, column, message, example }: Problem): string {
  const place = column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
  if (example === undefined) return `${place}: ${message}`;
  const lines = example.split('\n').filter((text) => text !== '');
  return [`${place}: ${message}; for example:`, ...lines.map((text) => `    ${text}`)].join('\n');
}

/** Quotes text of a file in a message: one line, at most 60 characters. */
export function quote(text: string): string {
  const start = text
    .slice(0, 200)
    .replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return `“${start.length > 60 || text.length > 200 ? `${start.slice(0, 59).toWellFormed()}…` : start.toWellFormed()}”`;
}
