import { errorText, isSquadError, type ErrorCode } from '../model/errors.ts';
import { diskError, errorCode } from '../model/storage-error.ts';
import type { RunDefinition } from '../model/run.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';
import type { PlaceWatch } from './lost-place.ts';

/** For errors thrown while the engine works for one task. `engine`: they end it. `look`: they fail the task, if others can continue. */
const WHOSE: Readonly<Record<ErrorCode, 'engine' | 'look'>> = {
  usage: 'look',
  'not-a-repository': 'look',
  'wrong-environment': 'look',
  'bad-input': 'look',
  'port-busy': 'look',
  'git-locked': 'look',
  'not-trusted': 'engine',
  'sqlite-unsafe': 'engine',
  'network-filesystem': 'engine',
  'schema-newer': 'engine',
  'schema-older': 'engine',
  'database-corrupt': 'engine',
  'storage-full': 'engine',
  'storage-refused': 'engine',
  'machine-limit': 'engine',
  'workspace-busy': 'engine',
  'lease-fenced': 'engine',
  'cursor-refused': 'engine',
  'unknown-attempt': 'engine',
  unfinished: 'engine',
};

/** Only ledger, lock and disk end an engine by themselves, and the limits of the machine pause it. */
export function endsEngine(error: unknown): boolean {
  if (isSquadError(error)) return WHOSE[error.code] === 'engine';
  return errorCode(error)?.startsWith('SQLITE_') === true;
}

interface FaultPorts {
  readonly workspaces: Pick<Workspaces, 'runHead' | 'createRunBranch'>;
  readonly definition: Pick<RunDefinition, 'name'>;
  /** See `SegmentOf`. */
  readonly watch?: Pick<PlaceWatch, 'findLoss'> | undefined;
  /** The engine ends its work, and what it ends fails. */
  readonly isLeaving: () => boolean;
}

/** Why the task failed for which the engine worked. Throws the error if the engine cannot go on with the others either. */
export type FindFault = (thrown: unknown) => Promise<string>;

/** The one place that decides whether what was thrown for a task ends the task or the engine. */
export function createFaultFinder({ workspaces, definition, watch, isLeaving }: FaultPorts): FindFault {
  return async (thrown) => {
    const error = diskError(definition.name, thrown);
    if (isLeaving() || endsEngine(error)) throw error;
    const loss = watch?.findLoss();
    if (loss !== undefined) throw loss;
    if (!(await isSound(workspaces, definition.name))) throw error;
    return isSquadError(error) ? error.message : `squad failed at it: ${errorText(error)}`;
  };
}

/** How often another task may be delivered meanwhile. */
const MOST_MOVES = 10;

/** Whether other tasks can continue: the repositories open, and the user's has the run branch and takes a ref of the run. */
async function isSound(workspaces: FaultPorts['workspaces'], run: string): Promise<boolean> {
  let head = await workspaces.runHead(run);
  for (let moves = 0; head !== undefined && moves < MOST_MOVES; moves += 1) {
    if ((await workspaces.createRunBranch(run, head)).type === 'ready') return true;
    const now = await workspaces.runHead(run);
    if (now === head) return false;
    head = now;
  }
  return false;
}
