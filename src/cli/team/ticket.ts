import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText, SquadError } from '../../model/errors.ts';

const MOST_BYTES = 64 * 1024;

const environmentSchema = z.record(z.string(), z.string());

/** Input of a member's pane: its name, its token, and the environment whose secrets it must not show. */
export const ticketSchema = z.object({
  token: z.string(),
  /** Name of the run. */
  run: z.string(),
  address: z.string(),
  windowName: z.string(),
  locale: z.enum(['en', 'zh']),
  environment: environmentSchema,
});
export type Ticket = z.infer<typeof ticketSchema>;

/** Input of the engine's pane: the environment of its runtimes. */
export const engineTicketSchema = z.object({ environment: environmentSchema });

/** Writes a ticket that only its owner can read. Others can see command lines and environments. Returns its path. */
export async function writeTicket(
  directory: string,
  ticket: Ticket | z.infer<typeof engineTicketSchema>,
): Promise<string> {
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

/** Reads a ticket and removes it. Throws `usage` if it is gone. */
export async function takeTicket<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await rm(path);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
      return schema.parse(JSON.parse(buffer.toString('utf8', 0, bytesRead)));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new SquadError({
      code: 'usage',
      message: `cannot read the ticket of this pane: ${errorText(error).slice(0, 200)}`,
      next: 'Open panes with `squad team`; a ticket works once.',
      cause: error,
    });
  }
}
