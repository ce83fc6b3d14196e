import { constants, existsSync, lstatSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { SquadError, usageError } from '../model/errors.ts';
import { storageError } from '../model/storage-error.ts';
import { boundPlace, isBoundTo } from '../substrate/system/files/state-place.ts';
import { backUpLedger, hasLedger, holderHere, ledgerPath, lockWorkspace } from '../substrate/ledger/index.ts';
import { plainLine } from '../text/plain-text.ts';
import { bindWorkspace, openWorkspace, withLedger, type OpenedWorkspace, type Place } from './open-workspace.ts';

export interface AdoptedState {
  readonly id: string;
  readonly directory: string;
  readonly from: string;
  readonly runs: readonly string[];
}

/** Every place has its own: locks, what the state belongs to, a database's memory, what this person agreed to. */
const LEFT = /^(?:lock\.|place\.json|moved\.json|ballast$|trust\.json$|\.gitignore$|squad\.db|.*-(?:shm|journal)$)/;

/**
 * Copies the state of another place to this repository: ledger, turns, checkpoints, folders of tasks. The other place stays as it
 * is. squad asks for consent again before anything of these runs starts. Throws `usage` if this repository has runs already.
 */
export async function adoptState(place: Place, folder: string): Promise<AdoptedState> {
  const workspace = await openWorkspace(place);
  const from = resolve(place.host.workingDirectory, folder);
  refuse(workspace, from);
  return takeState(workspace, from);
}

/** As `adoptState`, for a caller who knows that the ledger that is here, if there is one, may not be used. */
export async function takeState(workspace: OpenedWorkspace, from: string): Promise<AdoptedState> {
  const { composition, host } = workspace;
  const lock = lockWorkspace(from, holderHere(host.pid, composition.clock.now()));
  try {
    const bound = bindWorkspace(workspace);
    // A state that was put where it belongs needs no more than that.
    if (bound.directory !== from) {
      await copyAll(from, bound.directory);
      // Last: until then nothing has been taken over, and the same call begins again.
      await backUpLedger(ledgerPath(from), ledgerPath(bound.directory));
    }
    const runs = await withLedger(bound, 'read', (ledger) => ledger.runs().map(({ name }) => name));
    return { id: basename(bound.directory), directory: bound.directory, from, runs };
  } catch (error) {
    throw storageError(from, error);
  } finally {
    lock.release();
  }
}

function refuse({ host, repository, state }: OpenedWorkspace, from: string): void {
  const shown = plainLine(from, 300);
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true || !existsSync(ledgerPath(from))) {
    throw usageError(
      `${shown} is no state of squad: it has no squad.db`,
      'Name the folder with squad.db: `<state folder>/<id>`.',
    );
  }
  if (state.type === 'known' && hasLedger(state.directory)) {
    throw usageError(
      `this repository has runs of its own in ${state.directory}`,
      'Look at them with `squad runs`. To take over the others, use a new clone.',
    );
  }
  const elsewhere = boundPlace(from);
  if (elsewhere === undefined || elsewhere === repository.commonDirectory || !isBoundTo(from, elsewhere)) return;
  throw new SquadError({
    code: 'usage',
    message: `${shown} is in use by the repository at ${plainLine(elsewhere, 300)}`,
    next: `Work there, or remove that repository first. This one keeps its state below ${host.stateDirectory}.`,
  });
}

/** Where the folders of tasks are in a state. */
const WORK = 'work';

/** Plain files and folders; links in folders of tasks only, as they are. `inside`: the folder at the top that this is in. */
async function copyAll(from: string, to: string, inside?: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name } of await readdir(from, { withFileTypes: true })) {
    if (inside === undefined && LEFT.test(name)) continue;
    const top = inside ?? name;
    const [source, target] = [join(from, name), join(to, name)];
    const stats = await lstat(source);
    if (stats.isDirectory()) await copyAll(source, target, top);
    else if (stats.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
    else if (stats.isSymbolicLink() && top === WORK) {
      await rm(target, { force: true });
      await symlink(await readlink(source), target);
    }
  }
}
