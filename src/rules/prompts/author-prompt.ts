import { assertNever } from '../../model/assert-never.ts';
import type { TaskState } from '../../model/plan/board.ts';
import { limitOf, type Requirement } from '../../model/plan/task.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { renderPrompt, type ChangedPrompts, type FactsOf } from '../../prompts/render.ts';

export interface AuthorPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  /** The session has the run's facts already, and the task too unless the task only begins. */
  readonly resumed: boolean;
  /** Equal in all prompts of the run. Empty: the session has it. */
  readonly run: string;
  /** Its agent commits its work. */
  readonly commits: boolean;
  /** Tasks whose work is in its folder. */
  readonly delivered: readonly { readonly id: string; readonly title: string }[];
  /** Tasks of others that may run at the same time. */
  readonly neighbours: readonly Pick<TaskState['task'], 'id' | 'title' | 'role' | 'brief'>[];
  /** About others' work, from the playbook. */
  readonly background: string;
  /** About checks that fail on the commit that the run begins from. */
  readonly baseline: string;
  readonly minutes: number;
  readonly changed: ChangedPrompts;
}

/** The prompt of a task's author. */
export function renderAuthorPrompt(about: AuthorPrompt): string {
  const { prompt, resumed } = about;
  if (prompt.why === 'start') return renderTask(about);
  const news = renderNews(prompt, about);
  return resumed ? news : `${renderTask(about)}\n\n${news}`;
}

function renderTask(about: AuthorPrompt): string {
  const { state, run, delivered, neighbours, background, baseline, changed } = about;
  const { task } = state;
  if (task.brief.verbatim === true) return task.brief.text;
  const facts = {
    id: task.id,
    title: task.title,
    task: task.brief.text,
    files: task.brief.files ?? [],
    touches: task.brief.touches ?? [],
    delivered: delivered.map(({ id, title }) => `${id} (${title})`),
    neighbours: neighbours.map(
      ({ id, title, role, brief: { touches = [] } }) => `${id}: ${title} (${[role, ...touches].join(', ')})`,
    ),
    background: [background, baseline].filter((text) => text !== '').join('\n\n'),
    place: placeOf(about),
    duties: task.requires.flatMap((one) => dutyOf(one, changed) || []),
    minutes: String(about.minutes),
  };
  return renderPrompt('author/first', { run, ...facts }, changed);
}

/** Its author owes no answer but work, and is asked for a few words on it. */
export function reports({ output, workspace, brief }: TaskState['task']): boolean {
  return output === undefined && workspace === 'own' && brief.verbatim !== true;
}

function placeOf({ state: { task }, commits, changed }: AuthorPrompt): string {
  if (task.workspace === 'none') return '';
  if (task.workspace !== 'own')
    return renderPrompt(task.builds === true ? 'author/builds' : 'author/looks', {}, changed);
  return renderPrompt(commits ? 'author/commits' : 'author/edits', { reports: reports(task) ? 'yes' : '' }, changed);
}

const NO_DUTY: FactsOf<'author/duty'> = {
  commit: '',
  diff: '',
  diffIn: '',
  only: '',
  untouched: '',
  instead: '',
  file: '',
  document: '',
  sections: '',
  absent: '',
  command: '',
  pullRequest: '',
};

function dutyOf(requirement: Requirement, changed: ChangedPrompts): string {
  return renderPrompt('author/duty', { ...NO_DUTY, ...factsOfDuty(requirement) }, changed);
}

function factsOfDuty(requirement: Requirement): Partial<FactsOf<'author/duty'>> {
  switch (requirement.kind) {
    case 'commit':
      return { commit: 'yes' };
    case 'diff':
      return requirement.paths === undefined ? { diff: 'yes' } : { diffIn: requirement.paths.join(', ') };
    case 'only':
      return { only: requirement.paths.join(', '), instead: requirement.instead ?? '' };
    case 'untouched':
      return { untouched: requirement.paths.join(', '), instead: requirement.instead };
    case 'file':
      return { file: requirement.path };
    case 'document':
      return { document: requirement.path, sections: requirement.headings.map((one) => `“${one}”`).join(', ') };
    case 'absent':
      return { absent: requirement.path };
    case 'command':
      return { command: requirement.run };
    case 'subject':
      // The brief has the whole policy.
      return {};
    case 'pr':
      return { pullRequest: 'yes' };
    default:
      return assertNever(requirement);
  }
}

/** The paths of a task that can get more of them, as they are now: they may be others than those of its first prompt. */
function pathsNow({ requires }: TaskState['task']): string {
  const limit = limitOf(requires);
  return limit === undefined ? '' : `${limit.paths.join(', ')}. ${limit.instead ?? ''}`;
}

function renderNews(prompt: Exclude<Prompt, { why: 'start' }>, about: AuthorPrompt): string {
  const { state, changed } = about;
  const { task } = state;
  const { id } = task;
  const paths = pathsNow(task);
  switch (prompt.why) {
    case 'feedback':
      return renderFeedback(prompt, about, { id, feedback: prompt.text, paths });
    case 'repair':
      return renderPrompt('author/repair', { feedback: prompt.text }, changed);
    case 'answered':
      return renderPrompt('author/answered', { id, paths }, changed);
    case 'continue':
      return renderPrompt('author/cut-short', { id, why: prompt.text }, changed);
    default:
      return assertNever(prompt);
  }
}

type Feedback = Extract<Prompt, { why: 'feedback' }>;

function renderFeedback(
  { from }: Feedback,
  { state: { task, work }, commits: commitsWork, resumed, baseline, changed }: AuthorPrompt,
  facts: { readonly id: string; readonly feedback: string; readonly paths: string },
): string {
  const isOwn = task.workspace === 'own' ? 'yes' : '';
  const commits = commitsWork ? isOwn : '';
  const again = { ...facts, isOwn, commits, answers: task.output === undefined ? '' : 'yes' };
  switch (from) {
    case 'person':
      return renderPrompt('author/person', { ...again, commit: work.commit ?? '' }, changed);
    case 'playbook':
      return renderPrompt('author/reopened', again, changed);
    case 'verify':
      return renderPrompt('author/check-failed', { ...facts, commits, baseline: resumed ? baseline : '' }, changed);
    case 'review':
      return renderPrompt('author/rejected', { ...facts, commits, replies: reports(task) ? 'yes' : '' }, changed);
    case 'conflict':
      return renderPrompt('author/conflict', { ...facts, commits }, changed);
    case 'evidence':
      return renderPrompt('author/unproven', facts, changed);
    default:
      return assertNever(from);
  }
}
