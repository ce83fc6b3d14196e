import type { SquadStateValue } from '../graph/state.ts';
import { fork, type ForkedRun } from '../squad/fork.ts';
import { readState, threadConfig, type StatePorts } from './read-state.ts';

/** Forks the run of a thread where the checkpoint is; without one, where the run is now. */
export async function forkThread(
  ports: StatePorts,
  threadId: string,
  checkpointId: string | undefined,
  name?: string,
): Promise<ForkedRun> {
  const { values } = await readState(ports, threadConfig(threadId, checkpointId));
  const { cursor } = values as SquadStateValue;
  return fork(ports.workspace, threadId, { at: cursor, name });
}
