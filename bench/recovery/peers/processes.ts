import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Processes that work below this folder, or were started with its name in their command or environment. Zombies do not count. */
export function processesOf(root: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const found = [
        () => readlinkSync(`/proc/${pid}/cwd`),
        ...['cmdline', 'environ'].map((file) => () => readFileSync(`/proc/${pid}/${file}`, 'utf8')),
      ];
      return found.some((look) => (attempt(look) ?? '').includes(root));
    })
    .map(Number);
}

/** undefined: it has ended, or is another user's. */
function attempt(look: () => string): string | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
