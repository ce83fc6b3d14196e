import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText, SquadError } from '../model/errors.ts';
import { LOCALES } from '../model/locale.ts';
import { optionOf, type ObjectiveSource } from './sources/source-of.ts';

/** More than the longest objective takes as JSON. */
const MOST_BYTES = 4 * 1024 * 1024;

const environmentSchema = z.record(z.string(), z.string());

/** Input of a member's pane: its name, its token, and the environment whose secrets it must not show. */
export const ticketSchema = z.object({
  token: z.string(),
  /** Name of the run. */
  run: z.string(),
  address: z.string(),
  windowName: z.string(),
  locale: z.enum(LOCALES),
  environment: environmentSchema,
});
export type Ticket = z.infer<typeof ticketSchema>;

/** Input of the engine's pane: the environment of its runtimes. */
export const engineTicketSchema = z.object({ environment: environmentSchema });

/** Input of a `squad run` in another process: an objective that is no file, or what its argument would be. */
export const objectiveTicketSchema = z.union([
  z.object({ text: z.string(), from: z.string().optional() }),
  z.object({ argument: z.string() }),
]);

type AnyTicket = Ticket | z.infer<typeof engineTicketSchema> | z.infer<typeof objectiveTicketSchema>;

/** Writes a ticket that only its owner can read. Others can see command lines and environments. Returns its path. */
export async function writeTicket(directory: string, ticket: AnyTicket): Promise<string> {
  const folder = join(directory, 'panes');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(ticket));
  } finally {
    await file.close();
  }
  return path;
}

/** Arguments by which a `squad run` in another process gets this objective, and the tickets that it takes. */
export async function passObjective(
  directory: string,
  objective: ObjectiveSource,
): Promise<{ readonly objective: readonly string[]; readonly tickets: readonly string[] }> {
  if (typeof objective === 'string') return { objective: ['--', objective], tickets: [] };
  if (!('text' in objective)) return { objective: [optionOf(objective)], tickets: [] };
  const ticket = await writeTicket(directory, objective);
  return { objective: ['--ticket', ticket, '--', objective.from ?? 'text'], tickets: [ticket] };
}

/** Reads a ticket and removes it. Throws `usage` if it is gone. */
export async function takeTicket<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await rm(path);
      const found = await file.stat();
      if (!found.isFile() || found.size > MOST_BYTES) throw new Error('it is not a ticket');
      return schema.parse(JSON.parse(await file.readFile('utf8')));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new SquadError({
      code: 'usage',
      message: `cannot read this ticket: ${errorText(error).slice(0, 200)}`,
      next: 'A ticket works once: open panes with `squad team`, or start a run with `squad run`.',
      cause: error,
    });
  }
}
