import { reportLines } from '../../model/plan/author-report.ts';
import type { TaskState } from '../../model/plan/board.ts';
import type { Prompt, Work } from '../../model/plan/work.ts';
import { checkerText, type CheckerChange } from '../../model/plan/checker.ts';
import { criteriaOf, openReviewOf, roundsOf } from '../../model/plan/open-review.ts';
import type { ReviewPolicy } from '../../model/plan/task.ts';
import { FEEDBACK } from '../feedback-texts.ts';
import { labelOf, openFindings } from '../findings.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';

export interface ReviewPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  /** The session has the run's facts and the task already. */
  readonly resumed: boolean;
  /** Equal in all prompts of the run. */
  readonly run: string;
  readonly commit: string;
  /** The commit before the work; null: unknown. */
  readonly since: string | null;
  readonly changed: ChangedPrompts;
}

/** A configured diff driver needs a temporary file, which a reviewer cannot write. */
const PLAIN = '--no-ext-diff --no-textconv';

/** A reviewer's prompt: one commit, the criteria, and what happened since its last look. */
export function renderReviewPrompt(about: ReviewPrompt): string {
  const { state, prompt, resumed, changed } = about;
  const { task, work } = state;
  if (prompt.why === 'repair' && resumed) return renderPrompt('reviewer/repair', { feedback: prompt.text }, changed);
  const review = openReviewOf(work, task);
  const checkers = work.phase.at === 'reviewing' ? (work.phase.checkers ?? []) : [];
  const criteria = criteriaOf(review, checkers).map((text, index) => `C${index + 1}: ${text}`);
  const facts = { ...factsOf(about), criteria };
  const news = newsOf(about, facts, review);
  const look = renderPrompt(
    'reviewer/first',
    {
      ...facts,
      ...taskOf(state),
      isFirst: news === undefined ? 'yes' : '',
      run: about.run,
      change: changeOf(about),
    },
    changed,
  );
  return [
    news === undefined || !resumed ? look : '',
    news ?? '',
    checkers.length === 0 ? '' : renderCheckers(checkers, changed),
    categoriesText(review, changed),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The task as its author had it, and the answer that the review is about, too. */
function taskOf({ task, work }: TaskState) {
  const { brief } = task;
  const answer = task.output === undefined || work.output === null ? '' : JSON.stringify(work.output, null, 2);
  return { task: brief.text, files: brief.files ?? [], answer };
}

function factsOf({ state: { task, work }, commit }: ReviewPrompt) {
  const report = work.report === undefined ? '' : reportLines(work.report).join('\n');
  return { id: task.id, title: task.title, round: String(work.round), commit, report };
}

function changeOf({ since, commit }: ReviewPrompt): string {
  return since === null ? `git show ${PLAIN} ${commit}` : `git diff ${PLAIN} ${since} ${commit}`;
}

type Facts = ReturnType<typeof factsOf> & { readonly criteria: readonly string[] };

/** About a commit that comes after one that this review judged. undefined: it judged none. */
function newsOf(about: ReviewPrompt, facts: Facts, review: ReviewPolicy | undefined): string | undefined {
  const { work } = about.state;
  const { commit, changed } = about;
  const rounds = roundsOf(work.rounds, review);
  const last = rounds.at(-1);
  const since = last === undefined || last.commit === commit ? '' : `git diff ${PLAIN} ${last.commit} ${commit}`;
  const hasPassed = last?.approved === true || last?.overruled === true;
  const back = hasPassed && since !== '' ? backOf(work) : undefined;
  if (last !== undefined && back !== undefined) {
    const more = { approved: last.commit, cause: back.text };
    return back.by === 'conflict'
      ? renderPrompt('reviewer/merged', { ...facts, ...more }, changed)
      : renderPrompt('reviewer/fixed', { ...facts, ...more, since }, changed);
  }
  if (last === undefined || hasPassed) return undefined;
  const findings = openFindings(rounds).map((one, index) => `${labelOf(index)}: ${FEEDBACK.finding(one)}`);
  const more = { change: changeOf(about), since, findings: findings.join('\n') };
  return renderPrompt('reviewer/again', { ...facts, ...more }, changed);
}

/** Why work that was approved went back to its author. */
function backOf({ sentBack }: Work): { readonly by: 'conflict' | 'verify'; readonly text: string } | undefined {
  if (sentBack?.by !== 'conflict' && sentBack?.by !== 'verify') return undefined;
  return { by: sentBack.by, text: sentBack.text };
}

function renderCheckers(checkers: readonly CheckerChange[], changed: ChangedPrompts): string {
  const guarded = checkers.filter((one) => one.protected === true).map(({ path }) => path);
  return renderPrompt('reviewer/checkers', { checkers: checkers.map(checkerText), guarded }, changed);
}

function categoriesText({ reopens = {} }: Partial<ReviewPolicy> = {}, changed: ChangedPrompts): string {
  const names = Object.keys(reopens);
  if (names.length === 0) return '';
  const blocking = names.filter((name) => reopens[name] === 'block');
  const facts = { categories: names.join(', '), blocking: blocking.join(', ') };
  return renderPrompt('reviewer/categories', facts, changed);
}
