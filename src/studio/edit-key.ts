import { sha256Of } from '../model/sha256.ts';
import { storedKey } from '../squad/command-key.ts';
import type { EditCommand } from './edit.ts';

/** A client repeats what it got no answer to for half a minute. */
export const REPEATS_MS = 60_000;

/** A command that the run has. */
interface Recorded {
  readonly seq: number;
  /** How long it is there. */
  readonly ageMs: number;
  readonly key: string | undefined;
}

interface Edited {
  readonly runId: string;
  readonly checkpointId: string | undefined;
  readonly command: EditCommand;
  /** The client's own name of the command. */
  readonly named: string | undefined;
}

/** Equal for a request and its repeats. */
export function digestOf({ runId, checkpointId, command, named }: Edited): string {
  const about = [runId, named ?? '', checkpointId ?? '', command];
  return sha256Of(JSON.stringify(about));
}

/**
 * The key of an edit's command. A client that repeats a request says so nowhere, so without a name of its own an edit is a repeat
 * if it equals the newest command of the run, and follows it within a minute. `recorded`: oldest first.
 */
export function keyOf(edited: Edited, recorded: readonly Recorded[]): string {
  if (edited.named !== undefined) return `named ${edited.named}`;
  const [before, last] = [recorded.at(-2), recorded.at(-1)];
  const digest = digestOf(edited);
  const after = (one: Recorded | undefined): string => `${digest} after ${one?.seq ?? 0}`;
  const isRepeat = last !== undefined && last.key === storedKey(edited.runId, after(before)) && last.ageMs < REPEATS_MS;
  return after(isRepeat ? before : last);
}
