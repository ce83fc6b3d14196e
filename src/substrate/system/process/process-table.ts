import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '../../../model/process-identity.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BootMoment } from '../../ports/ledger.ts';

/** One live process as Linux shows it. Zombies are left out: they hold a pid but run nothing. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. Together with the pid it identifies the process until the next boot. */
  readonly startTime: string;
}

/** The environment variable that every process of a turn inherits. */
export const MARKER_VARIABLE = 'SQUAD_TURN_ID';

/** undefined: not running any more, or not visible to this user. */
export function readProcess(pid: number): ProcessEntry | undefined {
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

/** All live processes, at about 20 µs each. Not a snapshot: processes may start and end during the read. */
export function readProcessTable(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((name) => readProcess(Number(name))).filter((entry) => entry !== undefined);
}

const SHARED_MS = 20;
let shared: { readonly readAt: number; readonly entries: readonly ProcessEntry[] } | undefined;

/**
 * Like `readProcessTable`, but up to 20 ms old, because many turns that end at once look many times a second each. It may list
 * processes that are gone. It lists every live process that existed at `since` (by `performance.now()`).
 */
export function recentProcessTable(since: number): readonly ProcessEntry[] {
  if (shared === undefined || shared.readAt < since || performance.now() - shared.readAt > SHARED_MS) {
    const readAt = performance.now();
    shared = { entries: readProcessTable(), readAt };
  }
  return shared.entries;
}

/**
 * Looks for the marker's variable, or for a folder `squad-<marker>` in TMPDIR, which is all that a sandbox helper may keep (codex 0.169).
 * undefined: unreadable, because the process is another user's, gone, or just being started.
 */
export function carriesMarker(pid: number, marker: string): boolean | undefined {
  const variables = readEnvironment(pid, marker);
  return variables?.some(
    (entry) =>
      entry === `${MARKER_VARIABLE}=${marker}` ||
      (entry.startsWith('TMPDIR=') && entry.split('/').includes(`squad-${marker}`)),
  );
}

/** The processes of this user that were started with this `NAME=value` in their environment; none without /proc. */
export function findByVariable(entry: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  const all = readProcessTable().filter(({ pid }) => readEnvironment(pid, entry)?.includes(entry) === true);
  return all.map(({ pid }) => pid);
}

/** The `NAME=value` entries; empty if `part` is in none of them. */
function readEnvironment(pid: number, part: string): readonly string[] | undefined {
  const environment = readProcFile(`${pid}/environ`);
  if (environment === undefined || environment.length === 0) return undefined;
  return environment.includes(part) ? environment.toString('utf8').split('\0') : [];
}

/** Whether this `NAME=value` of an environment shows that a turn started the process. */
function isMark(entry: string): boolean {
  return entry.startsWith(`${MARKER_VARIABLE}=`) || /^TMPDIR=(?:.*\/)?squad-[^/]+\.[^/]+-\d+(?:\/|$)/.test(entry);
}

/** Ancestors that are checked; only a turn has more. The bound also ends a circle, which a table that changes can show. */
const MOST_ANCESTORS = 100;

/**
 * Whether the process with this environment and pid belongs to a turn: by its own marker, or by an ancestor's, which a scrubbed
 * environment cannot hide.
 */
export function insideTurn(environment: Readonly<Record<string, string | undefined>>, pid: number): boolean {
  if (Object.entries(environment).some(([name, value]) => isMark(`${name}=${value ?? ''}`))) return true;
  const isMarked = (member: number): boolean => readEnvironment(member, '')?.some(isMark) === true;
  let at = readProcess(pid);
  for (let steps = 0; at !== undefined && steps < MOST_ANCESTORS; steps += 1) {
    if ([at.pid, at.session, at.group].some(isMarked)) return true;
    // Includes process 1, because in a turn's PID namespace it belongs to the turn.
    at = at.parent > 0 ? readProcess(at.parent) : undefined;
  }
  return at !== undefined;
}

/** undefined: no such process, a zombie, or one without the marker. */
export function identify(pid: number, marker: string): ProcessIdentity | undefined {
  const before = readProcess(pid);
  if (before === undefined || carriesMarker(pid, marker) !== true) return undefined;
  // The pid may belong to another process since the first read.
  if (readProcess(pid)?.startTime !== before.startTime) return undefined;
  return { pid, startTime: before.startTime, bootId: readBootId(), marker };
}

const PATIENCE_MS = 2000;

/**
 * Like `identify`, for a child that was just started. The kernel shows a new process shortly before its environment can be
 * read: on a loaded machine a few children in a thousand had none yet.
 */
export async function identifyChild(pid: number, marker: string, clock: Clock): Promise<ProcessIdentity | undefined> {
  const start = clock.monotonic();
  for (;;) {
    const identity = identify(pid, marker);
    if (identity !== undefined || readProcess(pid) === undefined) return identity;
    if (clock.monotonic() - start > PATIENCE_MS) return undefined;
    await clock.sleep(2);
  }
}

/** Whether this process, and not another one with its pid, is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return isSameProcess(identity) && carriesMarker(identity.pid, identity.marker) === true;
}

/** Linux gives the times of processes in this unit, whatever its own is. */
const TICKS_PER_SECOND = 100;

/** undefined: the process is gone. */
export function ageMs(identity: ProcessIdentity): number | undefined {
  const up = Number.parseFloat(readProcFile('uptime')?.toString('latin1') ?? '');
  const age = up * 1000 - (Number(identity.startTime) * 1000) / TICKS_PER_SECOND;
  return isSameProcess(identity) && age >= 0 ? Math.round(age) : undefined;
}

/** By the monotonic clock, which all processes of one boot share. */
export function sinceBoot(): BootMoment {
  return { boot: readBootId(), ms: Number(process.hrtime.bigint() / 1_000_000n) };
}

/** Like `isAlive`, at a third of the cost, for a process whose marker was checked before. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startTime === identity.startTime && readBootId() === identity.bootId;
}

let bootId: string | undefined;

/** Changes with every start of the machine, which resets pids and start times, and which no process survives. */
export function readBootId(): string {
  return (bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

/** Where pids count; empty: it cannot be seen. */
export function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    return '';
  }
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

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
