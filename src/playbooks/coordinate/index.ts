import { COORDINATE } from '../../model/playbook-name.ts';
import type { MakesFolder } from '../../model/folder.ts';
import type { AnswerForm, Playbook, View } from '../../model/plan.ts';
import { withoutFrontMatter } from '../../text/front-matter.ts';
import { ANALYSIS_FILE, shown } from '../session/finding.ts';
import { answerSchema } from '../shared/tasks.ts';
import type { ChangedPrompts } from '../../prompts/render.ts';
import type { StageList } from '../stages/stage-list.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import { teamSchema } from './answer.ts';
import { briefOf } from './brief.ts';
import { judgeTeam } from './judge-team.ts';
import type { CoordinateOptions } from './options.ts';
import { playCommand, playNote } from './play-command.ts';
import { EMPTY_FOLDERS } from './team-files.ts';

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
