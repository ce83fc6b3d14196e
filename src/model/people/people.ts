import type { z } from 'zod';
import { PEOPLE_KINDS } from './kinds.ts';
import { askSchema, messageSchema, outcomeSchema, readingSchema } from './message.ts';

const SCHEMAS = {
  message: messageSchema,
  ask: askSchema,
  reading: readingSchema,
  outcome: outcomeSchema,
} as const satisfies Partial<Record<keyof typeof PEOPLE_KINDS, z.ZodType>>;

type Kind = keyof typeof SCHEMAS;

/** The messages that something has to be done about, by id, each kind in the order in which its records were first written. */
export type People = { readonly [K in Kind]: ReadonlyMap<string, z.infer<(typeof SCHEMAS)[K]>> };

/** Throws for a record that another version of squad wrote in another form. */
export function readPeople(
  records: (kind: string) => readonly { readonly id: string; readonly value: unknown }[],
): People {
  const outcomes = records(PEOPLE_KINDS.outcome).map(({ id, value }) => [id, outcomeSchema.parse(value)] as const);
  const over = new Set(outcomes.flatMap(([id, { state }]) => (state === 'waits' ? [] : [id])));
  const read = (kind: Kind) =>
    new Map(
      records(PEOPLE_KINDS[kind])
        .filter(({ id }) => !over.has(id))
        .map(({ id, value }) => [id, SCHEMAS[kind].parse(value)]),
    );
  return Object.fromEntries(Object.keys(SCHEMAS).map((kind) => [kind, read(kind as Kind)])) as unknown as People;
}
