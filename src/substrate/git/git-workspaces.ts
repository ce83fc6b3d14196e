import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CopiedFile } from '../../model/copied-file.ts';
import { diskError, storageError } from '../../model/storage-error.ts';
import type { LineChange } from '../ports/changes.ts';
import type { RepositoryReport, Workspaces } from '../ports/workspaces.ts';
import { makeOwnFolder } from '../system/files/own-folder.ts';
import { scratchRoot } from '../system/files/scratch.ts';
import { isAncestor, mergeBase } from './ancestry.ts';
import { bringBack, hasMade, makeAnew, noteMade } from './check-folder.ts';
import { closeRun, dropBranchAt, dropOwnFolder, dropRefs, listFolders } from './cleaning.ts';
import { changedFiles, commitsBetween, diffStat, isFileAt, readFileAt } from './evidence.ts';
import { flush } from './flush.ts';
import { BASELINE } from './folder-note.ts';
import { addFolder } from './folders.ts';
import { createGit, type GitPorts, requireCommitId, splitEntries } from './git-call.ts';
import { anyPlace, callOnUser, type GitContext, notePath, type SpareSettings } from './git-context.ts';
import { ignoredWork, noteIgnored } from './ignored-files.ts';
import { advance, createRunBranch, integrate, integrationAt, keepAttempt } from './integration.ts';
import { keepCommits } from './keep-commits.ts';
import { copiesNote, type KnownCopy, LEAST_BYTES, objectOf } from './known-copies.ts';
import { openRun } from './open-run.ts';
import { overlay } from './overlay.ts';
import { NOT_THERE } from './raw-diff.ts';
import { moveFolder, removeFolder, resetFolder, standOn } from './removal.ts';
import { createTalk } from './repository-talk.ts';
import { requirePresent, requireState } from './require-present.ts';
import { rescue, snapshotOf } from './rescue.ts';
import { checkoutOf, headOf } from './run-branch.ts';
import { namedAt } from './originals/made-paths.ts';
import { reuseMade } from './originals/reuse-made.ts';
import { dropOriginals, tidyOriginals } from './originals/tidy-originals.ts';
import { dropSpares, tidySpares } from './spare/spare-folders.ts';
import { type ConfigEntry, decideAgentSettings, readUserConfiguration } from './user-configuration.ts';

