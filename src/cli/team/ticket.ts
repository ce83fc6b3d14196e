import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText, SquadError } from '../../model/errors.ts';

const MOST_BYTES = 64 * 1024;

/** What a pane is given: who it is, and what proves it. */
const ticketSchema = z.object({
  token: z.string(),
  /** Name of the run. */
  run: z.string(),
  address: z.string(),
  windowName: z.string(),
  locale: z.enum(['en', 'zh']),
});
export type Ticket = z.infer<typeof ticketSchema>;

/**
 * Writes a ticket for its owner alone to read, once: a command line and an environment can be seen by others before the
 * program in them has begun. Returns its path.
 */
export async function writeTicket(directory: string, ticket: Ticket): Promise<string> {
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

/** Reads a ticket and removes it. Throws `usage` where it was taken before. */
export async function takeTicket(path: string): Promise<Ticket> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await rm(path);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
      return ticketSchema.parse(JSON.parse(buffer.toString('utf8', 0, bytesRead)));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new SquadError({
      code: 'usage',
      message: `this pane has no ticket: ${errorText(error).slice(0, 200)}`,
      next: 'Open panes with `squad team`; each ticket is good for one.',
      cause: error,
    });
  }
}
