import { readdirSync, readFileSync } from 'node:fs';
import { limitReached } from '../../../model/machine-limit.ts';

/** Threads that an agent's program, the programs around it and its commands need at least. */
const LEAST_FREE = 16;

/**
 * Throws `machine-limit` where this user may hardly have more processes. A turn would end in the middle of its start, and look as if
 * it had been killed.
 */
export function requireRoomForTurn(): void {
  const user = process.getuid?.();
  const most = user === 0 ? undefined : softLimit('Max processes');
  if (user === undefined || most === undefined) return;
  // All of the machine's are mostly far fewer than one user may have.
  const all = Number(/\/(\d+) /.exec(textOf('/proc/loadavg'))?.[1] ?? 0);
  if (most - all >= LEAST_FREE || most - threadsOf(user) >= LEAST_FREE) return;
  throw limitReached('processes', undefined);
}

/** A limit of this process by its name in `/proc/self/limits`, in the unit of that file; undefined: there is none. */
export function softLimit(name: 'Max processes' | 'Max file size'): number | undefined {
  const line = textOf('/proc/self/limits')
    .split('\n')
    .find((text) => text.startsWith(name));
  const [soft] = line?.slice(name.length).trim().split(/\s+/) ?? [];
  return soft === undefined || !/^\d+$/.test(soft) ? undefined : Number(soft);
}

/** Threads count towards the limit of processes. */
function threadsOf(user: number): number {
  const statuses = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => textOf(`/proc/${pid}/status`))
    .filter((text) => /^Uid:\t(\d+)/m.exec(text)?.[1] === String(user));
  return statuses.reduce((sum, text) => sum + Number(/^Threads:\t(\d+)/m.exec(text)?.[1] ?? 0), 0);
}

/** Empty: the system has no such file, or the process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
