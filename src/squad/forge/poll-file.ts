import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { serviceFolder } from '../service/service-lock.ts';

const listedSchema = z.object({ number: z.int(), labels: z.array(z.string()), changed: z.string() });

/** The forge's last answer, and until when it is not asked. Times are epoch ms. Without this file all of it is asked again. */
const pollSchema = z.object({
  place: z.string(),
  label: z.string(),
  etag: z.string().optional(),
  listed: z.array(listedSchema),
  at: z.int(),
  wait: z.object({ until: z.int(), why: z.string(), times: z.int() }).optional(),
});
export type Poll = z.infer<typeof pollSchema>;

function pathOf(directory: string): string {
  return join(serviceFolder(directory), 'issues.json');
}

export async function readPoll(directory: string): Promise<Poll | undefined> {
  const text = await readFile(pathOf(directory), 'utf8').catch(() => '');
  return pollSchema.safeParse(parseJson(text)).data;
}

export async function writePoll(directory: string, poll: Poll): Promise<void> {
  const path = pathOf(directory);
  await mkdir(serviceFolder(directory), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, JSON.stringify(poll), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
