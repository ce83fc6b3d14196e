import { z } from 'zod';
import { badInput } from '../../model/errors.ts';
import { isJsonObject, type Json } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { parseYaml, writeYaml } from '../../text/yaml-file.ts';

const PROBLEM = '#! ';

const ABOUT = `# The plan. Save and close the editor, and squad shows it again before anything starts.
# An empty file changes nothing. squad checks a plan of yours as it checks the planner's own.
# In each task: role, who builds it; needs, the ids of the tasks that it builds on; acceptance, what its review checks.
`;

type ReadPlanFile =
  | { readonly ok: true; readonly plan: Json }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The plan as a file to edit. Invisible characters are shown as codes. */
export function planFile(answer: Json): string {
  return `${ABOUT}\n${writeYaml(visible(answer))}`;
}

/** The file that a person wrote, with the problems above it. */
export function withProblems(text: string, problems: readonly string[]): string {
  const rest = text.split('\n').filter((line) => !line.startsWith(PROBLEM));
  const shown = problems.map((problem) => `${PROBLEM}${plainLine(problem, 400)}`);
  return [`${PROBLEM}This plan cannot be used:`, ...shown, ...rest].join('\n');
}

/** YAML or JSON. undefined: the file is empty. */
export function readPlanFile(text: string): ReadPlanFile | undefined {
  if (text.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line))) return undefined;
  const source = { file: 'plan.yaml', text, firstLine: 1, examples: {} };
  const read = parseYaml(source, z.record(z.string(), jsonSchema));
  if (read.ok) return { ok: true, plan: read.value };
  return { ok: false, problems: read.problems.map(({ line, message }) => `line ${line}: ${message}`) };
}

/** As `readPlanFile`. Throws `bad-input` with every problem of what `name` has. */
export function requirePlan(text: string, name: string): Json {
  const read = readPlanFile(text);
  if (read?.ok === true) return read.plan;
  const problems = (read?.problems ?? ['it is empty']).map((problem) => `- ${plainLine(problem, 400)}`);
  throw badInput(
    `${plainLine(name)} has no plan:\n${problems.join('\n')}`,
    'Correct it and answer again. Nothing is recorded yet.',
  );
}

function visible(value: Json): Json {
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [plainLine(key), visible(one)]));
}
