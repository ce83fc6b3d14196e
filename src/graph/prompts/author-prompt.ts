import { assertNever } from '../../model/assert-never.ts';
import type { TaskState } from '../../model/plan/board.ts';
import type { Requirement } from '../../model/plan/task.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { quoteBlock } from '../../text/fence.ts';

export interface AuthorPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  /** The session knows the brief already. */
  readonly resumed: boolean;
  readonly objective: { readonly title: string; readonly text: string };
  /** What it can build on: tasks whose work is in its worktree. */
  readonly delivered: readonly { readonly id: string; readonly title: string }[];
}

/** What whoever does the work is told. */
export function renderAuthorPrompt(about: AuthorPrompt): string {
  const { prompt, resumed, state } = about;
  const brief = renderBrief(about);
  if (prompt.why === 'start') return brief;
  const news = renderNews(prompt, state);
  return resumed ? news : `${brief}\n\n${news}`;
}

function renderBrief({ state, objective, delivered }: AuthorPrompt): string {
  const { task } = state;
  if (task.brief.verbatim === true) return task.brief.text;
  const files = task.brief.files ?? [];
  const parts = [
    `# Task ${task.id}: ${task.title}`,
    task.brief.text,
    ...(files.length === 0 ? [] : [`Read first: ${files.join(', ')}.`]),
    ...(task.brief.text.includes(objective.text.trim())
      ? []
      : [
          `This is one part of the objective “${objective.title}”. For context, the whole of it; do only your task:`,
          quoteBlock(objective.text),
        ]),
    ...(delivered.length === 0
      ? []
      : [
          `Delivered already, and in your worktree: ${delivered.map(({ id, title }) => `${id} (${title})`).join(', ')}.`,
        ]),
    renderDuties(task.requires, task.workspace),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function renderDuties(requires: readonly Requirement[], workspace: TaskState['task']['workspace']): string {
  const duties = requires.map(dutyOf);
  const place =
    workspace === 'own'
      ? 'Work only in the current folder: a git worktree of your own.'
      : workspace === 'none'
        ? ''
        : 'The current folder shows the state of the work; what you change in it is thrown away.';
  if (duties.length === 0) return place;
  return [place, 'The engine checks, and does not take your word for it:', ...duties.map((duty) => `- ${duty}`)].join(
    '\n',
  );
}

function dutyOf(requirement: Requirement): string {
  switch (requirement.kind) {
    case 'commit':
      return 'your work is committed with git, with a message that says why; no tracked change is left uncommitted';
    case 'diff':
      return requirement.paths === undefined
        ? 'files have changed since the start'
        : `something has changed in ${requirement.paths.join(', ')}`;
    case 'only':
      return `nothing has changed but ${requirement.paths.join(', ')}`;
    case 'file':
      return `the file ${requirement.path} exists`;
    case 'command':
      return `\`${requirement.run}\` exits with 0`;
    case 'pr':
      return 'a pull request is open at your commit; the engine pushes and opens it';
    default:
      return assertNever(requirement);
  }
}

function renderNews(prompt: Exclude<Prompt, { why: 'start' }>, { task, work }: TaskState): string {
  switch (prompt.why) {
    case 'feedback':
      return [HEADLINES[prompt.from](task.id), quoteBlock(prompt.text), ADVICE[prompt.from](work.commit)].join('\n\n');
    case 'repair':
      return [
        'Your answer did not have the form that was asked for:',
        quoteBlock(prompt.text),
        'Answer again, in exactly that form. Change nothing else.',
      ].join('\n\n');
    case 'answered':
      return `What you asked about task ${task.id} has been answered: see your mail below. Go on with the task.`;
    case 'continue':
      return `Your last turn on task ${task.id} was cut short (${prompt.text}). Look at what is there with \`git status\` and \`git log\`, and finish the task.`;
    default:
      return assertNever(prompt);
  }
}

type Source = Extract<Prompt, { why: 'feedback' }>['from'];

const HEADLINES: Readonly<Record<Source, (task: string) => string>> = {
  review: (task) => `Your work on task ${task} was rejected in review:`,
  evidence: (task) => `You said that task ${task} is done. The engine looked, and this is missing:`,
  conflict: (task) => `Your work on task ${task} cannot be merged:`,
  verify: (task) => `Your work on task ${task} was merged on trial, and then this failed:`,
  playbook: (task) => `Task ${task} is open again:`,
  person: (task) => `A person wants another try at task ${task}:`,
};

const AGAIN = 'Mend it here, in the same worktree, and commit.';

const ADVICE: Readonly<Record<Source, (commit: string | null) => string>> = {
  review: () => `${AGAIN} Answer every finding. A new commit is needed: the one that was judged is not judged again.`,
  evidence: () => 'Do it now, and only then say that you are done. If it cannot be done, say why instead.',
  conflict: () =>
    'Merge the commit that it conflicts with into your work (`git merge` with its full id; all objects are here), resolve the conflicts so that both sides’ intent survives, and commit.',
  verify: () =>
    `${AGAIN} The merged commit is here too: \`git merge\` it first if you need to see what yours was merged with.`,
  playbook: () => AGAIN,
  person: (commit) =>
    commit === null ? AGAIN : `${AGAIN} What was done before is in ${commit}, if it is not here any more.`,
};
