import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { confine } from '../../substrate/files/confine.ts';
import { parseJson } from '../../text/json.ts';
import type { CliCommand } from './cli-adapter.ts';

/** Facts that `attach` needs and cannot look up again. Written next to the output before the spawn. */
const launchSchema = z.object({ home: z.string(), secrets: z.array(z.string()) });
type Launch = z.infer<typeof launchSchema>;
const LAUNCH_FILE = 'launch.json';

export async function writeLaunchFiles(command: CliCommand, directory: string): Promise<void> {
  for (const folder of command.folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const file of command.files) await writeFile(confine(directory, file.name), file.text, { mode: 0o600 });
  const secrets = command.files.filter((file) => file.secret === true).map((file) => file.name);
  const launch: Launch = { home: command.home, secrets };
  // Flushed before the identity is committed. Otherwise a power cut could leave a session whose home is unknown.
  await writeFile(join(directory, LAUNCH_FILE), JSON.stringify(launch), { mode: 0o600, flush: true });
}

/** undefined: the file is lost or damaged. The turn can still be followed, but its session has no home. */
export async function readLaunch(directory: string): Promise<Launch | undefined> {
  const text = await readFile(join(directory, LAUNCH_FILE), 'utf8').catch(() => '');
  return launchSchema.safeParse(parseJson(text)).data;
}

/** Removes the files with secrets, which nothing needs after the turn. */
export async function removeSecrets(directory: string): Promise<void> {
  for (const name of (await readLaunch(directory))?.secrets ?? []) {
    await rm(confine(directory, name), { force: true });
  }
}
