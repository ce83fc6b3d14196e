import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { attemptScope, attemptWithin } from '../model/attempt-id.ts';
import { attemptOrderSchema } from '../model/attempt-order.ts';
import type { Attempt } from '../model/attempt.ts';
import type { CopiedFile } from '../model/copied-file.ts';
import type { Board } from '../model/plan/board.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import { passedDeadline } from '../rules/deadline.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { putCopies, takeOutCopies } from '../substrate/system/files/copied-files.ts';
import { readRun } from '../view/read-run.ts';
import { predictBoard } from '../view/replay-plan.ts';
import type { TurnArmory } from './armory.ts';
import type { AttemptPorts, Prepared } from './attempts/start-attempt.ts';
import type { FolderPorts } from './folder-ports.ts';
import { openPlace } from './operations/open-place.ts';
import type { Copies, OperationPorts } from './operations/operation-ports.ts';

interface DeadlineFacts {
  readonly ledger: Ledger;
  readonly clock: Pick<Clock, 'now'>;
  readonly runId: string;
  /** The newest board; undefined before the first step. */
  readonly board: () => Board | undefined;
}

type Prepare = NonNullable<AttemptPorts['prepare']>;

/** Homes that squad makes for agents, below the folder of its state. */
const HOMES = `${sep}homes${sep}`;

interface TurnPorts extends OperationPorts {
  readonly folderPorts: FolderPorts;
  readonly armory: TurnArmory;
}

/** Completes a turn's request with its workspace, which is created when the turn starts, and its equipment. A check has both. */
export async function prepareTurn(ports: TurnPorts, attempt: Attempt, request: TurnRequest): Promise<Prepared> {
  if (attempt.kind === 'check') {
    if (attempt.process !== null) return { type: 'ready', request };
    await ports.copies.put(request.workspace);
    return { type: 'ready', request: { ...request, workspace: await ports.folderPorts.place(request.workspace) } };
  }
  const { armory } = ports;
  const refused = await armory.refusal(attempt);
  // A process that runs was equipped when it started.
  if (refused !== undefined && attempt.process === null) return refused;
  const opened = await openTurn(ports, attempt, request);
  return opened.type === 'refused' ? opened : armory.equip(attempt, opened.request);
}

async function openTurn(ports: TurnPorts, attempt: Attempt, request: TurnRequest): Promise<Prepared> {
  const { place } = attemptOrderSchema.parse(JSON.parse(attempt.request));
  const name = attemptWithin(attemptScope(ports.definition.name, ports.lease.runId), attempt.id);
  if (attempt.process !== null && place.folder !== null) {
    // The process runs: its folder must not move.
    const where = {
      run: ports.definition.name,
      task: place.folder,
      commit: place.commit ?? place.head ?? ports.definition.repository.base,
      kept: place.kept,
      inUse: true,
    };
    const { workspace } = await ports.workspaces.addFolder(where);
    return { type: 'ready', request: { ...request, workspace } };
  }
  const builds = request.access.level !== 'read-only';
  const roleOf = (): string => ports.definition.agents.find((one) => one.name === attempt.agent)?.role ?? '';
  const opened = await openPlace(ports, place, {
    ...{ task: attempt.taskId, name, number: attempt.number },
    // A copy would cost more than it helps agents that change nothing.
    wants: (step) => builds || (step.for?.includes(roleOf()) ?? step.reuse === undefined),
  });
  if (opened.type === 'refused') return opened;
  // An agent that changes nothing needs no secret, though the `setup` of its folder may have.
  await (builds ? ports.copies.put(opened.workspace) : ports.copies.takeOut(opened.workspace));
  if (opened.folder !== null && place.own) await ports.workspaces.noteIgnored(opened.folder);
  // `full` holds only in a folder of the task's own.
  const access =
    opened.folder === null && request.access.level === 'full' ? ({ level: 'edit' } as const) : request.access;
  const gitSettings = await ports.workspaces.agentSettings();
  const workspace = { ...(await ports.folderPorts.place(opened.workspace)), gitSettings };
  return { type: 'ready', request: { ...request, access, workspace } };
}

/**
 * The request with its folder, and the home of its session, where they are now: state folder and repository may have been moved, also to
 * another machine. `work`: the folder with those of the run's tasks.
 */
export function followPlaces(
  request: TurnRequest,
  { stateDirectory }: { readonly stateDirectory: string },
  work: string,
): TurnRequest {
  const { session, workspace } = request;
  const below = workspace.path.lastIndexOf(`${sep}${basename(work)}${sep}`);
  const path = join(dirname(work), below === -1 ? '' : workspace.path.slice(below));
  // The former one may still be there: it is another engine's.
  const placed =
    below !== -1 && path !== workspace.path && existsSync(path)
      ? { ...request, workspace: { ...workspace, path } }
      : request;
  const at = session?.home.lastIndexOf(HOMES) ?? -1;
  if (session === undefined || at === -1 || existsSync(session.home)) return placed;
  const home = join(stateDirectory, session.home.slice(at));
  return existsSync(home) ? { ...placed, session: { ...session, home } } : placed;
}

/** `kept`: the folder with their contents. */
export function createCopies(kept: string, files: readonly CopiedFile[] = []): Copies {
  return {
    put: async ({ path, repository }) => (repository === true ? putCopies(kept, path, files) : undefined),
    takeOut: async ({ path, repository }) => (repository === true ? takeOutCopies(path, files) : undefined),
  };
}

/**
 * Refuses a turn that was claimed before the deadline and would start after it, because an engine was gone or `setup` took long.
 * It counts as a turn and for no other limit, and starts once a person lets the run work past the deadline.
 */
export function startsInTime(facts: DeadlineFacts, prepare: Prepare): Prepare {
  return async (attempt, request) => {
    const isNew = attempt.process === null && attempt.kind === 'turn';
    const before = isNew ? refusalOf(facts) : undefined;
    if (before !== undefined) return before;
    const prepared = await prepare(attempt, request);
    return (isNew ? refusalOf(facts) : undefined) ?? prepared;
  };
}

function refusalOf({ ledger, clock, runId, board }: DeadlineFacts): Prepared | undefined {
  const message = passedDeadline(board() ?? boardOnRecord(ledger, runId), clock.now());
  return message === undefined
    ? undefined
    : { type: 'refused', failure: { kind: 'cancelled', message, mayHaveActed: false } };
}

/** With commands that no engine has applied yet. */
function boardOnRecord(ledger: Ledger, runId: string): Board {
  const { board, pendingRequests } = readRun(ledger, runId, null);
  return predictBoard(board, pendingRequests);
}
