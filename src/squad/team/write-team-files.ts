import { mkdirSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isSquadError, SquadError } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import type { Team } from '../../model/sprint/team.ts';
import { hasLedger, holderHere, lockWorkspace, type WorkspaceLock } from '../../substrate/ledger/index.ts';
import { confine } from '../../substrate/system/files/confine.ts';
import { type HashLog, openHashLog } from '../../substrate/system/files/hash-log.ts';
import { refuseLinks } from '../../substrate/system/files/refuse-links.ts';
import { sharedFolder, type SharedFolder } from '../../substrate/system/files/shared-folder.ts';
import { isKickoff } from '../../view/report/team/sprint-files.ts';
import { firstFiles, lastFiles, teamFiles } from '../../view/report/team/team-files.ts';
import { INBOX, type TeamFile } from '../../view/report/team/team-file.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { gatherFacts } from './gather-facts.ts';
import { teamIn } from './read-team.ts';

/** Another writer is done in a moment, and its files may be older than the records by then. */
const LOOK_MS = 100;
const MOST_LOOKS = 300;
/** In the hash log, of a file that squad has removed. */
const GONE = '';

export interface TeamFolder {
  /** From the root of the repository; absent: no files are written. */
  readonly folder?: string | undefined;
  readonly timezone: string;
}

export interface WrittenTeam {
  readonly written: readonly string[];
  /** Files of a person that had the name of one of squad's, and the names under which they are kept. */
  readonly kept: readonly { readonly path: string; readonly as: string }[];
  readonly removed: readonly string[];
}

const NOTHING: WrittenTeam = { written: [], kept: [], removed: [] };

/**
 * Brings the files below the folder of the team up to its records. Writes only what has changed; a sprint that has ended is written once more,
 * then left alone. `all`: looks at the files of each sprint again. Safe to repeat at any time, and after a kill.
 */
export async function writeTeamFiles(
  workspace: OpenedWorkspace,
  { folder, timezone }: TeamFolder,
  { all = false }: { readonly all?: boolean } = {},
): Promise<WrittenTeam> {
  const { repository, directory, composition } = workspace;
  if (folder === undefined || !hasLedger(directory)) return NOTHING;
  const lock = await lockFiles(workspace);
  try {
    await refuseLinks(repository.root, folder, mkdir);
    const root = await realpath(confine(repository.root, folder));
    const log = await openHashLog(join(directory, 'team', 'files.jsonl'));
    const shared = sharedFolder(root);
    await shared.removeUnfinished(begunIn(log));
    const files = await withLedger(workspace, 'read', async (ledger) => {
      const team = teamIn(ledger);
      const isThere = (path: string): boolean => log.isWritten(path) && shared.stamp(path) !== undefined;
      const sprints = all ? [...team.sprint.keys()] : openSprints(team, isThere);
      return teamFiles(team, await gatherFacts(workspace, ledger, team, { timezone, sprints, isThere }));
    });
    const redactor = composition.redactor([]);
    const clean = files.map(({ path, text }) => ({
      path,
      text: typeof text === 'string' ? redactor.text(text) : text,
    }));
    return await put({ shared, log, timezone }, clean);
  } finally {
    lock.release();
  }
}

async function lockFiles({ directory, composition: { clock } }: OpenedWorkspace): Promise<WorkspaceLock> {
  const folder = join(directory, 'team');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let left = MOST_LOOKS; ; left -= 1) {
    try {
      return lockWorkspace(folder, holderHere(process.pid, clock.now()), true);
    } catch (error) {
      if (!isSquadError(error) || error.code !== 'workspace-busy') throw error;
      if (left === 0) throw busy(error);
      await clock.sleep(LOOK_MS);
    }
  }
}

function busy(cause: unknown): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: 'another process has been writing the files of the team for a long time',
    next: 'They follow from the records: run the command again, or leave it to the next one.',
    cause,
  });
}

/** Files whose writing a kill may have cut. */
function begunIn(log: HashLog): string[] {
  return [...log.paths].filter((path) => !log.isSettled(path));
}

/** Those that have no entry in the history yet. */
function openSprints(team: Team, isThere: (path: string) => boolean): string[] {
  return [...lastFiles(team)].flatMap(([id, path]) => (team.end.has(id) && isThere(path) ? [] : [id]));
}

interface Target {
  readonly shared: SharedFolder;
  readonly log: HashLog;
  readonly timezone: string;
}

async function put({ shared, log, timezone }: Target, files: readonly TeamFile[]): Promise<WrittenTeam> {
  const first = new Map(firstFiles(timezone).map(({ path, text }) => [path, sha256Of(text)]));
  const due = files
    .map((file) => ({ ...file, sha256: sha256Of(file.text) }))
    .filter(({ path, sha256 }) => {
      const isThere = shared.stamp(path) !== undefined;
      return !(isThere && (log.isCurrent(path, sha256) || (isKickoff(path) && log.isWritten(path))));
    });
  const written: string[] = [];
  const kept: { path: string; as: string }[] = [];
  const errors: unknown[] = [];
  // A kill from here on leaves files that squad knows as its own.
  await log.add(due);
  for (const { path, text, sha256 } of due) {
    const isOurs = (hash: string): boolean => log.has(path, hash) || first.get(path) === hash;
    try {
      // The entry of a sprint in the history says that all else is there.
      if (errors.length > 0 && isLast(path)) continue;
      const answer = await shared.put({ path, text, stamp: undefined, isOurs });
      await log.confirm([{ path, sha256 }]);
      written.push(path);
      if (answer.kept !== undefined) kept.push({ path, as: answer.kept });
    } catch (error) {
      errors.push(error);
    }
  }
  const removed = errors.length > 0 ? [] : await removeEnded(shared, log, new Set(files.map(({ path }) => path)));
  if (errors.length > 0) throw errors[0];
  return { written, kept, removed };
}

function isLast(path: string): boolean {
  return path.startsWith('shared_workspace/sprint_history/');
}

/** Messages and delegations that have ended are in the archive by now. */
async function removeEnded(shared: SharedFolder, log: HashLog, there: ReadonlySet<string>): Promise<string[]> {
  const ended = [...log.paths].filter(
    (path) => path.startsWith(`${INBOX}/`) && !there.has(path) && !log.has(path, GONE),
  );
  for (const path of ended) await shared.remove({ path, isOurs: (hash) => log.has(path, hash) });
  await log.confirm(ended.map((path) => ({ path, sha256: GONE })));
  return ended;
}