const OPTIONS = ['--raw', '--numstat', '-r', '-z', '--find-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
const STATUS: Readonly<Record<string, LineChange['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
};

export interface WorkspacePlaces {
  readonly stateDirectory: string;
  readonly runsDirectory: string;
  /** Absent: no folder is used again, and nothing is done with those that are kept. */
  readonly spares?: Partial<SpareSettings>;
  /** See `GitContext`. */
  readonly sparse?: readonly string[] | undefined;
}

const SPARES: SpareSettings = { most: 0, from: 256, freeBytes: 2e9 };

/** `stateDirectory` is squad's own; `runsDirectory` gets a folder for each run. Has no side effects until a method is called. */
export function createGitWorkspaces(
  ports: GitPorts & WorkspacePlaces,
  repository: Pick<RepositoryReport, 'commonDirectory'>,
): Workspaces {
  const context = createContext(ports, repository);
  const ready = createReady(context);
  return {
    agentSettings: () => ready(async () => decideAgentSettings(await context.userConfiguration(), ports.environment)),
    addFolder: (place) => ready(() => addFolder(context, place)),
    moveFolder: (folder, commit, attempt) => ready(() => moveFolder(context, folder, commit, attempt)),
    standOn: (folder, commit, index) => ready(() => standOn(context, folder, requireCommitId(commit), index)),
    snapshot: (folder) => ready(() => snapshotOf(context, folder)),
    keepCommits: (folder, attempt) => ready(() => keepCommits(context, folder, attempt)),
    rescue: (folder, attempt) => ready(() => rescue(context, folder, attempt)),
    removeFolder: (folder, attempt, failed) => ready(() => removeFolder(context, folder, attempt, failed)),
    noteCopies: (run, files, kept) => ready(() => noteCopies(context, run, files, kept)),
    noteIgnored: (folder) => ready(() => noteIgnored(context, folder)),
    ignoredWork: (folder, head) => ready(() => ignoredWork(context, folder, requireCommitId(head))),
    resetFolder: (folder, order) => ready(() => resetFolder(context, folder, order)),
    keepAttempt: (run, attempt, commit) => ready(() => keepAttempt(context, run, attempt, commit)),
    createRunBranch: (run, base, pins = [], owner) => ready(() => createRunBranch(context, run, base, pins, owner)),
    checkoutOf: (run) => ready(() => checkoutOf(context, run)),
    runHead: (run) => ready(() => headOf(context, run)),
    integrate: (work) => ready(() => integrate(context, work)),
    integrationAt: (run, candidate) => ready(() => integrationAt(context, run, candidate)),
    noteMade: (folder) => ready(() => noteMade(context, folder)),
    hasMade: (folder) => ready(() => hasMade(context, folder)),
    bringBack: (folder, keep, ignored) => ready(() => bringBack(context, folder, keep, ignored)),
    makeAnew: (folder, keep) => ready(() => makeAnew(context, folder, keep)),
    baselineAt: (run, base) => ready(() => addFolder(context, { run, task: BASELINE, commit: requireCommitId(base) })),
    dropBaseline: (run) => ready(() => dropOwnFolder(context, run, BASELINE)),
    advance: (run, from, to) => ready(() => advance(context, run, from, to)),
    dropBranch: (run, head) => ready(() => dropBranchAt(context, run, requireCommitId(head))),
    reuseMade: (folder, order, make) => ready(() => reuseMade(context, folder, order, make)),
    namedAt: (commit, names) => ready(() => namedAt(context, commit, names)),
    tidySpares: (commit) => ready(async () => (await tidySpares(context, commit)) || tidyOriginals(context)),
    dropSpares: (dryRun = false) =>
      ready(async () => (await dropOriginals(context, dryRun)) + (await dropSpares(context, dryRun))),
    close: () => closeContext(context),
    closeRun: (run) => ready(() => closeRun(context, run)),
    listFolders: (run) => ready(() => listFolders(context, run)),
    dropRefs: (run, keep, owner) => ready(() => dropRefs(context, run, keep, owner)),
    commitsBetween: (base, commit, merges) => ready(() => commitsBetween(context, base, commit, merges)),
    changedFiles: (base, commit) => ready(() => changedFiles(context, base, commit)),
    overlay: (run, order) => ready(() => overlay(context, run, order)),
    changedLines: (base, commit) => ready(() => changedLines(context, base, commit)),
    diffStat: (base, commit) => ready(() => diffStat(context, base, commit)),
    mergeBase: (one, other) => ready(() => mergeBase(context, requireCommitId(one), requireCommitId(other))),
    isAncestor: (ancestor, commit) =>
      ready(() => isAncestor(context, requireCommitId(ancestor), requireCommitId(commit))),
    isFileAt: (commit, path) => ready(() => isFileAt(context, commit, path)),
    readFileAt: (commit, path, most) => ready(() => readFileAt(context, commit, path, most)),
  };
}

type Ready = <T>(work: () => Promise<T>) => Promise<T>;

/** Checks before and after each call that the repository and squad's folder of it are still there. */
function createReady(context: GitContext): Ready {
  const state = dirname(context.runsDirectory);
  const hasState = existsSync(state);
  const requirePlaces = (): void => {
    if (hasState) requireState(state);
    requirePresent(context.commonDirectory);
  };
  // The TMPDIR of every git process, so it must exist before the first.
  return async (work) => {
    requirePlaces();
    makeOwnFolder(dirname(context.temporary));
    try {
      mkdirSync(context.temporary, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw storageError(context.temporary, error);
    }
    try {
      return await work();
    } catch (error) {
      throw diskError(context.temporary, error);
    } finally {
      // Whatever was found or not found, and whatever failed, says nothing if they were moved meanwhile.
      requirePlaces();
    }
  };
}

function createContext(
  ports: GitPorts & WorkspacePlaces,
  repository: Pick<RepositoryReport, 'commonDirectory'>,
): GitContext {
  const { commonDirectory } = repository;
  const marker = `git-${randomUUID()}`;
  // A folder of this name in TMPDIR is how a process shows its marker (`carriesMarker`).
  const temporary = join(scratchRoot(ports.stateDirectory), `squad-${marker}`);
  const git = createGit(ports, temporary);
  let configuration: Promise<readonly ConfigEntry[]> | undefined;
  return {
    git,
    talk: createTalk(git, callOnUser(commonDirectory), { stateDirectory: ports.stateDirectory, commonDirectory }),
    processes: ports.processes,
    commonDirectory,
    runsDirectory: ports.runsDirectory,
    temporary,
    marker,
    environment: ports.environment,
    userConfiguration: () => (configuration ??= readUserConfiguration(ports, git, commonDirectory)),
    runs: new Map(),
    spares: { ...SPARES, ...ports.spares },
    sparse: ports.sparse,
    integration: Promise.resolve(),
  };
}

/** The runs' markers go with the processes that they name. */
async function closeContext(context: GitContext): Promise<void> {
  context.talk.close();
  for (const [run, opening] of context.runs) {
    (await opening.catch(() => undefined))?.talk.close();
    if (await isFlushed(context, run)) await rm(notePath(context, run, 'engine'), { force: true });
  }
  // `squad clean` removes leftovers. A failure here must not hide how the work ended.
  await rm(context.temporary, { recursive: true, force: true }).catch(() => undefined);
}

/** Agents flush nothing of what they leave in their folders. With the marker, a power cut later on makes the next engine look at it. */
async function isFlushed(context: GitContext, run: string): Promise<boolean> {
  const folder = join(context.runsDirectory, run);
  const tasks = (await readdir(folder).catch(() => [])).filter((name) => name !== '.squad');
  return tasks.length === 0 || flush(context, folder);
}

async function changedLines(context: GitContext, base: string, commit: string): Promise<readonly LineChange[]> {
  const ids = [requireCommitId(base), requireCommitId(commit)];
  const output = join(context.temporary, `lines-${randomUUID()}`);
  try {
    await context.git.text(
      ['diff-tree', ...OPTIONS, '--ignore-submodules=none', `--output=${output}`, ...ids, '--'],
      (await anyPlace(context)).call,
    );
    return parseChangedLines(await readFile(output, 'utf8'));
  } finally {
    await rm(output, { force: true });
  }
}

/** The raw entries first, then `added TAB removed TAB` and a path for each; a rename has both of its paths. */
function parseChangedLines(text: string): LineChange[] {
  const fields = splitEntries(text);
  const found: Omit<LineChange, 'added' | 'removed'>[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':') === true) {
    const [, newMode = '', , object = '', letter = ''] = (fields[at] ?? '').split(' ');
    const status = STATUS[letter.slice(0, 1)] ?? 'modified';
    const path = fields[at + 1] ?? '';
    const to = status === 'renamed' ? { to: fields[at + 2] ?? '' } : {};
    found.push({ path, status, object: newMode === NOT_THERE ? null : object, ...to });
    at += status === 'renamed' ? 3 : 2;
  }
  return found.map((one) => {
    const [, added = '', removed = ''] = /^(\d+|-)\t(\d+|-)\t/.exec(fields[at] ?? '') ?? [];
    at += one.status === 'renamed' ? 3 : 1;
    return { ...one, added: countOf(added), removed: countOf(removed) };
  });
}

function countOf(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** Notes the files before the first of them is in a folder. `kept`: the folder with their contents. */
async function noteCopies(context: GitContext, run: string, files: readonly CopiedFile[], kept: string): Promise<void> {
  const repository = await openRun(context, run);
  const hash = (await headOf(context, run))?.length === 64 ? 'sha256' : 'sha1';
  const noted: KnownCopy[] = [];
  for (const { path, bytes, hash: name } of files) {
    const known = { path: Buffer.from(path).toString('latin1'), bytes };
    const object = bytes < LEAST_BYTES ? undefined : await objectAt(hash, join(kept, name));
    const isPublic = object !== undefined && (await context.talk.find(object)) !== undefined;
    noted.push(isPublic || object === undefined ? known : { ...known, object });
  }
  const note = copiesNote(repository.directory);
  await writeFile(`${note}.new`, JSON.stringify(noted), { mode: 0o600 });
  await rename(`${note}.new`, note);
}

/** A content that is lost is put nowhere any more. */
async function objectAt(hash: 'sha1' | 'sha256', path: string): Promise<string | undefined> {
  const content = await readFile(path).catch(() => undefined);
  return content && objectOf(hash, content);
}
