import type { z } from 'zod';
import { PEOPLE_KINDS } from './kinds.ts';
import { askSchema, messageSchema, outcomeSchema, readingSchema } from './message.ts';
import type { Message, Outcome, Reading } from './message.ts';

/** The messages that something has to be done about, by id, each kind in the order in which its records were first written. */
export interface People {
  readonly message: ReadonlyMap<string, Message>;
  readonly ask: ReadonlyMap<string, z.infer<typeof askSchema>>;
  readonly reading: ReadonlyMap<string, Reading>;
  readonly outcome: ReadonlyMap<string, Outcome>;
}

/** Throws for a record that another version of squad wrote in another form. */
export function readPeople(
  records: (kind: string) => readonly { readonly id: string; readonly value: unknown }[],
): People {
  const outcomes = records(PEOPLE_KINDS.outcome).map(({ id, value }) => [id, outcomeSchema.parse(value)] as const);
  const over = new Set(outcomes.flatMap(([id, { state }]) => (state === 'waits' ? [] : [id])));
  const read = <Value>(kind: string, schema: z.ZodType<Value>): ReadonlyMap<string, Value> =>
    new Map(
      records(kind)
        .filter(({ id }) => !over.has(id))
        .map(({ id, value }) => [id, schema.parse(value)]),
    );
  return {
    message: read(PEOPLE_KINDS.message, messageSchema),
    ask: read(PEOPLE_KINDS.ask, askSchema),
    reading: read(PEOPLE_KINDS.reading, readingSchema),
    outcome: read(PEOPLE_KINDS.outcome, outcomeSchema),
  };
}
