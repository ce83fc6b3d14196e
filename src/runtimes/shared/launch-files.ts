import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { confine } from '../../substrate/files/confine.ts';
import type { CliCommand } from './cli-adapter.ts';

/** What `attach` must know and cannot ask again: written beside the output before the spawn. */
const launchSchema = z.object({ home: z.string(), secrets: z.array(z.string()) });
type Launch = z.infer<typeof launchSchema>;
const LAUNCH_FILE = 'launch.json';

export async function writeLaunchFiles(command: CliCommand, directory: string): Promise<void> {
  for (const folder of command.folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const file of command.files) await writeFile(confine(directory, file.name), file.text, { mode: 0o600 });
  const secrets = command.files.filter((file) => file.secret === true).map((file) => file.name);
  const launch: Launch = { home: command.home, secrets };
  // On disk before the identity is: after a power cut the one without the other would be a session of unknown home.
  await writeFile(join(directory, LAUNCH_FILE), JSON.stringify(launch), { mode: 0o600, flush: true });
}

/** undefined: the file was lost or damaged. The turn can still be followed and harvested; its session has no home then. */
export async function readLaunch(directory: string): Promise<Launch | undefined> {
  try {
    return launchSchema.parse(JSON.parse(await readFile(join(directory, LAUNCH_FILE), 'utf8')));
  } catch {
    // Paid work must not be lost for it.
    return undefined;
  }
}

/** When the turn is over, nothing needs its secrets any more. */
export async function removeSecrets(directory: string): Promise<void> {
  for (const name of (await readLaunch(directory))?.secrets ?? []) {
    await rm(confine(directory, name), { force: true });
  }
}
