import type { Problem } from '../../text/problem.ts';
import { roleFileFindings } from '../session/check-cast.ts';
import { checkSession, judgeSession } from '../session/check-session.ts';
import { ANALYSIS_FILE, roleAt, rolePath, shown, STATE_FILE, type Finding } from '../session/finding.ts';
import type { FolderRead, SessionRefusal } from '../session/folder-read.ts';
import { problemsOf } from '../session/refusal.ts';
import { isBegunEmpty, keptRoles, rolePathProblem } from './team-files.ts';

/** Files of a folder that holds a part of a session: those that stay, and those that squad replaces. */
export interface KeptFiles {
  readonly kept: readonly { readonly path: string; readonly text: string }[];
  /** Paths of files that are there and are made anew. */
  readonly invalid: readonly string[];
}

type Begun =
  | { readonly type: 'complete' }
  /** Nothing is missing, but no run could do all its tasks. */
  | { readonly type: 'outgrown'; readonly refusal: SessionRefusal }
  | (KeptFiles & { readonly type: 'partly' })
  /** Files are wrong that no planner makes. */
  | { readonly type: 'refused'; readonly problems: readonly Problem[] }
  /** There is no folder. */
  | { readonly type: 'absent'; readonly why: string };

/** A file is kept if nothing is wrong with it. */
export function keptFrom(read: FolderRead): Begun {
  const { findings, sources } = judgeSession(read);
  const [first] = findings;
  if (first === undefined) {
    const checked = checkSession(read);
    return checked.ok ? { type: 'complete' } : { type: 'outgrown', refusal: checked };
  }
  if (!read.folders.includes('')) return { type: 'absent', why: first.message };
  const wrong = new Set(findings.map(({ file }) => file));
  const files = [...read.files];
  const valid = files.flatMap(([path, file]) =>
    'text' in file && isRead(path) && !wrong.has(path) ? [{ path, text: file.text }] : [],
  );
  const roles = keptRoles({ kept: valid });
  // Without a state that says who acts, no role file was judged yet.
  const { required, other } = roleFileFindings(roles, read.files);
  for (const { file } of [...required, ...other]) wrong.add(file);
  const kept = valid.filter(({ path }) => !wrong.has(path));
  const made = new Set([...roles].map(rolePath));
  const foreign = [
    ...findings.filter(({ file }) => !isMade(file, read, made)),
    ...unwritableRoles(roles, kept),
    ...(roles.size > 0 ? [] : looseRoleFindings(kept, read)),
  ];
  if (foreign.length > 0) return { type: 'refused', problems: problemsOf(read.folder, sources, foreign) };
  return { type: 'partly', kept, invalid: files.flatMap(([path]) => (wrong.has(path) ? [path] : [])) };
}

/** Whether the answer of a planner makes the file, or squad does. `roles`: the files of the roles that the session certainly has. */
function isMade(path: string, { files }: FolderRead, roles: ReadonlySet<string>): boolean {
  if (path === STATE_FILE || path === ANALYSIS_FILE || isBegunEmpty(path)) return true;
  return roles.has(path) || (/^roles(?:\/|$)/.test(path) && !files.has(path));
}

/** Roles of the files that stay, whose own files squad cannot write. */
function unwritableRoles(roles: ReadonlySet<string>, kept: KeptFiles['kept']): Finding[] {
  const there = new Set(kept.map(({ path }) => path));
  const file = there.has(STATE_FILE) ? STATE_FILE : ANALYSIS_FILE;
  return [...roles].flatMap((name): Finding[] => {
    const path = rolePath(name);
    const problem = there.has(path) ? undefined : rolePathProblem(path);
    if (problem === undefined) return [];
    const message = `${file} has a role that needs another name: its file ${shown(path)} ${problem}`;
    return [{ file, at: ['roles'], message, advice: 'correct' }];
  });
}

/**
 * Refuses role files if no file that stays names the roles: the planner could not correct them, and it might name a role whose file squad
 * then leaves out.
 */
function looseRoleFindings(kept: KeptFiles['kept'], { files }: FolderRead): Finding[] {
  const { required, other } = roleFileFindings(
    kept.flatMap(({ path }) => roleAt(path) ?? []),
    files,
  );
  return [...required, ...other];
}

/** A planner has to know it. */
function isRead(path: string): boolean {
  return path === STATE_FILE || path === ANALYSIS_FILE || roleAt(path) !== undefined;
}
