import { FOLDER, SPRINT } from '../../model/playbook-name.ts';
import { boardCascades } from '../../rules/cascade.ts';
import { choicesOf } from '../../rules/choice.ts';
import { isJudge } from '../../rules/gate.ts';
import { authorAttempts, shownStatusOf } from '../../rules/work-status.ts';
import type { TaskState } from '../../model/plan/board.ts';
import { readPlanAnswer } from '../../model/plan/proposal.ts';
import { CHOICE } from '../../model/plan/choice.ts';
import { cascadeText } from '../../model/plan/cascade.ts';
import type { MailStatus } from '../../substrate/ports/mailbox.ts';
import type { KeptRef } from '../explain-failure.ts';
import {
  boundedSection,
  checksSection,
  silentJudgesSection,
  standInsSection,
  wallsSection,
} from './report-troubles.ts';
import {
  code,
  commands,
  cut,
  list,
  listSection,
  ownWords,
  paragraph,
  quote,
  section,
  strong,
  table,
  tableSection,
  words,
  type Block,
  type ReportDocument,
  type Section,
  type Text,
} from './document.ts';
import type { RunHistory } from '../read-run.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { RunView } from '../run-view.ts';
import { aboutOf, short } from './report-head.ts';
import { sectionText } from './markdown.ts';
import { armorySection, mailSection, peopleSection, stagesSection } from './report-people.ts';
import { choiceSection } from './report-choice.ts';
import { filesSection } from './files/files-section.ts';
import { costSection, limitsSection, retriesSection, timeSection } from './report-turns.ts';
import { failuresSection, followUpsSection, reportedSection, reviewsSection } from './report-work.ts';

/** The run branch in git. Subjects and paths come from agents. */
export interface GitFacts {
  /** The run branch's head; absent: there is no such branch. */
  readonly head?: string;
  readonly base: string;
  readonly commits: readonly { readonly commit: string; readonly subject: string }[];
  readonly diffStat: string;
  /** The refs that keep attempts; absent: none. */
  readonly kept?: readonly KeptRef[];
}

/** Puts the sections in the order in which a person reads them. Pure. */
export function reportOf(
  reading: RunHistory,
  view: RunView,
  now: number,
  git?: GitFacts,
  mail?: MailStatus,
): ReportDocument {
  const { plan, use, stages, run } = view;
  const sections = [
    getSection(reading, git),
    criteriaSection(reading, plan.criteria),
    stagesSection(stages, now),
    reading.board.records.has(CHOICE) ? choiceSection(reading) : undefined,
    tasksSection(reading),
    changesSection(reading, git),
    failuresSection(reading, plan.failures, plan.rejections),
    reviewsSection(reading),
    silentJudgesSection(reading),
    standInsSection(reading),
    reportedSection(reading),
    followUpsSection(reading),
    costSection(reading),
    // One turn alone is said above.
    reading.attempts.length > 1 ? timeSection(reading, now) : undefined,
    limitsSection(use.caps),
    wallsSection(reading),
    retriesSection(reading),
    checksSection(reading),
    questionsSection(reading),
    mailSection(mail),
    peopleSection(reading),
    armorySection(run.armory),
    filesSection(reading),
    warningsSection(reading),
  ];
  return {
    title: reading.definition.objective.title.trim() || 'Report',
    about: aboutOf(reading, view, now),
    sections: sections.flatMap((one) => (one === undefined ? [] : [boundedSection(one)])),
  };
}

/** For the people who read a pull request, as Markdown: how the work was judged, and its cost. */
export function requestReport(reading: RunHistory, { plan }: RunView): string {
  const sections = [
    criteriaSection(reading, plan.criteria),
    tasksSection(reading),
    reviewsSection(reading),
    followUpsSection(reading),
    costSection(reading),
  ];
  return sections.flatMap((one) => (one === undefined ? [] : [sectionText(boundedSection(one))])).join('\n\n');
}

