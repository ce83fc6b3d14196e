import type { z } from 'zod';
import { SquadError } from '../model/errors.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';

/** The data of an event, as its schema has it. Throws `database-corrupt` if it does not fit. */
export function readEvent<T>(event: LedgerEvent, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(event.data);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SquadError({
    code: 'database-corrupt',
    message: `event ${event.seq} (${event.type}) cannot be read: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    next: 'Run `squad db check`. If it finds nothing, another version of squad wrote this run.',
    cause: parsed.error,
  });
}
