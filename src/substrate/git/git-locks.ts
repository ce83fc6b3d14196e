import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlainSync } from '../system/files/read-plain.ts';
import { SquadError } from '../../model/errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { realPath } from '../system/files/real-path.ts';
import { findUsers } from '../system/process/folder-users.ts';
import { readProcess } from '../system/process/process-table.ts';

/** The lock that git names where it cannot take it; undefined: it failed for another reason. Its words are in the user's language. */
export function lockIn(stderr: string): string | undefined {
  const path = /(\/[^'"\n]*\.lock)(?!\w)/.exec(stderr)?.[1];
  return path !== undefined && existsSync(path) ? path : undefined;
}

/**
 * The refusal of a command that needs a lock which is there. squad never removes one of a git that it did not start: who holds it may
 * be alive, and out of sight.
 */
export function lockedError(lock: string, cause?: unknown): SquadError {
  const [first, ...more] = gitsAt(lock);
  const pids = [first, ...more].join(', ');
  return new SquadError({
    code: 'git-locked',
    message:
      first === undefined
        ? `${lock} locks the repository, and no git that this user can see is at work there: one that was killed has probably left it`
        : `${lock} locks the repository, and git (PID ${pids}) is at work there`,
    next:
      first === undefined
        ? `Delete the file with \`rm ${shellWord(lock)}\`, and give the command again.`
        : 'Wait until that git has ended, and give the command again.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The processes of git, without those that this process started, at work in the repository of a lock or in the lock's checkout. */
export function gitsAt(lock: string): readonly number[] {
  const found = placesOf(lock).flatMap((place) => findUsers(realPath(place) ?? place));
  return [...new Set(found)].filter((pid) => isGit(pid) && readProcess(pid)?.parent !== process.pid);
}

function placesOf(lock: string): readonly string[] {
  const [, directory, linked] = /^(.*?\/\.git)(?:\/worktrees\/([^/]+))?\//.exec(lock) ?? [];
  if (directory === undefined) return [dirname(lock)];
  if (linked === undefined) return [dirname(directory)];
  try {
    const checkout = readPlainSync(join(directory, 'worktrees', linked, 'gitdir')).trim();
    return [dirname(directory), dirname(checkout)];
  } catch {
    // The checkout is gone.
    return [dirname(directory)];
  }
}

function isGit(pid: number): boolean {
  try {
    return /^git\b/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));
  } catch {
    // It has ended.
    return false;
  }
}
