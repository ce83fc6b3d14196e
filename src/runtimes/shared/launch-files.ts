import { lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { confine } from '../../substrate/system/files/confine.ts';
import { parseJson } from '../../text/json.ts';
import type { CliCommand, LaunchFile } from './cli-adapter.ts';

/** Facts that `attach` needs and cannot look up again. Written next to the output before the spawn. */
const launchSchema = z.object({
  home: z.string(),
  secrets: z.array(z.string()),
  homeSecrets: z.array(z.string()).default([]),
  /** Files of the conversation, with their numbers on the disk: a later turn may have put others in their places. */
  placed: z.array(z.object({ path: z.string(), inode: z.string() })).default([]),
});
type Launch = z.infer<typeof launchSchema>;
const LAUNCH_FILE = 'launch.json';

export async function writeLaunchFiles(command: CliCommand, directory: string): Promise<void> {
  for (const folder of command.folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  const [inHome, own] = [true, false].map((wanted) =>
    command.files.filter((file) => (file.inHome === true) === wanted),
  );
  for (const { name, text, at, secret } of own ?? []) {
    const isKept = at === undefined || secret !== true;
    if (isKept) await writeFile(confine(directory, name), text, { mode: 0o600 });
  }
  const placed: Launch['placed'] = [];
  for (const { text, at } of command.files) if (at !== undefined) placed.push(await place(at, text, directory));
  for (const { name, to } of command.links ?? []) await symlink(to, confine(directory, name));
  for (const file of inHome ?? []) await writeInHome(command.home, file);
  const secretsOf = (files: readonly LaunchFile[] = []): string[] =>
    files.filter(({ secret, at }) => secret === true && at === undefined).map(({ name }) => name);
  const launch: Launch = { home: command.home, secrets: secretsOf(own), homeSecrets: secretsOf(inHome), placed };
  // Flushed before the identity is committed. Otherwise a power cut could leave a session whose home is unknown.
  await writeFile(join(directory, LAUNCH_FILE), JSON.stringify(launch), { mode: 0o600, flush: true });
}

/** Replaces the file of an earlier turn as a whole. */
async function place(path: string, text: string, directory: string): Promise<Launch['placed'][number]> {
  const fresh = `${path}.${basename(directory)}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(fresh, { force: true });
  await writeFile(fresh, text, { mode: 0o600, flag: 'wx' });
  const inode = await inodeOf(fresh);
  await rename(fresh, path);
  return { path, inode: inode ?? '' };
}

async function inodeOf(path: string): Promise<string | undefined> {
  return (await lstat(path, { bigint: true }).catch(() => undefined))?.ino.toString();
}

/** An agent writes in its home: a link that it left there must not lead this file, or its removal, anywhere else. */
async function writeInHome(home: string, { name, text }: LaunchFile): Promise<void> {
  const path = confine(home, name);
  for (const folder of foldersBetween(name)) {
    if (await isPlainFolder(join(home, folder))) continue;
    await rm(join(home, folder), { force: true });
    await mkdir(join(home, folder), { mode: 0o700 });
  }
  await rm(path, { recursive: true, force: true });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}

/** `a`, `a/b` for `a/b/c`. */
function foldersBetween(name: string): string[] {
  const parts = dirname(name)
    .split('/')
    .filter((part) => part !== '.');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

async function isPlainFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

/** undefined: the file is lost or damaged. The turn can still be followed, but its session has no home. */
export async function readLaunch(directory: string): Promise<Launch | undefined> {
  const path = join(directory, LAUNCH_FILE);
  const isFile = (await lstat(path).catch(() => undefined))?.isFile() === true;
  // A read of a pipe would not end.
  const text = isFile ? await readFile(path, 'utf8').catch(() => '') : '';
  return launchSchema.safeParse(parseJson(text)).data;
}

/** Removes the files with secrets and those of the conversation, which nothing needs after the turn. */
export async function removeSecrets(directory: string): Promise<void> {
  const { home = '', secrets = [], homeSecrets = [], placed = [] } = (await readLaunch(directory)) ?? {};
  for (const name of secrets) await rm(confine(directory, name), { force: true });
  for (const { path, inode } of placed) if ((await inodeOf(path)) === inode) await rm(path, { force: true });
  for (const name of homeSecrets) {
    const path = confine(home, name);
    const folders = await Promise.all(foldersBetween(name).map((folder) => isPlainFolder(join(home, folder))));
    if (!folders.includes(false)) await rm(path, { force: true });
  }
}
