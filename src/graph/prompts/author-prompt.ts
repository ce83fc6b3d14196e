import { assertNever } from '../../model/assert-never.ts';
import type { TaskState } from '../../model/plan/board.ts';
import { limitOf, type Requirement } from '../../model/plan/task.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { quoteBlock } from '../../text/fence.ts';

export interface AuthorPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  /** The session has the brief already. */
  readonly resumed: boolean;
  readonly objective: { readonly title: string; readonly text: string };
  /** Tasks whose work is in its folder. */
  readonly delivered: readonly { readonly id: string; readonly title: string }[];
  /** What the playbook adds to the brief. */
  readonly background: string;
}

/** The prompt of a task's author. */
export function renderAuthorPrompt(about: AuthorPrompt): string {
  const { prompt, resumed, state } = about;
  const brief = renderBrief(about);
  if (prompt.why === 'start') return brief;
  const news = renderNews(prompt, state);
  return resumed ? news : `${brief}\n\n${news}`;
}

function renderBrief({ state, objective, delivered, background }: AuthorPrompt): string {
  const { task } = state;
  if (task.brief.verbatim === true) return task.brief.text;
  const files = task.brief.files ?? [];
  const parts = [
    `# Task ${task.id}: ${task.title}`,
    task.brief.text,
    ...(files.length === 0 ? [] : [`Read these files first: ${files.join(', ')}.`]),
    ...(task.brief.text.includes(objective.text.trim())
      ? []
      : [
          `Your task is one part of the objective “${objective.title}”. The whole objective follows for context. Do only your task.`,
          quoteBlock(objective.text),
        ]),
    ...(delivered.length === 0
      ? []
      : [`Already delivered and in your folder: ${delivered.map(({ id, title }) => `${id} (${title})`).join(', ')}.`]),
    background,
    renderDuties(task.requires, task.workspace),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function renderDuties(requires: readonly Requirement[], workspace: TaskState['task']['workspace']): string {
  const duties = requires.map(dutyOf);
  const place =
    workspace === 'own'
      ? 'Work only in the current folder, which is your own clone of the repository.'
      : workspace === 'none'
        ? ''
        : 'The current folder shows the work so far. Your changes in it are discarded.';
  if (duties.length === 0) return place;
  return [place, 'When you say that you are done, the engine checks that:', ...duties.map((duty) => `- ${duty}`)].join(
    '\n',
  );
}

function dutyOf(requirement: Requirement): string {
  switch (requirement.kind) {
    case 'commit':
      return 'your work is committed with git, the message says why, and no tracked change is left uncommitted';
    case 'diff':
      return requirement.paths === undefined
        ? 'files have changed since you started'
        : `something has changed in ${requirement.paths.join(', ')}`;
    case 'only':
      return `nothing has changed but ${onlyOf(requirement)}`;
    case 'untouched':
      return `nothing has changed in ${requirement.paths.join(', ')}: ${requirement.instead}`;
    case 'file':
      return `the file ${requirement.path} exists`;
    case 'document':
      return `${requirement.path} is a Markdown document ${contentOf(requirement.headings)}`;
    case 'absent':
      return `nothing is left at ${requirement.path}`;
    case 'command':
      return `\`${requirement.run}\` exits with 0`;
    case 'pr':
      return 'a pull request is open at your commit; the engine pushes and opens it';
    default:
      return assertNever(requirement);
  }
}

function onlyOf({ paths, instead }: Extract<Requirement, { kind: 'only' }>): string {
  return `${paths.join(', ')}${instead === undefined ? '' : `. ${instead}`}`;
}

/** The paths of a task that can get more of them, as they are now: they may be others than those of its first prompt. */
function pathsNow({ requires }: TaskState['task']): string[] {
  const limit = limitOf(requires);
  return limit === undefined ? [] : [`You may change only ${onlyOf(limit)}`];
}

function contentOf(headings: readonly string[]): string {
  if (headings.length === 0) return 'with text besides its headings';
  return `with these headings in this order, and text below each: ${headings.map((one) => `“${one}”`).join(', ')}`;
}

function renderNews(prompt: Exclude<Prompt, { why: 'start' }>, { task, work }: TaskState): string {
  switch (prompt.why) {
    case 'feedback':
      return [
        HEADLINES[prompt.from](task.id),
        quoteBlock(prompt.text),
        ADVICE[prompt.from](work.commit),
        ...pathsNow(task),
      ].join('\n\n');
    case 'repair':
      return [
        'Your answer did not have the required form:',
        quoteBlock(prompt.text),
        'Answer again in exactly that form. Change nothing else.',
      ].join('\n\n');
    case 'answered':
      return [
        `What you asked about task ${task.id} has been answered: see your mail below. Continue the task.`,
        ...pathsNow(task),
      ].join('\n\n');
    case 'continue':
      return `Your last turn on task ${task.id} was cut short (${prompt.text}). Check the state with \`git status\` and \`git log\`, then finish the task.`;
    default:
      return assertNever(prompt);
  }
}

type Source = Extract<Prompt, { why: 'feedback' }>['from'];

const HEADLINES: Readonly<Record<Source, (task: string) => string>> = {
  review: (task) => `Your work on task ${task} was rejected in review:`,
  evidence: (task) => `You said that task ${task} is done. The engine checked, and this is missing:`,
  conflict: (task) => `Your work on task ${task} cannot be merged:`,
  verify: (task) => `Your work on task ${task} was merged on trial, and this check failed:`,
  playbook: (task) => `Task ${task} is open again:`,
  person: (task) => `The operator wants you to try task ${task} again:`,
};

const AGAIN = 'Fix it in the same folder and commit.';

const ADVICE: Readonly<Record<Source, (commit: string | null) => string>> = {
  review: () => `${AGAIN} Address every finding. Make a new commit: the rejected commit is not reviewed again.`,
  evidence: () => 'Do it now, then say that you are done. If it cannot be done, say why.',
  conflict: () =>
    'Run `git merge` with the full id of the commit that it conflicts with; you have it locally. Resolve the conflicts so that the intent of both sides survives, and commit.',
  verify: () =>
    `${AGAIN} You have the merged commit locally: \`git merge\` it first if you need to see what your work was merged with.`,
  playbook: () => AGAIN,
  person: (commit) =>
    commit === null ? AGAIN : `${AGAIN} If your earlier work is no longer here, it is in commit ${commit}.`,
};
