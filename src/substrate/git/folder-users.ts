import { readdir, readlink } from 'node:fs/promises';

/** Processes that work in a folder or have a file below it open, if this user may see them. Empty without /proc. */
export async function findUsers(folder: string): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [];
  const inside = (target: string): boolean => target === folder || target.startsWith(`${folder}/`);
  const users: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const places = [`/proc/${name}/cwd`, ...(await list(`/proc/${name}/fd`))];
    const targets = await Promise.all(places.map(async (place) => readlink(place).catch(() => '')));
    if (targets.some(inside)) users.push(Number(name));
  }
  return users;
}

async function list(folder: string): Promise<readonly string[]> {
  // The process has ended, or belongs to another user.
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => `${folder}/${name}`);
}
