import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { Clock } from '../ports/clock.ts';
import type { CancelStep } from '../ports/processes.ts';
import { readEnding } from './ending.ts';
import { isSameProcess, readBootId } from './process-table.ts';
import { type TurnFamily, createTurnFamily, sendSignal } from './turn-family.ts';

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
 * Signals the agent's group, as a terminal would; the wrapper and its watcher survive INT and TERM. The agent ends descendants
 * with a session of their own; squad signals them only at the end. Without the wrapper the group's number may belong to
 * others, so the members are signalled one by one.
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
  while (!(await isDone())) {
    const left = deadline - clock.monotonic();
    if (left <= 0) return;
    await clock.sleep(Math.min(LOOK_MS, left));
  }
}
