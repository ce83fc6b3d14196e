import { z } from 'zod';
import { inputsOf, isNeeded, titleOf } from '../../model/mail/compose.ts';
import type { MailKind } from '../../model/mail/kind.ts';
import { jointFields, type Made } from '../../model/mail/makers.ts';
import { wordsSchema } from '../../model/mail/wire-text.ts';

const MOST_MINUTES = 14 * 24 * 60;
const corr = z
  .string()
  .exactOptional()
  .describe('The id of the message to answer. Default: the one open ask about that task.');
const task = z.string();
const to = z.array(z.string()).min(1).describe('Addresses of members; `status` lists them.');
const minutes = z.number().positive().max(MOST_MINUTES).exactOptional();

/** The arguments of a tool. None says who is calling. */
export function inputOf(makes: readonly Made[]): z.ZodObject {
  const kinds = makes.map(({ kind }) => kind);
  const answers = kinds.every((kind) => kind.answers !== null);
  const inWords = makes.some(({ words }) => words !== undefined);
  const actions = answers ? [] : kinds.flatMap(({ tool }) => tool?.action ?? []);
  const timed = kinds.filter(({ answerTime }) => answerTime?.field !== undefined);
  const note = kinds.find(({ base64 }) => base64);
  const isTask = kinds.every((kind) => kind.task === 'required');
  const role = z.array(z.string()).length(1).describe('A role, or the address of a member.');
  return z.strictObject({
    ...(actions.length > 0 ? { action: z.enum(actions).describe(actionText(kinds)) } : {}),
    ...(answers ? { corr } : { to: kinds.some(({ toRole }) => toRole) ? role : to }),
    task_id: isTask
      ? task.describe('The id of the task, new or known.')
      : task.exactOptional().describe('The id of the task that it is about.'),
    ...(inWords ? { text: wordsSchema.describe('Your answer.') } : {}),
    ...fieldsOf(makes),
    ...(timed.length > 0 ? { minutes: minutes.describe(minutesText(timed)) } : {}),
    ...(note === undefined
      ? {}
      : {
          corr: corr.describe('The id of an earlier message that this one follows, if any.'),
          body_encoding: z
            .enum(['json', 'base64'])
            .exactOptional()
            .describe('base64: `text` is base64. Default: json.'),
        }),
  });
}

/** The fields of all kinds that a tool makes. Where it makes several, no field is required and each says whose it is. */
function fieldsOf(makes: readonly Made[]): Record<string, z.ZodType> {
  const all = makes.flatMap(({ kind, words }) =>
    Object.entries(inputsOf(kind))
      .filter(([name]) => name !== words)
      .map(([name, schema]) => ({
        ...{ name, schema, says: schema.description ?? '', of: labelOf(kind) },
        isNeeded: makes.length === 1 && isNeeded(kind, name, schema),
      })),
  );
  return Object.fromEntries(
    jointFields(all, makes.length, ' ').map((field) => [
      field.name,
      field.isNeeded ? field.schema : optional(field.schema).describe(field.says),
    ]),
  );
}

/** A field with a default is optional as it is; the schema of the body fills it in. */
function optional(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault) return optional(schema.unwrap() as z.ZodType).describe(schema.description ?? '');
  return schema instanceof z.ZodExactOptional ? schema : schema.exactOptional().describe(schema.description ?? '');
}

/** How a tool names a kind: by its title, or by the asks that it answers. */
function labelOf(kind: MailKind): string {
  return kind.answers === null ? titleOf(kind) : `to ${kind.answers.join(' or ')}`;
}

function actionText(kinds: readonly MailKind[]): string {
  return kinds.map(({ tool }) => `${tool?.action}: ${tool?.when}`).join(' ');
}

function minutesText(timed: readonly MailKind[]): string {
  return timed
    .map((kind) => `How many minutes the ${titleOf(kind)} may take. Default: ${(kind.answerTime?.ms ?? 0) / 60_000}.`)
    .join(' ');
}
