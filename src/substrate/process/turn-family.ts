import type { ProcessIdentity } from '../../model/process-identity.ts';
import { type ProcessEntry, carriesMarker, readProcess, recentProcessTable } from './process-table.ts';

/**
 * Which processes belong to a turn. Linux offers no handle on "everything this started" short of a pid namespace or a
 * cgroup, and Node cannot become a subreaper, so belonging is proved by any of: the marker in the environment, descent,
 * a session or group led by a member, or having been a member in an earlier look. What escapes is a process that was
 * double-forked, given a new session and a scrubbed environment all before the first look.
 */
export interface TurnFamily {
  /** The members alive now, the wrapper included. Each look also remembers them for the next. */
  look(): readonly ProcessEntry[];
  /** Signals a member after making sure, at that moment, that the pid still names it. False: it does not, or may not. */
  signal(member: ProcessEntry, name: NodeJS.Signals): boolean;
}

export function createTurnFamily(marker: string, wrapper?: ProcessIdentity): TurnFamily {
  // An older look may have been before the turn's own start: its processes would be missed, and taken to have ended.
  const madeAt = performance.now();
  const remembered = new Map<number, string>();
  if (wrapper !== undefined) remembered.set(wrapper.pid, wrapper.startTime);
  /** Whose environment was read and has no marker. It is not read again: no stranger becomes one of the turn. */
  const strangers = new Map<number, string>();
  const isMarked = ({ pid, startTime }: ProcessEntry): boolean => {
    if (strangers.get(pid) === startTime) return false;
    const carries = carriesMarker(pid, marker);
    if (carries === false) strangers.set(pid, startTime);
    return carries === true;
  };

  return {
    look() {
      const table = recentProcessTable(madeAt);
      const spared = ancestorsOf(process.pid, table);
      const candidates = table.filter((entry) => !spared.has(entry.pid));
      const members = findMembers(
        candidates,
        (entry) =>
          remembered.get(entry.pid) === entry.startTime ||
          // Nothing of the turn is older than its wrapper: most environments need not be read.
          (Number(entry.startTime) >= Number(wrapper?.startTime ?? 0) && isMarked(entry)),
        wrapper?.pid,
      );
      for (const member of members) remembered.set(member.pid, member.startTime);
      return members;
    },
    signal(member, name) {
      if (readProcess(member.pid)?.startTime !== member.startTime) return false;
      return sendSignal(member.pid, name);
    },
  };
}

/**
 * Pure: the closure of `isKnown` over descent, sessions and groups. A session or group counts when its leader is a
 * member, since only the turn itself can have put processes there. The wrapper's own session also counts when
 * its leader is gone but a member is still in it.
 */
export function findMembers(
  table: readonly ProcessEntry[],
  isKnown: (entry: ProcessEntry) => boolean,
  wrapperSession?: number,
): readonly ProcessEntry[] {
  const members = new Map<number, ProcessEntry>();
  for (const entry of table) if (isKnown(entry)) members.set(entry.pid, entry);
  let sessionIsOurs = false;
  for (let before = -1; before < members.size;) {
    before = members.size;
    sessionIsOurs ||= [...members.values()].some((member) => member.session === wrapperSession);
    for (const entry of table) {
      const isOurs =
        members.has(entry.parent) ||
        members.has(entry.session) ||
        members.has(entry.group) ||
        (sessionIsOurs && entry.session === wrapperSession);
      if (isOurs) members.set(entry.pid, entry);
    }
  }
  return [...members.values()];
}

/** False: nobody there, or not ours to signal. */
export function sendSignal(target: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(target, name);
  } catch {
    // ESRCH: it ended first, which is what the signal is for. EPERM: it changed its user; it is reported as a survivor.
    return false;
  }
}

/** An engine may itself run inside an agent's turn. It never ends itself or what it runs in. */
function ancestorsOf(pid: number, table: readonly ProcessEntry[]): ReadonlySet<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 0 && !found.has(at); at = parents.get(at))
    found.add(at);
  return found;
}