function getSection(reading: RunHistory, git: GitFacts | undefined): Section | undefined {
  const { definition, workspace, published } = reading;
  if (workspace === undefined) return undefined;
  const head = git?.head ?? published?.head;
  const { branch } = workspace;
  const title = 'Get the work';
  if (branch === undefined) return madeSection(title, published);
  if (head === undefined || head === workspace.base) {
    const what = head === undefined ? 'is not settled yet' : 'is where it began: nothing was delivered';
    return section(title, [
      paragraph(words`The run branch ${code(branch)} ${ownWords(what)}. Your own branch is untouched.`),
    ]);
  }
  const { branch: onto, from } = definition.repository;
  const target = onto === undefined || from !== undefined ? [] : words` (from ${onto})`;
  const begun = from === undefined ? [] : words` It began from ${code(from)} at ${code(short(workspace.base))}.`;
  return section(title, [
    paragraph(
      words`Everything delivered is on ${code(branch)} at ${code(short(head))}. Your own branch${target} is untouched.${begun}`,
    ),
    ...missingBlocks(reading),
    ...(definition.playbook === SPRINT
      ? lineBlocks(definition)
      : [
          commands([`squad diff ${definition.name}`, `squad merge ${definition.name}`]),
          paragraph(ownWords('Without squad, which checks more before it merges:')),
          commands([`git log --oneline ${short(workspace.base)}..${branch}`, `git merge ${branch}`]),
        ]),
    ...(published?.remote === undefined ? [] : [paragraph(words`Pushed to ${published.remote}.`)]),
    ...(published?.pr === undefined ? [] : [paragraph(words`Pull request: ${published.pr}`)]),
  ]);
}

/** The line of the team takes the work of a sprint, and squad names the branch of that. */
function lineBlocks({ name, source }: RunHistory['definition']): Block[] {
  return [
    paragraph(ownWords('The line of the team takes it when the sprint is closed:')),
    commands([`squad diff ${name}`, `squad sprint report ${shellWord(source)}`, 'squad sprint status']),
  ];
}

/** Section of a run without a branch: the folder that it made or completed. */
function madeSection(title: string, published: RunHistory['published']): Section | undefined {
  const { made, next, added, note } = published ?? {};
  const folder = ownWords(`${FOLDER} folder`);
  if (made === undefined)
    return section(title, [paragraph(ownWords('The run has no branch, and has made no folder.'))]);
  return section(title, [
    paragraph(
      added === undefined
        ? words`The run has no branch. It made the ${folder} ${code(made)}.`
        : words`The run has no branch. It completed the ${folder} ${code(made)}, and wrote in it:`,
    ),
    ...(added === undefined ? [] : [list(added.map((path) => code(path)))]),
    ...(next === undefined ? [] : [commands([next])]),
    ...(note === undefined ? [] : [paragraph(ownWords(note))]),
  ]);
}

/** Warns that the branch has only a part of the work. */
function missingBlocks({ board, stages }: RunHistory): Block[] {
  const cascades = boardCascades(board);
  const tries = choicesOf(board);
  const missing = inOrder(board, cascades)
    .map((state) => ({ state, status: shownStatusOf(state, board) }))
    .filter(({ state, status }) => status !== 'done' && !isJudge(state.task) && !tries.has(state.task.id))
    .map(
      ({ state: { task }, status }) =>
        words`${code(task.id)} (${cut(task.title, 80)}): ${ownWords(statusText(status, cascades.get(task.id)))}`,
    );
  // Its tasks are in the list above, if the plan had any.
  const unbegun = stages.filter(({ state, tasks }) => state === 'cancelled' && tasks.length === 0);
  missing.push(...unbegun.map(({ id, title }) => words`${code(id)} (${cut(title, 80)}): ${ownWords('cancelled')}`));
  if (missing.length === 0) return [];
  const warning = strong(ownWords('This is not all of the work.'), 'bad');
  return [paragraph(words`${warning} A merge leaves out:`), list(missing)];
}

