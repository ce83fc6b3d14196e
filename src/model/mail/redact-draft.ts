import { isJsonObject } from '../../text/json.ts';
import type { Redactor } from '../redaction/redactor.ts';
import { checkBase64, readBody } from './read-body.ts';
import { catchRefusal } from './refusal.ts';

/** A draft without secrets. Runs before the checks, so that everything squad stores of a draft is redacted. */
export function redactDraft(draft: unknown, redactor: Redactor): unknown {
  if (!isJsonObject(draft)) return draft;
  const { body, ...said } = draft;
  const clean = redactor.json(said);
  if (typeof body !== 'string') return { ...clean, ...(body === undefined ? {} : { body: redactor.json(body) }) };
  return { ...clean, body: said['body_encoding'] === 'base64' ? base64Of(body, redactor) : jsonOf(body, redactor) };
}

/** Redacts JSON value by value, so that escaped secrets are found and the result is still JSON. */
function jsonOf(body: string, redactor: Redactor): string {
  const read = catchRefusal(() => readBody(body));
  if (!read.ok) return body;
  const clean = JSON.stringify(redactor.json(read.value));
  return clean === JSON.stringify(read.value) ? body : clean;
}

function base64Of(body: string, redactor: Redactor): string {
  if (!catchRefusal(() => checkBase64(body)).ok) return body;
  const text = Buffer.from(body, 'base64').toString('utf8');
  const clean = redactor.text(text);
  return clean === text ? body : Buffer.from(clean).toString('base64');
}
