import type { z } from 'zod';
import { pathText, TYPE_NAMES, valueAt } from '../../text/explain-issue.ts';
import { isJsonObject } from '../../text/json.ts';
import { draftSchema, ROUTER_FIELDS, type MailDraft } from './envelope.ts';
import { refuse } from './refusal.ts';

type Issue = z.core.$ZodIssue;

const FIELDS = Object.keys(draftSchema.shape);

/** A draft in which every field has its form. Fields of the router are refused by name. */
export function readShape(draft: unknown): MailDraft {
  if (!isJsonObject(draft)) refuse('invalid_format', '', 'must be one JSON object');
  const said = Object.entries(draft).filter(([, value]) => value !== undefined);
  const made: readonly string[] = ROUTER_FIELDS;
  const own = Object.fromEntries(said.filter(([name]) => !made.includes(name)));
  const unknown = Object.keys(own).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    refuse('invalid_format', shownName(unknown), `is not a field of a message, which has: ${FIELDS.join(', ')}`);
  }
  const read = draftSchema.safeParse(own);
  if (!read.success) refuseIssue(read.error, own);
  const forged = made.find((name) => Object.hasOwn(draft, name) && draft[name] !== undefined);
  if (forged !== undefined) refuse('invalid_format', forged, 'must be absent: only the router sets it');
  return read.data;
}

/** Refuses for the first fault, in the order of the fields. `below`: the field that has `value`. */
export function refuseIssue(error: z.ZodError, value: unknown, below?: string): never {
  const [issue] = error.issues;
  if (issue === undefined) return refuse('invalid_format', below ?? '', 'has the wrong form');
  const field = pathText([...(below === undefined ? [] : [below]), ...issue.path]);
  return refuse('invalid_format', field, ruleOf(issue, value));
}

function ruleOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return valueAt(value, issue.path) === undefined
        ? 'is required'
        : `must be ${issue.expected === 'object' ? 'an object' : (TYPE_NAMES[issue.expected] ?? issue.expected)}`;
    case 'invalid_value':
      return valueAt(value, issue.path) === undefined ? 'is required' : `must be ${oneOf(issue.values)}`;
    case 'too_small':
      return issue.origin === 'array' ? `must have at least ${entries(issue.minimum)}` : `must be ${aboveText(issue)}`;
    case 'too_big':
      return issue.origin === 'array'
        ? `must have at most ${entries(issue.maximum)}`
        : `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

function entries(count: number | bigint): string {
  return `${count} ${Number(count) === 1 ? 'entry' : 'entries'}`;
}

function aboveText({ minimum, inclusive }: { minimum: number | bigint; inclusive?: boolean | undefined }): string {
  return inclusive === false ? `above ${minimum}` : `at least ${minimum}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

/** A name is text of the sender: it is repeated only if it looks like a field. */
export function shownName(name: string): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,31}$/.test(name) ? name : '';
}
