import { z } from 'zod';
import { pathText, TYPE_NAMES, valueAt, type Path } from './explain-issue.ts';
import { counted } from './counted.ts';
import { asObject, isJsonObject, objectsIn } from './json.ts';
import { plainLine } from './plain-text.ts';

type Issue = z.core.$ZodIssue;
type Node = Readonly<Record<string, unknown>>;

/** Faults of an agent's answer, each with the field's path, the expected value and the field's description. Empty: it fits. */
export function answerProblems(schema: z.ZodType, answer: unknown, form?: Node): string[] {
  const issues = schema.safeParse(answer).error?.issues ?? [];
  if (issues.length === 0) return [];
  const whole = form ?? asObject(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return issues.flatMap(deepest).map((issue) => problemText(issue, answer, whole));
}

/** Issues of the form of a union that the answer most likely means. */
function deepest(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const fits = formIssues(issue.errors).filter((issues) =>
    issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  // The name of a form, such as its kind, says which one is meant.
  const named = fits.filter((issues) => issues.every(({ code, path }) => code !== 'invalid_value' || path.length > 1));
  const [meant, other] = (named.length > 0 ? named : fits).toSorted((a, b) => a.length - b.length);
  if (meant === undefined || meant.length === other?.length) return [issue];
  return meant.flatMap((one) => deepest({ ...one, path: [...issue.path, ...one.path] }));
}

/** The issues of each form, also where a form is a union again. */
function formIssues(errors: readonly (readonly Issue[])[]): readonly (readonly Issue[])[] {
  return errors.flatMap((issues) => {
    const [one] = issues;
    const isUnion = issues.length === 1 && one?.code === 'invalid_union' && one.path.length === 0;
    return isUnion ? formIssues(one.errors) : [issues];
  });
}

function problemText(issue: Issue, answer: unknown, whole: Node): string {
  const { path } = issue;
  const node = nodeAt(whole, path);
  const name = path.length === 0 ? 'the answer' : `\`${plainLine(pathText(path), 120)}\``;
  const about = typeof node?.['description'] === 'string' ? `: ${node['description']}` : '';
  const expected = node === undefined ? 'a value of the schema' : expectedText(node);
  return `${name} ${foundText(issue, valueAt(answer, path))}; it must be ${expected}${about}`;
}

function foundText(issue: Issue, found: unknown): string {
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, 5).map((key) => `\`${plainLine(key, 60)}\``);
    return `has ${keys.join(', ')}, which the schema does not know`;
  }
  if (found === undefined) return 'is missing';
  if (issue.code === 'too_big') return `is too ${sizeWord(found, 'long', 'large')}`;
  if (issue.code === 'too_small') {
    const isEmpty = found === '' || (Array.isArray(found) && found.length === 0);
    return isEmpty ? 'is empty' : `is too ${sizeWord(found, 'short', 'small')}`;
  }
  return `is ${kindOf(found)}`;
}

function sizeWord(found: unknown, ofText: string, ofNumber: string): string {
  return typeof found === 'number' ? ofNumber : ofText;
}

function kindOf(found: unknown): string {
  if (found === null) return 'null';
  if (Array.isArray(found)) return 'a list';
  if (typeof found === 'object') return 'an object';
  return typeof found === 'string' ? `the text ${JSON.stringify(plainLine(found, 60))}` : JSON.stringify(found);
}

/** The value that a JSON Schema asks for. */
function expectedText(node: Node): string {
  const forms = objectsIn(node['anyOf'] ?? node['oneOf']);
  if (forms.length > 0) return [...new Set(forms.map(expectedText))].join(' or ');
  if (Object.hasOwn(node, 'const')) return JSON.stringify(node['const']);
  if (Array.isArray(node['enum'])) return node['enum'].map((value) => JSON.stringify(value)).join(' or ');
  const { type } = node;
  if (Array.isArray(type)) return type.map((one: unknown) => expectedText({ ...node, type: one })).join(' or ');
  if (type === 'object') return objectText(node);
  const limits = limitsText(node);
  if (type === 'array') {
    const { items } = node;
    const each = isJsonObject(items) ? `, each ${items['type'] === 'object' ? 'an object' : expectedText(items)}` : '';
    return `a list${limits}${each}`;
  }
  if (type === 'null') return 'null';
  const word = type === 'integer' ? TYPE_NAMES['int'] : TYPE_NAMES[String(type)];
  return `${word ?? 'a JSON value'}${limits}`;
}

function objectText({ properties }: Node): string {
  const fields = Object.entries(asObject(properties)).map(([key, part]) => {
    const { const: only } = asObject(part);
    return only === undefined ? `\`${key}\`` : `\`${key}\`: ${JSON.stringify(only)}`;
  });
  return fields.length === 0 ? 'an object' : `an object with ${fields.join(', ')}`;
}

const LIMITS = [
  ['minLength', 'at least', 'character'],
  ['maxLength', 'at most', 'character'],
  ['minItems', 'at least', 'item'],
  ['maxItems', 'at most', 'item'],
  ['minimum', 'at least', ''],
  ['maximum', 'at most', ''],
  ['exclusiveMinimum', 'above', ''],
  ['exclusiveMaximum', 'below', ''],
] as const;

function limitsText(node: Node): string {
  const said = LIMITS.flatMap(([key, word, unit]) => {
    const limit = node[key];
    return typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER
      ? [`${word} ${unit === '' ? limit : counted(limit, unit)}`]
      : [];
  });
  const all = typeof node['pattern'] === 'string' ? [...said, `matching ${node['pattern']}`] : said;
  return all.length === 0 ? '' : ` (${all.join(', ')})`;
}

/** The schema of this place; undefined: the schema does not know it. */
function nodeAt(whole: Node, path: Path): Node | undefined {
  let places: readonly Node[] = [whole];
  for (const step of path) places = places.flatMap(formsOf).flatMap((place) => partOf(place, step));
  return places[0];
}

function formsOf(node: Node): readonly Node[] {
  const forms = objectsIn(node['anyOf'] ?? node['oneOf'] ?? node['allOf']);
  return forms.length === 0 ? [node] : forms.flatMap(formsOf);
}

function partOf({ properties, items, additionalProperties }: Node, step: PropertyKey): readonly Node[] {
  if (typeof step === 'number') return isJsonObject(items) ? [items] : [];
  const known = asObject(properties);
  const part = Object.hasOwn(known, String(step)) ? known[String(step)] : additionalProperties;
  return isJsonObject(part) ? [part] : [];
}
