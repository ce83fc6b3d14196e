import { z } from 'zod';
import { asObject, isJsonObject, objectsIn, type Json } from './json.ts';
import { quote } from './problem.ts';
import { nearest } from './nearest.ts';

/** Its value is not shown: it may be the secret itself. */
export const NO_VALUE = 'needs the name of a variable, without its value';

export type Path = readonly PropertyKey[];

/** One problem in a value that was read from a file, and its place there. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  /** The key itself is wrong. Absent: its value. */
  readonly atKey?: boolean;
  /** A correct one. Absent: that of the file's format. */
  readonly example?: string;
}

export function explainIssue(
  issue: z.core.$ZodIssue,
  raw: Record<string, Json>,
  schema: z.ZodType,
  hints: Readonly<Record<string, string>>,
): Finding[] {
  const { path } = issue;
  const name = pathText(path);
  const found = valueAt(raw, path);
  const say = (message: string): Finding[] => [{ path, message }];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(schema, path);
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: unknownKey(key, name, known, hints),
        atKey: true,
      }));
    }
    case 'invalid_type':
      if (found === undefined) return say(`${name} is missing`);
      return say(`${name} must be ${TYPE_NAMES[issue.expected] ?? issue.expected}, not ${describe(found)}`);
    case 'invalid_value': {
      if (found === undefined) return say(`${name} is missing`);
      const values = issue.values.map(String);
      const close = typeof found === 'string' ? nearest(found, values) : undefined;
      const hint = close === undefined ? '' : `; did you mean “${close}”?`;
      return say(`${name} must be ${listed(values)}, not ${describe(found)}${hint}`);
    }
    case 'too_small': {
      if (issue.origin === 'array') return say(`${name} is empty; leave the key out instead`);
      if (issue.origin === 'string') return say(`${name} is empty`);
      return say(`${name} must be ${issue.inclusive === true ? 'at least' : 'more than'} ${issue.minimum}`);
    }
    case 'too_big': {
      const unit = issue.origin === 'array' ? ' entries' : issue.origin === 'string' ? ' characters' : '';
      return say(`${name} may have at most ${issue.maximum}${unit}`);
    }
    case 'invalid_union': {
      // The form that was meant is the one that fits but for its parts.
      const meant = issue.errors.find((issues) => issues.every((one) => one.path.length > 0 || !isMisfit(one)));
      if (found === undefined || meant === undefined) return say(otherwise(name, found, issue.message));
      return meant.flatMap((one) => explainIssue({ ...one, path: [...path, ...one.path] }, raw, schema, hints));
    }
    default:
      if (issue.message === NO_VALUE) return say(`${name} ${NO_VALUE}`);
      return say(otherwise(name, found, issue.message));
  }
}

function isMisfit({ code }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' || code === 'invalid_value';
}

function otherwise(name: string, found: Json | undefined, message: string): string {
  return found === undefined ? `${name} is missing` : `${name}: ${describe(found)} ${message}`;
}

function unknownKey(
  key: string,
  where: string,
  known: readonly string[],
  hints: Readonly<Record<string, string>>,
): string {
  const place = where === '' ? '' : ` in ${where}`;
  const hint = Object.hasOwn(hints, key) ? hints[key] : undefined;
  if (hint !== undefined) return `unknown key ${quote(key)}${place}: ${hint}`;
  const close = nearest(key, known);
  const answer = close === undefined ? `known keys: ${known.join(', ')}` : `did you mean “${close}”?`;
  return `unknown key ${quote(key)}${place}; ${answer}`;
}

/** `agents[0].name`, as people write it. */
export function pathText(path: Path): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('');
}

export function valueAt(value: Json, path: Path): Json | undefined;
export function valueAt(value: unknown, path: Path): unknown;
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, step) => {
    if (Array.isArray(part)) return typeof step === 'number' ? part[step] : undefined;
    return isJsonObject(part) && typeof step === 'string' && Object.hasOwn(part, step) ? part[step] : undefined;
  }, value);
}

function describe(value: Json): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? quote(value) : String(value);
}

export const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function listed(values: readonly string[]): string {
  return values.length < 2 ? (values[0] ?? 'nothing') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

/** The keys that the schema knows at this place, read from its JSON Schema. */
function knownKeys(schema: z.ZodType, path: Path): string[] {
  let place: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  for (const step of path) {
    const { properties, items, additionalProperties } = formOf(place);
    const key = String(step);
    const property = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    place = typeof step === 'number' ? items : (property ?? additionalProperties);
  }
  const { properties, propertyNames } = formOf(place);
  if (isJsonObject(properties)) return Object.keys(properties);
  const names: unknown = isJsonObject(propertyNames) ? propertyNames['enum'] : undefined;
  return Array.isArray(names) ? names.map(String) : [];
}

/** A schema, or of several forms the one with keys. */
function formOf(place: unknown): Readonly<Record<string, unknown>> {
  const { anyOf, ...schema } = asObject(place);
  return objectsIn(anyOf).find(({ properties }) => properties !== undefined) ?? schema;
}
