import type { ProcessIdentity } from '../../../model/process-identity.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CancelStep } from '../../ports/processes.ts';
import { readEnding } from './ending.ts';
import {
  carriesMarker,
  isSameProcess,
  type ProcessEntry,
  readBootId,
  readProcess,
  recentProcessTable,
} from './process-table.ts';

/** A process that is about to end mostly needs a few ms, so the first looks come close together. */
const FIRST_LOOK_MS = 1;
const LOOK_MS = 50;
/** Time for what is left of an ended turn: enough for git to remove its lock files. */
const POLITE_MS = 1000;
/** Time for the wrapper to record how a killed agent ended. */
const RECORD_MS = 1000;
const KILL_MS = 10_000;

/** Ends all processes of a turn; resolves with the pids that are still alive. See the port. */
export async function endTurn(
  identity: ProcessIdentity,
  directory: string,
  ladder: readonly CancelStep[],
  clock: Clock,
): Promise<readonly number[]> {
  // After a restart of the machine the turn's processes are gone, and their pids belong to others.
  if (identity.bootId !== readBootId()) return [];
  const family = createTurnFamily(identity.marker, identity);
  // Before the first signal, because children of a process that is gone cannot be recognised.
  family.look();
  const turn: LiveTurn = { identity, directory, family };

  for (const step of ladder) {
    if (await hasEnded(turn)) break;
    if (step.signal === 'SIGKILL') killAllButWrapper(turn);
    else signalAgent(turn, step.signal);
    await waitUntil(() => hasEnded(turn), step.waitMs, clock);
  }
  if (await hasEnded(turn)) await askLeftoversToEnd(turn, clock);
  else {
    killAllButWrapper(turn);
    await waitUntil(() => hasEnded(turn), RECORD_MS, clock);
  }
  return killUntilGone(family, clock);
}

/** Kills what carries the marker, with its descendants. */
export async function sweep(marker: string, clock: Clock): Promise<readonly number[]> {
  return killUntilGone(createTurnFamily(marker), clock);
}

interface LiveTurn {
  readonly identity: ProcessIdentity;
  readonly directory: string;
  readonly family: TurnFamily;
}

/** Looks first, which also records new descendants. */
async function hasEnded(turn: LiveTurn): Promise<boolean> {
  const members = turn.family.look();
  return members.length === 0 || (await readEnding(turn.directory)) !== undefined;
}

/**
 * Signals the group, as a terminal would; the wrapper and its watcher survive INT and TERM. Descendants in other sessions get signals only
 * at the end. Without the wrapper the group's number may be others', so members are signalled one by one.
 */
function signalAgent(turn: LiveTurn, name: NodeJS.Signals): void {
  if (isSameProcess(turn.identity)) {
    sendSignal(-turn.identity.pid, name);
    return;
  }
  for (const member of turn.family.look()) {
    if (member.group === turn.identity.pid) turn.family.signal(member, name);
  }
}

/** Spares the wrapper, so that it can record that the agent was killed. */
function killAllButWrapper(turn: LiveTurn): void {
  for (const member of turn.family.look()) {
    if (member.pid !== turn.identity.pid) turn.family.signal(member, 'SIGKILL');
  }
}

async function askLeftoversToEnd(turn: LiveTurn, clock: Clock): Promise<void> {
  for (const member of turn.family.look()) turn.family.signal(member, 'SIGTERM');
  await waitUntil(
    () => Promise.resolve(turn.family.look().every((member) => member.pid === turn.identity.pid)),
    POLITE_MS,
    clock,
  );
}

/** Hardly pauses, because processes that fork must be killed faster than they fork. */
async function killUntilGone(family: TurnFamily, clock: Clock): Promise<readonly number[]> {
  const deadline = clock.monotonic() + KILL_MS;
  for (let round = 0; ; round += 1) {
    const members = family.look();
    if (members.length === 0) return [];
    if (clock.monotonic() >= deadline) return members.map((member) => member.pid);
    for (const member of members) family.signal(member, 'SIGKILL');
    await clock.sleep(round < 5 ? 1 : 20);
  }
}

async function waitUntil(isDone: () => Promise<boolean>, longestMs: number, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + longestMs;
  for (let wait = FIRST_LOOK_MS; !(await isDone()); wait = Math.min(wait * 2, LOOK_MS)) {
    const left = deadline - clock.monotonic();
    if (left <= 0) return;
    await clock.sleep(Math.min(wait, left));
  }
}

/**
 * Linux has no handle on all processes of a turn, so members are found by the marker in their environment, descent, a member's session or
 * group, or an earlier look. One escapes if it double-forks, gets a session and scrubs all that before the first look.
 */
export interface TurnFamily {
  /** The live members, wrapper included. Remembers them for later looks. */
  look(): readonly ProcessEntry[];
  /** Signals a member if its pid still identifies it. False: it does not, or squad may not signal it. */
  signal(member: ProcessEntry, name: NodeJS.Signals): boolean;
}

export function createTurnFamily(marker: string, wrapper?: ProcessIdentity): TurnFamily {
  // A table from before the turn's start would lack its processes, which would then count as ended.
  let since = performance.now();
  const remembered = new Map<number, string>();
  if (wrapper !== undefined) remembered.set(wrapper.pid, wrapper.startTime);
  /** Processes whose environment has no marker. It is not read again, because it cannot change. */
  const strangers = new Map<number, string>();
  const isMarked = ({ pid, startTime }: ProcessEntry, table: readonly ProcessEntry[]): boolean => {
    if (strangers.get(pid) === startTime) return false;
    const carries = carriesMarker(pid, marker, table);
    if (carries === false) strangers.set(pid, startTime);
    return carries === true;
  };

  const membersSince = (): readonly ProcessEntry[] => {
    const table = recentProcessTable(since);
    const spared = ancestorsOf(process.pid, table);
    const candidates = table.filter((entry) => !spared.has(entry.pid));
    const members = findMembers(
      candidates,
      (entry) =>
        remembered.get(entry.pid) === entry.startTime ||
        // No process of the turn is older than its wrapper, so most environments need not be read.
        (Number(entry.startTime) >= Number(wrapper?.startTime ?? 0) && isMarked(entry, table)),
      wrapper?.pid,
    );
    for (const member of members) remembered.set(member.pid, member.startTime);
    return members;
  };

  return {
    look() {
      const listed = membersSince();
      const members = listed.filter(isThere);
      if (members.length > 0 || listed.length === 0) return members;
      // All have ended since the table was read, but each may have started another process before that.
      since = performance.now();
      return membersSince();
    },
    signal(member, name) {
      return isThere(member) && sendSignal(member.pid, name);
    },
  };
}

/**
 * Pure. Members belong by descent, session or group. A session or group counts if a member leads it, because only the turn can have put
 * processes there; the wrapper's session also if its leader is gone and a member is still in it.
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

function isThere({ pid, startTime }: ProcessEntry): boolean {
  return readProcess(pid)?.startTime === startTime;
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
