import { readdirSync, readFileSync } from 'node:fs';
import { parseStat } from '../../src/substrate/system/process/proc-source.ts';

/** `agents`: the scripted players. `turns`: what squad itself keeps for each turn, its wrapper and its mail server. */
export type Part = 'engine' | 'turns' | 'agents';

export interface RunProcess {
  readonly pid: number;
  readonly part: Part;
  /** Hundredths of a second since it began, with those of the children that it has waited for. */
  readonly ticks: number;
}

/** The live processes of an engine and of these attempts. */
export function processesOf(engine: number, attempts: readonly string[]): RunProcess[] {
  const marks = new Set(attempts.map((attempt) => `SQUAD_TURN_ID=${attempt}`));
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? entryOf(name) : []));
  const own = new Set([engine]);
  for (let size = 0; size < own.size;) {
    size = own.size;
    for (const { pid, parent } of all) if (own.has(parent)) own.add(pid);
  }
  return all.flatMap(({ pid, ticks }): RunProcess[] => {
    const isMarked = textOf(`${pid}/environ`)
      .split('\0')
      .some((variable) => marks.has(variable));
    if (isMarked) return [{ pid, ticks, part: isAgent(pid) ? 'agents' : 'turns' }];
    return own.has(pid) ? [{ pid, ticks, part: 'engine' }] : [];
  });
}

/** MB of a process, what it shares counted in parts. */
export function sharedMegabytes(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(textOf(`${pid}/smaps_rollup`))?.[1] ?? 0) / 1024;
}

/** The wrapper's own arguments name the player too, but do not begin with it. */
function isAgent(pid: number): boolean {
  const [program = '', script = ''] = textOf(`${pid}/cmdline`).split('\0');
  return program.endsWith('node') && script.endsWith('player.mjs');
}

function entryOf(name: string): { pid: number; parent: number; ticks: number }[] {
  const text = textOf(`${name}/stat`);
  const entry = parseStat(text);
  if (entry === undefined) return [];
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime: fields 14 to 17 of proc(5).
  const ticks = fields.slice(14 - 3, 18 - 3).reduce((sum, field) => sum + Number(field), 0);
  return [{ pid: entry.pid, parent: entry.parent, ticks }];
}

/** A file below `/proc`. Empty: the process has ended. */
export function textOf(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}
