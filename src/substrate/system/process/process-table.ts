import { readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '../../../model/process-identity.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BootMoment } from '../../ports/ledger.ts';
import { PROC_SOURCE } from './proc-source.ts';
import type { ProcessEntry, ProcessSource } from './process-source.ts';
import { PS_SOURCE } from './ps-source.ts';

export type { ProcessEntry } from './process-source.ts';

/** `ps`: as on a system without Linux's /proc. */
export const PROCESS_SOURCES = ['proc', 'ps'] as const;
export type SourceName = (typeof PROCESS_SOURCES)[number];

let source: ProcessSource = process.platform === 'linux' ? PROC_SOURCE : PS_SOURCE;
export let sourceName: SourceName = source === PS_SOURCE ? 'ps' : 'proc';
/** undefined: not running any more, or not visible to this user. */
export let readProcess = source.read;
/** Changes with every start of the machine, which resets pids and start times, and which no process survives. */
export let readBootId = source.bootId;

/** For the whole process. Identities of one source mean nothing to the other. */
export function seeProcessesBy(name: SourceName): void {
  sourceName = name;
  source = name === 'ps' ? PS_SOURCE : PROC_SOURCE;
  readProcess = source.read;
  readBootId = source.bootId;
}

/** The environment variable that every process of a turn inherits. */
export const MARKER_VARIABLE = 'SQUAD_TURN_ID';

const SHARED_MS = 20;
let shared: { readonly begun: number; readonly ended: number; readonly entries: readonly ProcessEntry[] } | undefined;

/**
 * All live processes, but up to 20 ms old, because many turns that end at once look many times a second each. It may list
 * processes that are gone. It lists every live process that existed at `since` (by `performance.now()`).
 */
export function recentProcessTable(since: number): readonly ProcessEntry[] {
  if (shared === undefined || shared.begun < since || performance.now() - shared.ended > SHARED_MS) {
    const begun = performance.now();
    const entries = source.readAll();
    shared = { entries, begun, ended: performance.now() };
  }
  return shared.entries;
}

/**
 * Looks for the marker's variable, or for a folder `squad-<marker>` in TMPDIR, which is all that a sandbox helper may keep (codex 0.169).
 * undefined: unreadable, because the process is another user's, gone, or just being started. `of`: the list that it was found in.
 */
export function carriesMarker(pid: number, marker: string, of?: readonly ProcessEntry[]): boolean | undefined {
  const variables = source.environment(pid, marker, of);
  return variables?.some(
    (entry) =>
      entry === `${MARKER_VARIABLE}=${marker}` ||
      (entry.startsWith('TMPDIR=') && entry.split('/').includes(`squad-${marker}`)),
  );
}

/** The processes of this user that were started with this `NAME=value` in their environment. */
export function findByVariable(entry: string): readonly number[] {
  const all = source.readAll();
  return all.filter(({ pid }) => source.environment(pid, entry, all)?.includes(entry) === true).map(({ pid }) => pid);
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
  // Includes process 1, because in a turn's PID namespace it belongs to the turn.
  const line = source.lineage(pid, MOST_ANCESTORS + 1);
  const isMarked = (member: number): boolean =>
    member > 0 && source.environment(member, '', line)?.some(isMark) === true;
  return line.length > MOST_ANCESTORS || line.some((at) => [at.pid, at.session, at.group].some(isMarked));
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

/** undefined: the process is gone. */
export function ageMs({ pid, startTime, bootId }: ProcessIdentity): number | undefined {
  return readBootId() === bootId ? source.ageMs(pid, startTime) : undefined;
}

/** By the monotonic clock, which all processes of one boot share. */
export function sinceBoot(): BootMoment {
  return { boot: readBootId(), ms: Number(process.hrtime.bigint() / 1_000_000n) };
}

/** Like `isAlive`, at a third of the cost, for a process whose marker was checked before. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startTime === identity.startTime && readBootId() === identity.bootId;
}

/** Where pids count; empty: it cannot be seen. */
export function readPidNamespace(): string {
  if (source !== PROC_SOURCE) return '';
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    return '';
  }
}
