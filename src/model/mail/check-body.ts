import { z } from 'zod';
import { isJsonObject, type Json } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import type { BodyContext, BodyFields } from './body-rules.ts';
import { issueSchema } from './bodies.ts';
import type { MailKind } from './kind.ts';
import { isTooLong, TOO_LONG } from './read-body.ts';
import { refuse } from './refusal.ts';
import { refuseIssue } from './shape.ts';

const fieldsSchema: z.ZodType<Record<string, Json>> = z.record(z.string(), jsonSchema);

/** Characters that may end a line or control a terminal. They are escaped in JSON. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029]/g;
const PATH = /^(.*?)(?:#L(\d{1,9})(?:-L?\d+)?)?$/;

export interface CheckedBody {
  readonly fields: BodyFields;
  /** One line, in the one order. */
  readonly text: string;
}

/** Checks a body by the rules of its kind, and fills in what its sender left out. */
export function checkBody(kind: MailKind, given: BodyFields, context: BodyContext): CheckedBody {
  const read = kind.body.safeParse(given);
  if (!read.success) refuseIssue(read.error, given, 'body');
  const said = fieldsSchema.parse(read.data);
  const fields = inOrder(kind.rule?.(said, context) ?? said, Object.keys(kind.body.shape));
  const text = bodyText(fields);
  if (isTooLong(text)) refuse('invalid_format', 'body', TOO_LONG);
  return { fields, text };
}

/**
 * A body in its one order: fields of the protocol in its order, then all others by name; places of an issue by path, then by
 * line. Two bodies with the same content are then the same text.
 */
function inOrder(body: BodyFields, named: readonly string[]): Record<string, Json> {
  const known = named.filter((name) => Object.hasOwn(body, name));
  const others = Object.keys(body).filter((name) => !named.includes(name));
  const entries = [...known, ...others.sort()].map((name): [string, Json] => [
    name,
    valueInOrder(name, body[name] ?? null),
  ]);
  return Object.fromEntries(entries);
}

/** One line of JSON. */
function bodyText(body: BodyFields): string {
  return JSON.stringify(body).replaceAll(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function valueInOrder(name: string, value: Json): Json {
  if (name === 'issues' && Array.isArray(value)) return value.map(issueInOrder);
  return sorted(value);
}

function issueInOrder(issue: Json): Json {
  if (!isFields(issue)) return sorted(issue);
  const places = ['doc_paths', 'code_paths'].flatMap((name): [string, Json][] => {
    const paths = issue[name];
    return Array.isArray(paths) ? [[name, paths.toSorted(byPlace)]] : [];
  });
  return inOrder({ ...issue, ...Object.fromEntries(places) }, Object.keys(issueSchema.shape));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  return isFields(value) ? inOrder(value, ['start_line', 'end_line']) : value;
}

function byPlace(a: Json, b: Json): number {
  const [pathA, lineA] = placeOf(a);
  const [pathB, lineB] = placeOf(b);
  if (pathA !== pathB) return pathA < pathB ? -1 : 1;
  return lineA - lineB;
}

function placeOf(value: Json): readonly [path: string, line: number] {
  const text = typeof value === 'string' ? value : '';
  const [, path = text, line = '0'] = PATH.exec(text) ?? [];
  return [path, Number(line)];
}

function isFields(value: Json): value is Record<string, Json> {
  return isJsonObject(value);
}
