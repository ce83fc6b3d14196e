import { z } from 'zod';
import { inputsOf, isNeeded } from '../../model/mail/compose.ts';
import type { Made } from '../../model/mail/makers.ts';
import { wordsSchema } from '../../model/mail/wire-text.ts';

const MOST_MINUTES = 14 * 24 * 60;
const id = z.string();
const to = z.array(z.string());
const minutes = z.number().positive().max(MOST_MINUTES).exactOptional();

/** The arguments of a tool. None says who is calling. */
export function inputOf({ kind, maker, words }: Made): z.ZodObject {
  const { answers, answerTime, toRole, task } = kind;
  const own = Object.entries(inputsOf(kind))
    .filter(([name]) => name !== words)
    .map(([name, schema]) => {
      const needed = isNeeded(kind, name, schema) && maker.defaults?.[name] === undefined;
      return [name, needed ? schema : optional(schema)] as const;
    });
  return z.strictObject({
    ...(answers === null
      ? { to: toRole ? to.length(1).describe('A role or an address.') : to.min(1).describe('Addresses or roles.') }
      : { corr: id.exactOptional().describe('The id of the message to answer. Default: the one open ask.') }),
    ...(words === undefined ? {} : { text: wordsSchema.describe('Your answer.') }),
    ...Object.fromEntries(own),
    task_id:
      task === 'required' ? id.describe('Its id, new or known.') : id.exactOptional().describe('The task it is about.'),
    ...(answerTime?.field === undefined
      ? {}
      : { minutes: minutes.describe(`At most. Default: ${answerTime.ms / 60_000}.`) }),
  });
}

/** A field with a default is optional as it is; the schema of the body fills it in. */
function optional(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault) return optional(schema.unwrap() as z.ZodType).describe(schema.description ?? '');
  return schema instanceof z.ZodExactOptional ? schema : schema.exactOptional().describe(schema.description ?? '');
}