function criteriaSection(reading: RunHistory, criteria: RunView['plan']['criteria']): Section | undefined {
  const rows = criteria.map(({ text, state, by, evidence }, index): Text[] => {
    const own = reading.board.facts.objective.criteria[index];
    const none =
      own === undefined
        ? 'no independent reviewer spoke of it'
        : own.command === undefined
          ? 'it has no command, and no independent reviewer judged it at this commit'
          : 'not run on the result';
    return [
      criterionWord(state),
      text,
      by === null ? '' : by === 'engine' ? ownWords('squad') : by,
      evidence ?? ownWords(none),
    ];
  });
  return tableSection('Success criteria', ['state', 'criterion', 'checked by', 'evidence'], rows);
}

function criterionWord(state: RunView['plan']['criteria'][number]['state']): Text {
  if (state === 'met') return strong(ownWords('met'), 'good');
  return ownWords(state.replace('-', ' '), state === 'failed' ? 'bad' : undefined);
}

function tasksSection({ board }: RunHistory): Section | undefined {
  const cascades = boardCascades(board);
  const tasks = inOrder(board, cascades);
  if (tasks.length === 0) return section('Tasks', [paragraph(ownWords('None were planned.'))]);
  const rows = tasks.map((state: TaskState): Text[] => {
    const { task, work } = state;
    return [
      code(task.id),
      cut(task.title, 80),
      ownWords(statusText(shownStatusOf(state, board), cascades.get(task.id))),
      ownWords(String(work.round)),
      ownWords(String(authorAttempts(work))),
      task.kind === 'work' ? work.authors.join(', ') : ownWords('squad'),
      work.commit === null ? '' : code(short(work.commit)),
    ];
  });
  return section('Tasks', [table(['task', 'what', 'status', 'round', 'attempts', 'agent', 'commit'], rows)]);
}

/** The tasks in the order of the plan, without those that were cancelled with another one. */
function inOrder({ tasks }: RunHistory['board'], cascades: ReadonlyMap<string, readonly string[]>): TaskState[] {
  const folded = new Set([...cascades.values()].flat());
  return [...tasks.values()].filter(({ task }) => !folded.has(task.id)).toSorted((a, b) => a.order - b.order);
}

function statusText(status: string, cancelled: readonly string[] = []): string {
  return cancelled.length === 0 ? status : `${status}; ${cascadeText(cancelled.length)}`;
}

function changesSection({ workspace }: RunHistory, git: GitFacts | undefined): Section | undefined {
  if (git === undefined || workspace === undefined || git.commits.length === 0) return undefined;
  const shown = git.commits.slice(0, 100).map(({ commit, subject }) => words`${code(short(commit))} ${subject}`);
  const more = git.commits.length > 100 ? [words`and ${git.commits.length - 100} more`] : [];
  const stat = git.diffStat.trim() === '' ? [] : [quote(git.diffStat, 20_000)];
  return section('Changes', [list([...shown, ...more]), ...stat]);
}

function questionsSection({ answers, questions }: RunHistory): Section | undefined {
  const rows = [
    ...answers.map(({ question, text, answer, by }): Text[] => [question, text, answerText(question, answer), by]),
    ...questions.map(({ id, text, recorded }): Text[] => [
      id,
      text,
      recorded === null ? ownWords('open') : words`${recorded} (recorded, not yet applied)`,
      '',
    ]),
  ];
  return tableSection('Questions', ['question', 'asked', 'answer', 'by'], rows);
}

/** A person's version of a plan is as long as the plan. */
function answerText(question: string, answer: string): Text {
  const isPlan = /^plan-\d+$/.test(question) && readPlanAnswer(answer).say === 'edited';
  return isPlan ? words`an edited plan: ${code('squad show plan')}` : answer;
}

function warningsSection({ published }: RunHistory): Section | undefined {
  const kept = published?.kept ?? [];
  return listSection(
    'Warnings',
    kept.map(({ path, why }) => words`Folder kept: ${path} (${why})`),
  );
}
