import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import { plainLine } from '../../text/plain-text.ts';
import { checkSession } from '../session/check-session.ts';
import { ANALYSIS_FILE, STATE_FILE } from '../session/finding.ts';
import type { MadeFile } from '../../model/folder.ts';
import { teamProblems, teamSchema } from './answer.ts';
import type { CoordinateOptions } from './options.ts';
import { EMPTY_FOLDERS, isBegunEmpty, keptRoles, rolePathProblem, teamFiles } from './team-files.ts';

type JudgedTeam =
  | { readonly ok: true; readonly files: readonly MadeFile[] }
  /** In the order in which its author should fix them. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** The files that an answer makes, if the folder is a valid session with them. `description`: what the session is for. */
export function judgeTeam(answer: unknown, options: CoordinateOptions, description: string): JudgedTeam {
  const { data: team } = teamSchema.safeParse(answer);
  if (team === undefined) return refused(answerProblems(teamSchema, answer));
  const files = teamFiles(team, options, description);
  const all = [...files, ...options.kept];
  const checked = checkSession({
    folder: '',
    files: new Map(all.map(({ path, text }) => [path, { text }])),
    folders: [...new Set(['', ...all.flatMap(({ path }) => foldersOf(path)), ...EMPTY_FOLDERS])],
  });
  const problems = [
    ...teamProblems(team, keptRoles(options)),
    ...files.flatMap(({ path }) => nameProblems(path)),
    ...(checked.ok ? [] : checked.problems.map(({ file, message }) => placed(file.slice(1), message))),
  ];
  return problems.length > 0 ? refused(problems) : { ok: true, files };
}

function nameProblems(path: string): string[] {
  if (path === STATE_FILE || path === ANALYSIS_FILE || isBegunEmpty(path)) return [];
  const problem = rolePathProblem(path);
  return problem === undefined ? [] : [`a role needs another name: its file ${plainLine(path, 100)} ${problem}`];
}

/** Most messages name their file. */
function placed(path: string, message: string): string {
  return message.includes(path) ? message : `${path}: ${message}`;
}

/** `a` of `a/b.md`. */
function foldersOf(path: string): string[] {
  const end = path.lastIndexOf('/');
  return end < 0 ? [] : [path.slice(0, end)];
}

/** More problems would fill the turn that fixes them. */
const MOST_PROBLEMS = 50;

function refused(problems: readonly string[]): JudgedTeam {
  const few = atMost(problems, MOST_PROBLEMS, (left) => `and ${left} more problems`);
  return { ok: false, problems: few.map((problem) => plainLine(problem, 600)) };
}
