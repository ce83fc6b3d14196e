import type { ProcessIdentity } from '../../model/process-identity.ts';
import { type ProcessEntry, carriesMarker, readProcess, recentProcessTable } from './process-table.ts';

/**
 * The processes of a turn. Without a PID namespace or a cgroup Linux has no handle on all that a process started, so a member
 * is recognised by any of these: the marker in its environment, descent from a member, a session or group that a member leads,
 * or an earlier look. A process escapes if it double-forks, gets a new session and scrubs its environment before the first look.
 */
export interface TurnFamily {
  /** The live members, wrapper included. Remembers them for later looks. */
  look(): readonly ProcessEntry[];
  /** Signals a member if its pid still identifies it. False: it does not, or squad may not signal it. */
  signal(member: ProcessEntry, name: NodeJS.Signals): boolean;
}

export function createTurnFamily(marker: string, wrapper?: ProcessIdentity): TurnFamily {
  // A table from before the turn's start would lack its processes, which would then count as ended.
  const madeAt = performance.now();
  const remembered = new Map<number, string>();
  if (wrapper !== undefined) remembered.set(wrapper.pid, wrapper.startTime);
  /** Processes whose environment has no marker. It is not read again, because it cannot change. */
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
          // No process of the turn is older than its wrapper, so most environments need not be read.
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
 * Pure: the known processes, and all that belong to them by descent, session or group. A session or group counts if a member
 * leads it, because only the turn can have put processes there. The wrapper's session also counts if its leader is gone but a
 * member is still in it.
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

/** False: no such process, or squad may not signal it. */
export function sendSignal(target: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(target, name);
  } catch {
    // ESRCH: it has ended. EPERM: it changed its user, and is reported as a survivor.
    return false;
  }
}

/** An engine may run inside an agent's turn. It never signals itself or its ancestors. */
function ancestorsOf(pid: number, table: readonly ProcessEntry[]): ReadonlySet<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 0 && !found.has(at); at = parents.get(at))
    found.add(at);
  return found;
}
