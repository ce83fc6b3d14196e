import { readFileSync, readdirSync } from 'node:fs';
import { climb, type ProcessEntry, type ProcessSource } from './process-source.ts';

/** Linux gives the times of processes in this unit, whatever its own is. */
const TICKS_PER_SECOND = 100;

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

let bootId: string | undefined;

/** Processes as Linux shows them in /proc, at about 20 µs each. */
export const PROC_SOURCE: ProcessSource = {
  read: readProcess,
  readAll: () => {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map((name) => readProcess(Number(name))).filter((entry) => entry !== undefined);
  },
  lineage: (pid, most) => climb(pid, most, readProcess),
  environment: (pid, part) => {
    const environment = readProcFile(`${pid}/environ`);
    if (environment === undefined || environment.length === 0) return undefined;
    return environment.includes(part) ? environment.toString('utf8').split('\0') : [];
  },
  bootId: () => (bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  ageMs: (pid, startTime) => {
    const up = Number.parseFloat(readProcFile('uptime')?.toString('latin1') ?? '');
    const age = up * 1000 - (Number(startTime) * 1000) / TICKS_PER_SECOND;
    return readProcess(pid)?.startTime === startTime && age >= 0 ? Math.round(age) : undefined;
  },
};

function readProcess(pid: number): ProcessEntry | undefined {
  const text = readProcFile(`${pid}/stat`);
  return text === undefined ? undefined : parseStat(text.toString('latin1'));
}

/**
 * Reads proc(5) `stat`. The second field is the command's name in parentheses, which may contain blanks, newlines and
 * parentheses, so the other fields are counted from the last one.
 */
export function parseStat(text: string): ProcessEntry | undefined {
  const nameEnd = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(nameEnd + 2).split(' ');
  const [state, parent, group, session] = fields;
  const startTime = fields[22 - 3];
  if (nameEnd < 0 || !Number.isInteger(pid) || state === undefined || startTime === undefined) return undefined;
  if (state === 'Z' || state === 'X' || state === 'x') return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTime };
}

function readProcFile(name: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${name}`);
  } catch (error) {
    // The process ended or belongs to another user, so it is not one of ours. Any other error (no free descriptor) says
    // nothing about the process and must not count as its death.
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
