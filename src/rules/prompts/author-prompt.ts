import { assertNever } from '../../model/assert-never.ts';
import type { Locale } from '../../model/locale.ts';
import type { TaskState } from '../../model/plan/board.ts';
import { limitOf, type Requirement } from '../../model/plan/task.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { quoteBlock } from '../../text/fence.ts';
import { authorTexts, type AuthorTexts } from './author-texts.ts';

export interface AuthorPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  /** The session has the brief already. */
  readonly resumed: boolean;
  readonly objective: { readonly title: string; readonly text: string };
  /** Tasks whose work is in its folder. */
  readonly delivered: readonly { readonly id: string; readonly title: string }[];
  /** Text after the brief: about others' work, from the playbook, and about checks that fail on the base. */
  readonly background: string;
  readonly locale: Locale;
}

/** The prompt of a task's author. */
export function renderAuthorPrompt(about: AuthorPrompt): string {
  const { prompt, resumed, state } = about;
  const texts = authorTexts(about.locale);
  const brief = renderBrief(about, texts);
  if (prompt.why === 'start') return brief;
  const news = renderNews(prompt, state, texts);
  return resumed ? news : `${brief}\n\n${news}`;
}

function renderBrief({ state, objective, delivered, background }: AuthorPrompt, texts: AuthorTexts): string {
  const { task } = state;
  if (task.brief.verbatim === true) return task.brief.text;
  const files = task.brief.files ?? [];
  const parts = [
    texts.heading(task.id, task.title),
    task.brief.text,
    ...(files.length === 0 ? [] : [texts.readFirst(files.join(', '))]),
    ...(task.brief.text.includes(objective.text.trim())
      ? []
      : [texts.part(objective.title), quoteBlock(objective.text)]),
    ...(delivered.length === 0
      ? []
      : [texts.delivered(delivered.map(({ id, title }) => texts.deliveredTask(id, title)).join(', '))]),
    background,
    renderDuties(task.requires, task.workspace, texts),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function renderDuties(
  requires: readonly Requirement[],
  workspace: TaskState['task']['workspace'],
  texts: AuthorTexts,
): string {
  const place = workspace === 'own' ? texts.ownFolder : workspace === 'none' ? '' : texts.readFolder;
  if (requires.length === 0) return place;
  return [place, texts.checked, ...requires.map((one) => `- ${dutyOf(one, texts)}`)].join('\n');
}

function dutyOf(requirement: Requirement, { duties }: AuthorTexts): string {
  switch (requirement.kind) {
    case 'commit':
      return duties.commit;
    case 'diff':
      return requirement.paths === undefined ? duties.diff : duties.diffIn(requirement.paths.join(', '));
    case 'only':
      return duties.only(onlyOf(requirement));
    case 'untouched':
      return duties.untouched(requirement.paths.join(', '), requirement.instead);
    case 'file':
      return duties.file(requirement.path);
    case 'document': {
      const { path, headings } = requirement;
      return headings.length === 0 ? duties.document(path) : duties.sections(path, headings);
    }
    case 'absent':
      return duties.absent(requirement.path);
    case 'command':
      return duties.command(requirement.run);
    case 'pr':
      return duties.pr;
    default:
      return assertNever(requirement);
  }
}

function onlyOf({ paths, instead }: Extract<Requirement, { kind: 'only' }>): string {
  return `${paths.join(', ')}${instead === undefined ? '' : `. ${instead}`}`;
}

/** The paths of a task that can get more of them, as they are now: they may be others than those of its first prompt. */
function pathsNow({ requires }: TaskState['task'], texts: AuthorTexts): string[] {
  const limit = limitOf(requires);
  return limit === undefined ? [] : [texts.mayChange(onlyOf(limit))];
}

function renderNews(prompt: Exclude<Prompt, { why: 'start' }>, { task, work }: TaskState, texts: AuthorTexts): string {
  switch (prompt.why) {
    case 'feedback':
      return [
        texts.headlines[prompt.from](task.id),
        quoteBlock(prompt.text),
        adviceOn(prompt.from, work.commit, texts),
        ...pathsNow(task, texts),
      ].join('\n\n');
    case 'repair':
      return [texts.badForm, quoteBlock(prompt.text), texts.answerAgain].join('\n\n');
    case 'answered':
      return [texts.answered(task.id), ...pathsNow(task, texts)].join('\n\n');
    case 'continue':
      return texts.cutShort(task.id, prompt.text);
    default:
      return assertNever(prompt);
  }
}

function adviceOn(
  from: Extract<Prompt, { why: 'feedback' }>['from'],
  commit: string | null,
  { advice, earlierWork }: AuthorTexts,
): string {
  return from === 'person' && commit !== null ? `${advice.person} ${earlierWork(commit)}` : advice[from];
}
