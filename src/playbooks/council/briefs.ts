import { fenceFor } from '../../text/fence.ts';
import type { TaskView, View } from '../../model/plan.ts';
import type { Assignment } from './assignments.ts';
import type { Council } from './council.ts';
import type { Saying } from './sayings.ts';

// What each step asks of an agent. Words of other agents stand in fences: they are what it works on, not what it is told.

const ISSUE_FORM = [
  'One issue for each thing that is wrong: where (`doc_path` with its line, `code_paths` like `src/router.ts#L50`), `category`,',
  '`severity`, what is wrong (`summary`) and what would be right (`suggestion`), so that MAIN can act on it without asking.',
].join('\n');

const MEMBER_SAYS = [
  'End with the same in the form that is asked for: it is sent in your name where you did not send it yourself. Change no file.',
  'If you cannot judge because something is unclear, ask MAIN with the tool `ask` (action clarify) and end your turn: the answer',
  'comes with your next prompt.',
].join('\n');

export function reviewBrief({ document, ofDocument, codePaths }: Council): string {
  const what = ofDocument
    ? `Review ${document}: can it be worked by as it stands, and is it true of the code?`
    : [
        `Review the code for this objective${codePaths.length === 0 ? '' : `: ${codePaths.join(', ')}`}.`,
        `There is no document yet: MAIN writes into ${document} what comes of it.`,
      ].join(' ');
  return [
    what,
    ISSUE_FORM,
    `Answer the review in your mail with the tool \`report\` of the squad server, or with \`done\` if there is no issue. ${MEMBER_SAYS}`,
  ].join('\n\n');
}

export function improveBrief(council: Council, round: number, sayings: readonly Saying[]): string {
  const { document, ofDocument } = council;
  const found = sayings.flatMap(({ seat, issues }) =>
    issues.map((issue) => {
      const where = [issue.doc_path, ...issue.code_paths].filter((path) => path !== '').join(', ');
      return `[${seat.address}] ${issue.severity} ${issue.category}: ${where}\n  ${issue.summary}\n  ${issue.suggestion}`;
    }),
  );
  const asked = sayings.flatMap(({ seat, questions }) => questions.map((one) => `[${seat.address}] ${one}`));
  return [
    round === 1
      ? `${ofDocument ? 'Improve' : 'Write'} ${document} by what the members found.`
      : `The members looked at ${document} again, and this is still open or new.`,
    'Answer every issue in the document itself. Where you do not agree, write there why it stays as it is.',
    DOCUMENT_RULES,
    quoted(found.join('\n')),
    ...(asked.length === 0 ? [] : ['They ask, and the document should say it:', quoted(asked.join('\n'))]),
    'Commit. The members are asked to verify once your commits are delivered: do not ask them yourself.',
    'End with `changes_summary`: what you changed and where, for those who verify it.',
  ].join('\n\n');
}

const DOCUMENT_RULES = [
  'It has to be enough to work by: which files and functions, which steps or algorithm, which limits and edge cases, where it is',
  'in the code with lines, and how one sees that it is right. Never only “as usual”. Change documentation only.',
].join('\n');

export function verifyBrief({ document }: Council, improved: TaskView | undefined): string {
  const commit = improved?.commit === undefined ? '' : ` (commit ${improved.commit})`;
  return [
    `Verify the change of ${document}${commit}: is every issue of yours answered, and has the change brought a new one?`,
    `Only what is still open or new is an issue. ${ISSUE_FORM}`,
    `Answer the verification in your mail with the tool \`done\` if all is well, else with \`report\`. ${MEMBER_SAYS}`,
  ].join('\n\n');
}

export function assignBrief(view: View, council: Council, silent: readonly string[]): string {
  const { document, members, assignMs } = council;
  return [
    `${document} is agreed on. Assign what has to be built to the members: ${members.map(({ address }) => address).join(', ')}.`,
    [
      'Each assignment stands alone: its kind (`task_type`), what is to be done (`summary`), in which `files`, and `success_criteria`',
      'that can be checked.',
      `Deadlines are at most ${Math.round(assignMs / 60_000)} minutes. Members work side by side, each on its own copy: two that`,
      'change the same lines are one assignment, or one names the other in `dependencies`.',
      'No assignment is right where the document was all that was wanted.',
    ].join('\n'),
    ...(silent.length === 0 ? [] : [`No word came from ${silent.join(', ')}.`]),
    [
      'Use the tool `assign` of the squad server once for each assignment; send those first that others name in `dependencies`. Or list',
      'them in your answer, in the form asked for, and squad sends them in your name. The list adds to what you sent: an entry with the',
      'same `task_id` is the same assignment, and the list may be empty. Change no file.',
    ].join('\n'),
    view.objective.criteria.length === 0
      ? ''
      : `In the end this has to hold:\n${view.objective.criteria.map(({ text }) => `- ${text}`).join('\n')}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

export function executeBrief(
  { task_type, summary, files, success_criteria }: Assignment,
  { document }: Council,
): string {
  const about = [
    `What: ${task_type}`,
    ...(summary === '' ? [] : [summary]),
    ...(files.length === 0 ? [] : [`Files: ${files.join(', ')}`]),
    ...(success_criteria.length === 0 ? [] : ['Done means:', ...success_criteria.map((line) => `- ${line}`)]),
  ].join('\n');
  return [
    `MAIN has assigned this to you. ${document} says how.`,
    quoted(about),
    [
      'Where the document does not say enough, ask MAIN with the tool `ask` (action clarify, with question, context and code_path)',
      'and end your turn: MAIN completes the document and answers, and you go on. If it cannot be done, say so with `fail`.',
    ].join('\n'),
  ].join('\n\n');
}

export function closeBrief(outcome: readonly string[]): string {
  return [
    'All work has ended. Read the mail that is left, look at the run branch, and close the council.',
    quoted(outcome.join('\n')),
    'End with a `summary` of a few sentences for the person who asked for this, and the `open_points` that somebody has to see to.',
    'Assign and change nothing more.',
  ].join('\n\n');
}

function quoted(text: string): string {
  const fence = fenceFor(text);
  return `${fence}\n${text}\n${fence}`;
}
