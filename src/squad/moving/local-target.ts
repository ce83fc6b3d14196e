import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isSquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import type { MovePlace } from '../../model/moved-mark.ts';
import { placedAt } from '../../model/run.ts';
import { unknownRun } from '../../model/unknown-name.ts';
import { missingCommits } from '../../substrate/git/run-bundle.ts';
import { holderHere, ledgerPath, lockWorkspace, type WorkspaceLock } from '../../substrate/ledger/index.ts';
import { FILE_ENDS } from '../../substrate/ledger/open-db.ts';
import { readMark, removeMark, writeMark } from '../../substrate/ledger/moved-mark.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { listUnfinished, mostUrgent } from '../../view/unfinished.ts';
import { startDetachedEngine } from '../detached-engine.ts';
import { bindWorkspace, lookIn, openWorkspace, runNamed, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { missingForRun } from '../preflight/run-programs.ts';
import { agreeToRun, itemsOfComing, rememberAgreed } from '../run-consent.ts';
import type { Agreed, Begun, ComingRun, Looked } from './move-messages.ts';
import { unpackRuns } from './unpack.ts';

/** For runs that would come here: all that needs consent, and all that is missing. */
export async function readComing(
  workspace: OpenedWorkspace,
  coming: readonly ComingRun[],
): Promise<Pick<Looked, 'items' | 'problems'>> {
  const { composition, host, repository } = workspace;
  const left = coming.filter(({ unfinished }) => unfinished);
  const items = await Promise.all(
    left.map(async ({ definition, limits }) => itemsOfComing(workspace, placedAt(definition, repository.root), limits)),
  );
  const bases = await missingCommits(
    composition.git,
    repository,
    coming.map(({ base }) => base),
  );
  const lacks = bases.map((base) => {
    const named = coming.filter((run) => run.base === base).map(({ name }) => name);
    return `the commit ${base}, with which ${named.join(', ')} began, is not there: \`git fetch\` it first`;
  });
  const programs = await Promise.all(
    left.map(async ({ definition }) => missingForRun(composition, host, placedAt(definition, repository.root))),
  );
  return { items: items.flat(), problems: [...new Set([...lacks, ...programs.flat()])] };
}

interface Arrival {
  readonly move: string;
  readonly other: MovePlace;
  readonly pack: string;
  readonly agreed: readonly Agreed[];
}

/** See `MovingSide.take`. */
export async function takeMoved(place: Place, { move, other, pack, agreed }: Arrival): Promise<string> {
  const workspace = bindWorkspace(await openWorkspace(place));
  const { directory, composition, state } = workspace;
  const lock = lockToMove(workspace);
  try {
    const mark = readMark(directory);
    const before = mark?.type === 'arriving' ? mark.before : mark?.type === 'moved' ? mark : undefined;
    refuseOthers(workspace, other);
    const arriving = { version: 1, type: 'arriving', move, other, at: composition.clock.now() } as const;
    await unpackRuns(place, pack, async () => {
      failpoint('arrive.checked');
      writeMark(directory, before === undefined ? arriving : { ...arriving, before });
      failpoint('arrive.marked');
      await clearStale(directory);
      failpoint('arrive.cleared');
    });
    failpoint('arrive.taken');
    for (const one of agreed) await rememberAgreed(workspace, one);
    return state.type === 'known' ? state.id : '';
  } finally {
    lock.release();
  }
}

/** Throws where something stands that is not a copy of an earlier move between the two. */
function refuseOthers({ directory, repository, composition }: OpenedWorkspace, other: MovePlace): void {
  const mark = readMark(directory);
  if (mark?.type === 'arriving' || mark?.type === 'moved') {
    if (mark.other.id !== undefined && mark.other.id === other.id) return;
  } else if (
    mark?.type !== 'moving' &&
    lookIn({ directory, composition }, (ledger) => ledger.runs().length) === undefined
  )
    return;
  throw usageError(
    `the repository at ${repository.root} has runs of its own, or those of another move`,
    'Look at them there with `squad runs`, or move into a new clone.',
  );
}

/** Removes the leavings of an earlier stay: a ledger that is out of date, and all that was made from it. Output of turns and reports stay. */
async function clearStale(directory: string): Promise<void> {
  for (const file of [ledgerPath(directory), join(directory, 'checkpoints.db')])
    for (const end of FILE_ENDS) rmSync(file + end, { force: true });
  const problem = await deleteFolder(join(directory, 'work'));
  if (problem !== undefined)
    throw wrongEnvironment(`${join(directory, 'work')} cannot be removed: ${problem}`, 'Remove it yourself.');
}

function lockToMove({ directory, host, composition }: OpenedWorkspace): WorkspaceLock {
  return lockWorkspace(directory, holderHere(host.pid, composition.clock.now()), false, { moves: true });
}

/** See `MovingSide.discard`. */
export async function discardMoved(place: Place, move: string): Promise<void> {
  const workspace = await openWorkspace(place);
  const { directory, state } = workspace;
  if (state.type !== 'known') return;
  const lock = lockToMove(workspace);
  try {
    const mark = readMark(directory);
    if (mark?.type !== 'arriving' || mark.move !== move) return;
    await clearStale(directory);
    if (mark.before === undefined) removeMark(directory);
    else writeMark(directory, mark.before);
  } finally {
    lock.release();
  }
}

/** See `MovingSide.begin`. `squad`: the program that starts an engine. */
export async function beginMoved(
  place: Place,
  squad: readonly string[],
  { move, run }: { readonly move: string; readonly run: string | undefined },
): Promise<Begun> {
  const workspace = await openWorkspace(place);
  const { directory } = workspace;
  const mark = readMark(directory);
  if ((mark?.type !== 'arriving' && mark?.type !== 'here') || mark.move !== move)
    throw usageError('the runs of this move are not here', 'Look at both repositories with `squad runs`.');
  if (mark.type === 'arriving') {
    const { other, at } = mark;
    writeMark(directory, { version: 1, type: 'here', move, other, at });
    failpoint('arrive.released');
  }
  const chosen = chooseMoved(workspace, run);
  if (chosen === undefined) return { began: false };
  if (probeLock(directory) !== null) return { run: chosen.name, began: true };
  try {
    await agreeToRun(workspace, chosen.runId, undefined);
    const { segments } = chosen;
    const started = await startDetachedEngine(workspace, {
      name: chosen.name,
      command: [...squad, 'resume', chosen.runId, '--plain'],
      begun: (ledger) => (ledger.segments(chosen.runId).length > segments ? chosen.runId : undefined),
    });
    return started.began
      ? { run: chosen.name, began: true }
      : { run: chosen.name, began: false, problem: started.said.slice(0, 5000) };
  } catch (error) {
    if (!isSquadError(error)) throw error;
    return { run: chosen.name, began: false, problem: error.message.slice(0, 5000) };
  }
}

/** The named run, if it is not over, or the one that needs an engine most. */
function chooseMoved(workspace: OpenedWorkspace, run: string | undefined) {
  return lookIn(workspace, (ledger, lockedBy, now) => {
    const all = listUnfinished(ledger, lockedBy, now);
    const row = run === undefined ? undefined : runNamed(workspace, ledger, run);
    if (run !== undefined && row === undefined)
      throw unknownRun(
        run,
        ledger.runs().map(({ name }) => name),
      );
    const found = row === undefined ? mostUrgent(all, false) : all.find(({ runId }) => runId === row.id);
    if (found === undefined) return undefined;
    return { runId: found.runId, name: found.name, segments: ledger.segments(found.runId).length };
  });
}
