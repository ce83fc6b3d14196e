// Tables of docs/protocol.md, from the schemas.
import { z } from 'zod';
import { nackSchema } from '../../src/model/mail/bodies.ts';
import { draftSchema, messageSchema, ROUTER_FIELDS } from '../../src/model/mail/envelope.ts';
import { issueSchema } from '../../src/model/mail/bodies.ts';
import { titleOf } from '../../src/model/mail/compose.ts';
import { MAIL_KINDS } from '../../src/model/mail/kind.ts';
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
    // A property of the types in memory, not of the wire.
    override: ({ jsonSchema }) => delete jsonSchema.readOnly,
  });
  const { $schema, ...rest } = written;
  return { $schema, title, ...rest };
}

export function draftTable(): string {
  return fieldTable(draftSchema);
}

/** Only the fields that a draft does not have. */
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
      ...(kind.answerTime?.field === 'deadline' ? ['deadline'] : []),
      ...(kind.answers === null ? [] : ['corr']),
    ];
    const answers = kind.answers === null ? '–' : kind.answers.join(', ');
    return [titleOf(kind), `\`${kind.type}\``, action, required.map(code).join(', '), answers, `\`${kind.verb}\``];
  });
  return table(['message', 'type', 'action', 'required, with `type` and `body`', 'answers', 'permission'], rows);
}

export function bodySections(): string {
  return MAIL_KINDS.map((kind) => {
    const rows = fieldRows(kind.body);
    const text = rows.length === 0 ? 'Any object, or base64.' : table(['field', 'type', 'required', 'meaning'], rows);
    return `### ${titleOf(kind)}\n\n${text}`;
  }).join('\n\n');
}

export function timesTable(): string {
  const backoff = times.RETRY_BACKOFF_MS.map(duration).join(', ');
  return table(
    ['what', 'is'],
    [
      [
        'time to read a message, while a reader of its recipient is there; then a retry',
        duration(times.ACK_TIMEOUT_MS),
      ],
      ['waits before the retries', `${backoff}, each up to ${times.RETRY_JITTER * 100} % shorter or longer`],
      ['retries after the first delivery', String(times.MOST_RETRIES)],
      ['a review without a deadline', duration(times.REVIEW_MS)],
      [
        'a verify, from the start of the turn that has it in its prompt, or the moment that it was read',
        duration(times.VERIFY_MS),
      ],
      [
        'a question, from the moment that an agent read it, or that it was sent to a person; then an alert, repeated after the same time',
        duration(times.QUESTION_MS),
      ],
      [
        'heartbeat of a reader; time without one after which it is offline',
        `${duration(times.BEAT_MS)}; ${duration(times.ONLINE_MS)}`,
      ],
      ['a body in the message itself; a longer one is in a file', `${times.BODY_INLINE_BYTES} bytes`],
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
  return table(['field', 'type', 'required', 'meaning'], fieldRows(schema, isShown));
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

function code(text: string): string {
  return `\`${text}\``;
}

function duration(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}
