import type { MadeFile, MakesFolder } from '../../model/folder.ts';
import type { AnswerForm, Playbook, View } from '../../model/plan.ts';
import { COORDINATE } from '../../model/playbook-name.ts';
import { type ChangedPrompts, renderPrompt } from '../../prompts/render.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import { fenceTag } from '../../text/fence.ts';
import { withoutFrontMatter } from '../../text/front-matter.ts';
import { plainLine } from '../../text/plain-text.ts';
import { checkSession } from '../session/check-session.ts';
import { ANALYSIS_FILE, shown, STATE_FILE } from '../session/finding.ts';
import { answerSchema } from '../shared/tasks.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageList } from '../stages/stage-list.ts';
import { teamProblems, teamSchema } from './answer.ts';
import type { CoordinateOptions } from './options.ts';
import { playCommand, playNote } from './play-command.ts';
import { EMPTY_FOLDERS, isBegunEmpty, keptRoles, rolePathProblem, teamFiles } from './team-files.ts';

type JudgedTeam =
  | { readonly ok: true; readonly files: readonly MadeFile[] }
  /** In the order in which its author should fix them. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** More problems would fill the turn that fixes them. */
const MOST_PROBLEMS = 50;

/** More of a kept file would not help its reader. */
const MOST_OF_FILE = 20_000;

/** In place of the objective, which no answer can make wrong. */
const ANY = 'any';
/** Otherwise the problems would read as those of a folder that is there. */
const REFUSED = 'the answer makes no valid session folder:';

/** The session's `task_description`: the objective without its front matter. */
export function descriptionOf({ text }: { readonly text: string }): string {
  return withoutFrontMatter(text).trim();
}

/** One planner designs a session, and the run leaves its folder and no branch. `squad coordinate` runs it. */
export function createCoordinatePlaybook(options: CoordinateOptions): Playbook<unknown> {
  const title = `Design the team of ${shown(options.id)}`;
  const listOf = (prompts?: ChangedPrompts): StageList => {
    // Braces are placeholders of a list.
    const brief = briefOf(options, prompts).replaceAll('{', '{{');
    return { stages: [{ id: COORDINATE, title, by: ['planner'], brief, makes: { answer: 'team' } }] };
  };
  return createStagesPlaybook({
    name: COORDINATE,
    list: listOf(),
    listFor: ({ prompts }) => listOf(prompts),
    // Their `folder` is the session's: this list has no documents.
    keeps: { ...options },
    roles: { planner: { delivers: 'none', prompt: 'coordinator/role' } },
    answers: { team: teamForm(options) },
    tools: () => [],
    hasNoMail: true,
  });
}

function teamForm(options: CoordinateOptions): AnswerForm {
  return {
    schema: answerSchema(teamSchema),
    repairs: 2,
    read: (_, answer) => {
      const judged = judgeTeam(answer, options, ANY);
      return judged.ok ? { summary: 'the team is designed' } : { problems: [REFUSED, ...judged.problems] };
    },
  };
}

/** The folder of the session that the planner has designed; undefined: a person skipped that. */
export function madeFolder(options: CoordinateOptions, view: View): ReturnType<MakesFolder> {
  const answer = view.task(COORDINATE)?.answer;
  if (answer === undefined) return undefined;
  const judged = judgeTeam(answer, options, descriptionOf(view.objective));
  // Only together with the objective, the answer is too long.
  if (!judged.ok) return { problem: `no session folder was made: ${judged.problems.join('; ')}` };
  const { folder, isThere } = options;
  const place = { folder, shown: options.shown, isThere };
  const then = { next: playCommand(folder, options), note: playNote(options) };
  return { ...place, ...then, files: judged.files, proof: ANALYSIS_FILE, folders: EMPTY_FOLDERS };
}

function briefOf({ kept }: Pick<CoordinateOptions, 'kept'>, prompts?: ChangedPrompts): string {
  const files = kept.map(({ path, text }) => `${path}:\n${fenceTag('file', text, MOST_OF_FILE)}`);
  return renderPrompt('coordinator/first', { kept: files.join('\n\n') }, prompts);
}

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

function refused(problems: readonly string[]): JudgedTeam {
  const few = atMost(problems, MOST_PROBLEMS, (left) => `and ${left} more problems`);
  return { ok: false, problems: few.map((problem) => plainLine(problem, 600)) };
}
