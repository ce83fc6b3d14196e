import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process as it knows itself: its turn may have a PID namespace of its own. */
export interface InsidePid {
  readonly pid: number;
  readonly namespace: string;
}

/** The pids that these have here; 0 for each that is gone. */
export function pidsOf(insiders: readonly InsidePid[]): number[] {
  const pids = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? insideNames(name) : [])));
  return insiders.map(({ pid, namespace }) => pids.get(`${namespace} ${pid}`) ?? 0);
}

function insideNames(name: string): [string, number][] {
  try {
    const pid = /^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
    return [[`${readlinkSync(`/proc/${name}/ns/pid`)} ${pid}`, Number(name)]];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
