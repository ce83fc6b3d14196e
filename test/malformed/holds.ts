import { expect } from 'vitest';
import { objectiveSchema } from '../../src/model/objective.ts';
import { problemSchema, type Problem } from '../../src/text/problem.ts';
import { settingsSchemaFor } from '../../src/model/settings.ts';
import { parseObjective } from '../../src/squad/objective/parse-objective.ts';
import { parseSettings } from '../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../support/known-names.ts';

/** Whatever the text: an objective that fits its schema, or at least one problem in order, within the file. */
export function holdsObjective(text: string): void {
  const result = parseObjective(text, 'o.md');
  if (!result.ok) return holdsProblems(result.problems, 'o.md', text);
  objectiveSchema.parse(result.objective);
  expect(result.objective.text).toBe(text);
}

/** Whatever the text: settings that fit their schema, or at least one problem in order, within the file. */
export function holdsSettings(text: string): void {
  const result = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
  if (!result.ok) return holdsProblems(result.problems, 'squad.yaml', text);
  settingsSchemaFor(KNOWN_NAMES).parse(result.value);
}

function holdsProblems(problems: readonly Problem[], file: string, text: string): void {
  const lines = problems.map((problem) => problemSchema.parse(problem).line);
  expect(lines.length).toBeGreaterThan(0);
  expect(new Set(problems.map((problem) => problem.file))).toEqual(new Set([file]));
  expect(lines).toEqual([...lines].sort((a, b) => a - b));
  expect(lines.at(-1)).toBeLessThanOrEqual(text.split(/\r\n?|\n/).length);
}
