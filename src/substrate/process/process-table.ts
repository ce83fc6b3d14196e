import { readFileSync, readdirSync } from 'node:fs';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { Clock } from '../ports/clock.ts';

/** One live process as Linux shows it. Zombies never become entries: they hold a pid but run nothing. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. With the pid it names the process for the life of the machine's boot. */
  readonly startTime: string;
}

/** The environment variable that everything of a turn inherits. */
export const MARKER_VARIABLE = 'SQUAD_TURN_ID';

/** undefined: not running any more, or not ours to see. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readProcFile(`${pid}/stat`);
  return text === undefined ? undefined : parseStat(text.toString('latin1'));
}

/**
 * Reads proc(5) `stat`. The second field is the command's name in parentheses and may itself hold blanks, newlines and
 * parentheses, so fields count from the last one.
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

/** Everything alive, in about 20 µs a process. Not one instant: processes may start and end while it is read. */
export function readProcessTable(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const entry = readProcess(Number(name));
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** A table that is at most this old serves whoever looks next. */
const SHARED_MS = 20;
let shared: { readonly readAt: number; readonly entries: readonly ProcessEntry[] } | undefined;

/**
 * As `readProcessTable`, but perhaps up to 20 ms old: many turns that are ended at once look many times a second each, and
 * would leave the engine no time for anything else. Who was there and is gone may still stand in it; who was there at `since`
 * (by `performance.now()`) and is still alive does.
 */
export function recentProcessTable(since: number): readonly ProcessEntry[] {
  if (shared === undefined || shared.readAt < since || performance.now() - shared.readAt > SHARED_MS) {
    const readAt = performance.now();
    shared = { entries: readProcessTable(), readAt };
  }
  return shared.entries;
}

/**
 * The process was started with this marker in its environment: as the variable of its own, or as a folder `squad-<marker>` of TMPDIR, which
 * is all that a sandbox helper may keep (codex 0.169). undefined: nothing can be read, because another user's process hides
 * it, or the process is gone or just being started.
 */
export function carriesMarker(pid: number, marker: string): boolean | undefined {
  const environment = readProcFile(`${pid}/environ`);
  if (environment === undefined || environment.length === 0) return undefined;
  if (!environment.includes(marker)) return false;
  return environment
    .toString('utf8')
    .split('\0')
    .some(
      (entry) =>
        entry === `${MARKER_VARIABLE}=${marker}` ||
        (entry.startsWith('TMPDIR=') && entry.split('/').includes(`squad-${marker}`)),
    );
}

/** As `carriesMarker`, of any turn at all. */
export function carriesAnyMarker(pid: number): boolean | undefined {
  const environment = readProcFile(`${pid}/environ`);
  if (environment === undefined || environment.length === 0) return undefined;
  return environment.toString('utf8').split('\0').some(isMark);
}

/** One `NAME=value` of an environment that only what a turn started has. */
export function isMark(entry: string): boolean {
  return entry.startsWith(`${MARKER_VARIABLE}=`) || /^TMPDIR=(?:.*\/)?squad-[^/]+\.[^/]+-\d+(?:\/|$)/.test(entry);
}

/** Another one after every start of the machine, when pids and start times begin afresh. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

function readProcFile(name: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${name}`);
  } catch (error) {
    // The process ended meanwhile or is another user's: in both cases it is not one of ours. Anything else (no descriptor is
    // left) says nothing about the process, and must never be taken for its death.
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** A process is rarely deeper; a table that changes while it is read could even lead round in a circle. */
const MOST_ANCESTORS = 100;

/**
 * Whether the process with this environment and pid belongs to a turn: by its own mark, or by that of a process it comes from,
 * so that a command whose environment was scrubbed is still known.
 */
export function insideTurn(environment: Readonly<Record<string, string | undefined>>, pid: number): boolean {
  if (Object.entries(environment).some(([name, value]) => isMark(`${name}=${value ?? ''}`))) return true;
  let at = readProcess(pid);
  for (let steps = 0; at !== undefined && steps < MOST_ANCESTORS; steps += 1) {
    if ([at.pid, at.session, at.group].some((member) => carriesAnyMarker(member) === true)) return true;
    // Checks process 1 too, because in a turn's PID namespace it belongs to the turn.
    at = at.parent > 0 ? readProcess(at.parent) : undefined;
  }
  return false;
}

/** undefined: no such process, a zombie, or one that does not carry the marker. */
export function identify(pid: number, marker: string): ProcessIdentity | undefined {
  const before = readProcess(pid);
  if (before === undefined || carriesMarker(pid, marker) !== true) return undefined;
  // The pid may have changed hands between the two reads.
  if (readProcess(pid)?.startTime !== before.startTime) return undefined;
  return { pid, startTime: before.startTime, bootId: readBootId(), marker };
}

const PATIENCE_MS = 2000;

/**
 * As `identify`, for a child that was started this moment. The kernel says that a program is started a little before its
 * environment can be read: on a loaded machine a few children in a thousand showed none yet (found by the crash matrix).
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

/** The very same process is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return isSameProcess(identity) && carriesMarker(identity.pid, identity.marker) === true;
}

/** As `isAlive`, at a third of the price: enough to watch a process whose marker was seen before. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startTime === identity.startTime && readBootId() === identity.bootId;
}
