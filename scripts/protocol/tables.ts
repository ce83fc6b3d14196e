// Tables of docs/protocol.md, from the schemas.
import { z } from 'zod';
import { nackSchema } from '../../src/model/mail/bodies.ts';
import { draftSchema, messageSchema, ROUTER_FIELDS } from '../../src/model/mail/envelope.ts';
import { issueSchema } from '../../src/model/mail/bodies.ts';
import { MAIL_KINDS, type MailKind } from '../../src/model/mail/kind.ts';
import * as times from '../../src/model/mail/times.ts';

const propertySchema = z.looseObject({
  type: z.string().optional(),
  const: z.string().optional(),
  enum: z.array(z.string()).optional(),
  items: z.looseObject({ type: z.string().optional() }).optional(),
  description: z.string().default(''),
  default: z.json().optional(),
});
const objectSchema = z.looseObject({
  properties: z.record(z.string(), propertySchema),
  required: z.array(z.string()).default([]),
});
type Row = readonly string[];

const NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  object: 'object',
};

export function jsonSchemaOf(schema: z.ZodType, title: string): Record<string, unknown> {
  const written = z.toJSONSchema(schema, {
    io: 'input',
    // Frozen in memory; on the wire there is no such thing.
    override: ({ jsonSchema }) => delete jsonSchema.readOnly,
  });
  const { $schema, ...rest } = written;
  return { $schema, title, ...rest };
}

export function draftTable(): string {
  return fieldTable(draftSchema);
}

/** Only what a draft has not. */
export function madeTable(): string {
  return fieldTable(messageSchema, (name) => ['v', 'session', 'epoch', ...ROUTER_FIELDS].includes(name));
}

export function issueTable(): string {
  return fieldTable(issueSchema);
}

export function nackTable(): string {
  return fieldTable(nackSchema);
}

export function kindTable(): string {
  const rows = MAIL_KINDS.map((kind): Row => {
    const action = kind.action === null ? '–' : `\`${kind.action}\``;
    const required = [
      'to',
      ...(kind.task === 'required' ? ['task_id'] : []),
      ...(kind.action === 'assign' ? ['deadline'] : []),
      ...(kind.answers === null ? [] : ['corr']),
    ];
    const answers = kind.answers === null ? '–' : kind.answers.join(', ');
    return [titleOf(kind), `\`${kind.type}\``, action, required.map(code).join(', '), answers, `\`${kind.verb}\``];
  });
  return table(['message', 'type', 'action', 'required besides `type` and `body`', 'answers', 'permission'], rows);
}

export function bodySections(): string {
  return MAIL_KINDS.map((kind) => {
    const rows = fieldRows(kind.body);
    const text = rows.length === 0 ? 'Any object, or base64.' : table(['field', 'is', 'required', 'says'], rows);
    return `### ${titleOf(kind)}\n\n${text}`;
  }).join('\n\n');
}

export function timesTable(): string {
  const backoff = times.RETRY_BACKOFF_MS.map(duration).join(', ');
  return table(
    ['what', 'is'],
    [
      ['unread by somebody who can receive, then it is tried again', duration(times.ACK_TIMEOUT_MS)],
      ['waits before the tries', `${backoff}, each up to ${times.RETRY_JITTER * 100} % shorter or longer`],
      ['tries besides the first delivery', String(times.MOST_RETRIES)],
      ['a review that does not say by when', duration(times.REVIEW_MS)],
      ['a verify, once it was read', duration(times.VERIFY_MS)],
      [
        'a question, once an agent has read it, or once it was sent to a person; then an alert, and again after as long',
        duration(times.QUESTION_MS),
      ],
      [
        'beat of whoever reads; without one for so long it is offline',
        `${duration(times.BEAT_MS)}; ${duration(times.ONLINE_MS)}`,
      ],
      ['a body in the message itself; a longer one in a file', `${times.BODY_INLINE_BYTES} bytes`],
      [
        'a body',
        `${times.MOST_BODY_BYTES} bytes, ${times.MOST_BODY_DEPTH} levels, ${times.MOST_BODY_PARTS} names and values`,
      ],
      ['recipients of one message', String(times.MOST_RECIPIENTS)],
    ],
  );
}

export function table(head: Row, rows: readonly Row[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

function fieldTable(schema: z.ZodType, isShown: (name: string) => boolean = () => true): string {
  return table(['field', 'is', 'required', 'says'], fieldRows(schema, isShown));
}

function fieldRows(schema: z.ZodType, isShown: (name: string) => boolean = () => true): Row[] {
  const { properties, required } = objectSchema.parse(jsonSchemaOf(schema, ''));
  return Object.entries(properties)
    .filter(([name]) => isShown(name))
    .map(([name, property]) => [
      code(name),
      typeText(property),
      required.includes(name) ? 'yes' : '–',
      property.description,
    ]);
}

function typeText({ type, const: only, enum: values, items }: z.infer<typeof propertySchema>): string {
  if (only !== undefined) return code(only);
  if (values !== undefined) return values.map(code).join(', ');
  if (type === 'array') return `list of ${NAMES[items?.type ?? 'string'] ?? 'text'}s`;
  return NAMES[type ?? ''] ?? 'anything';
}

function titleOf({ name }: MailKind): string {
  if (name === 'handoff') return 'hand-off';
  return name === 'review_feedback' ? 'report' : name;
}

function code(text: string): string {
  return `\`${text}\``;
}

function duration(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}
