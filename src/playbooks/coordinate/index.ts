import { COORDINATE } from '../../model/playbook-name.ts';
import type { MakesFolder } from '../../model/folder.ts';
import type { Playbook, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { withoutFrontMatter } from '../../text/front-matter.ts';
import { ANALYSIS_FILE, shown } from '../session/finding.ts';
import { plainJson } from '../../text/json.ts';
import { addTask, answerSchema, finishWhenEnded, workTask } from '../shared/tasks.ts';
import { teamSchema } from './answer.ts';
import { briefOf, PLANNER } from './brief.ts';
import { judgeTeam } from './judge-team.ts';
import type { CoordinateOptions } from './options.ts';
import { playCommand, playNote } from './play-command.ts';
import { EMPTY_FOLDERS } from './team-files.ts';

const TEAM = 'team';
/** In place of the objective, which no answer can make wrong. */
const ANY = 'any';
/** Otherwise the problems would read as those of a folder that is there. */
const REFUSED = 'the answer makes no valid session folder:';
/** Turns of the planner after the first. */
const REPAIRS = 2;

/** The session's `task_description`: the objective without its front matter. */
export function descriptionOf({ text }: { readonly text: string }): string {
  return withoutFrontMatter(text).trim();
}

/** One planner designs a session, and the run leaves its folder and no branch. `squad coordinate` runs it. */
export function createCoordinatePlaybook(options: CoordinateOptions): Playbook<unknown> {
  return {
    name: COORDINATE,
    roles: { planner: { delivers: 'none', instructions: PLANNER } },
    answers: {
      [TEAM]: {
        schema: answerSchema(teamSchema),
        read: (_, answer) => {
          const judged = judgeTeam(answer, options, ANY);
          return judged.ok ? {} : { problems: [REFUSED, ...judged.problems] };
        },
      },
    },
    options: () => plainJson(options),
    parse: () => ({ ok: true, input: options }),
    plan: () => {
      const task = workTask(
        { id: COORDINATE, title: `Design the team of ${shown(options.id)}`, role: 'planner', brief: briefOf(options) },
        { output: { schema: TEAM, repairs: REPAIRS } },
      );
      return [addTask(task)];
    },
    advance: (view, event) => {
      if (event.type === 'gate-refused') return [{ do: 'finish', outcome: 'failed', why: event.problems.join('\n') }];
      return event.type === 'task-done' || event.type === 'task-failed' || event.type === 'task-skipped'
        ? endOf(view)
        : [];
    },
    tools: () => [],
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

/** It delivers nothing: once the work has ended, squad makes the folder. */
function endOf(view: View): PlanChange[] {
  return finishWhenEnded(view).map((change) =>
    change.do === 'finish' && change.outcome === 'done' ? { ...change, why: 'the team is designed' } : change,
  );
}
