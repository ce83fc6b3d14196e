import { z } from 'zod';
import { jsonSchema, type Json } from '../../text/json.ts';
import type { BodyContext, BodyFields } from './body-rules.ts';
import { bodyText, inOrder } from './canonical-body.ts';
import type { MailKind } from './kind.ts';
import { isTooLong, TOO_LONG } from './read-body.ts';
import { refused, type Checked } from './refusal.ts';
import { issueRefusal } from './shape.ts';

const fieldsSchema: z.ZodType<Record<string, Json>> = z.record(z.string(), jsonSchema);

export interface CheckedBody {
  readonly fields: BodyFields;
  /** One line, in the one order. */
  readonly text: string;
}

/** Checks a body by the rules of its kind, and fills in what its sender left out. */
export function checkBody(kind: MailKind, given: BodyFields, context: BodyContext): Checked<CheckedBody> {
  const read = kind.body.safeParse(given);
  if (!read.success) return { ok: false, refusal: issueRefusal(read.error, given, 'body') };
  const said = fieldsSchema.parse(read.data);
  const ruled = kind.rule?.(said, context) ?? { ok: true, value: said };
  if (!ruled.ok) return ruled;
  const fields = inOrder(ruled.value, Object.keys(kind.body.shape));
  const text = bodyText(fields);
  return isTooLong(text) ? refused('invalid_format', 'body', TOO_LONG) : { ok: true, value: { fields, text } };
}
