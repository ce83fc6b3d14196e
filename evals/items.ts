import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

export const SETS = ['reviewers', 'planners', 'builders'] as const;
export type SetName = (typeof SETS)[number];

const text = z.string().min(1);
const files = z.record(z.string(), z.string());

const changeSchema = z.strictObject({
  id: text,
  task: text,
  file: text,
  /** Absent: the change makes the file. */
  before: text.optional(),
  after: text,
  /** Absent: there is none. */
  bug: z.strictObject({ at: z.array(text).min(1), why: text }).optional(),
  shows: text.optional(),
});
export type Change = z.infer<typeof changeSchema>;

const objectiveSchema = z.strictObject({
  id: text,
  title: text,
  goals: z.array(text).min(2),
  files,
  shared: z.array(text).min(1),
  why: text,
});
export type Overlap = z.infer<typeof objectiveSchema>;

const taskSchema = z.strictObject({ id: text, task: text, files, hidden: text, solution: text });
export type Task = z.infer<typeof taskSchema>;

const SCHEMAS = { reviewers: changeSchema, planners: objectiveSchema, builders: taskSchema };
export type Item<S extends SetName> = z.infer<(typeof SCHEMAS)[S]>;

/** The items of a set, which are the lines of its file. */
export function readSet<S extends SetName>(set: S): Item<S>[] {
  const all: unknown = parse(readFileSync(new URL(`${set}.yaml`, import.meta.url), 'utf8'));
  return z.array(SCHEMAS[set]).parse(all);
}

/** The first and last line of the bug, from 1. */
export function bugLines({ after, bug }: Change): readonly [number, number] | undefined {
  if (bug === undefined) return undefined;
  const lines = after.split('\n');
  const found = bug.at.map((part) => lines.findIndex((line) => line.includes(part)) + 1);
  return [Math.min(...found), Math.max(...found)];
}
