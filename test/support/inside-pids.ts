import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process as it knows itself: its turn may have a PID namespace of its own. */
export interface InsidePid {
  readonly pid: number;
  readonly namespace: string;
  /** Clock ticks since boot. The kernel uses the number of a namespace that is gone again at once, and the pids in it too. */
  readonly startTime?: string;
}

/** The pids that these have here; 0 for each that is gone. */
export function pidsOf(insiders: readonly InsidePid[]): number[] {
  const found = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? insideNames(name) : [])));
  return insiders.map(({ pid, namespace, startTime }) => {
    const there = found.get(`${namespace} ${pid}`);
    return there === undefined || (startTime ?? there.startTime) !== there.startTime ? 0 : there.pid;
  });
}

function insideNames(name: string): [string, { readonly pid: number; readonly startTime: string }][] {
  try {
    const pid = /^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    return [[`${readlinkSync(`/proc/${name}/ns/pid`)} ${pid}`, { pid: Number(name), startTime }]];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
