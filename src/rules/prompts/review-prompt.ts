import type { Locale } from '../../model/locale.ts';
import type { TaskState } from '../../model/plan/board.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { checkerText, protectedCriteria, type CheckerChange } from '../../model/plan/checker.ts';
import { openReviewOf, roundsOf } from '../../model/plan/open-review.ts';
import type { ReviewPolicy } from '../../model/plan/task.ts';
import { quoteBlock } from '../../text/fence.ts';
import { reviewTexts, type ReviewTexts } from './review-texts.ts';

export interface ReviewPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  readonly resumed: boolean;
  readonly objective: { readonly title: string; readonly text: string };
  readonly commit: string;
  /** The commit before the work; null: unknown. */
  readonly since: string | null;
  readonly locale: Locale;
}

/** A configured diff driver needs a temporary file, which a reviewer cannot write. */
const PLAIN = '--no-ext-diff --no-textconv';

/** A reviewer's prompt: one commit, the criteria, and the findings of earlier rounds. */
export function renderReviewPrompt(about: ReviewPrompt): string {
  const { state, prompt, resumed, commit, since } = about;
  const texts = reviewTexts(about.locale);
  if (prompt.why === 'repair' && resumed) {
    return [texts.unusable, quoteBlock(prompt.text), texts.giveAgain].join('\n\n');
  }
  const { task, work } = state;
  const review = openReviewOf(work, task);
  const checkers = work.phase.at === 'reviewing' ? (work.phase.checkers ?? []) : [];
  const criteria = [...(review?.criteria ?? []), ...protectedCriteria(checkers).map(({ text }) => text)];
  const change = since === null ? `git show ${PLAIN} ${commit}` : `git diff ${PLAIN} ${since} ${commit}`;
  const earlier = roundsOf(work.rounds, review).filter((round) => !round.approved);
  const judged = earlier.at(-1)?.commit;
  const parts = [
    texts.heading(task.id, task.title, work.round),
    texts.look(commit, change),
    ...(resumed ? [] : renderTask(about, texts)),
    criteria.length === 0
      ? texts.noCriteria
      : [texts.criteria, ...criteria.map((text, index) => `${index}. ${text}`)].join('\n'),
    ...(earlier.length === 0
      ? []
      : [
          texts.earlier,
          quoteBlock(earlier.map((round) => texts.round(round.round, round.feedback)).join('\n\n')),
          ...(judged === undefined ? [] : [texts.since(`git diff ${PLAIN} ${judged} ${commit}`)]),
        ]),
    earlier.length === 0 ? texts.first : texts.again,
    ...(checkers.length === 0 ? [] : [renderCheckers(checkers, texts)]),
    [texts.answer, ...(checkers.length === 0 ? [] : [texts.checks]), ...categoriesText(review, texts)].join('\n'),
  ];
  return parts.join('\n\n');
}

function categoriesText({ reopens = {} }: Partial<ReviewPolicy> = {}, texts: ReviewTexts): string[] {
  const names = Object.keys(reopens);
  const blocking = names.filter((name) => reopens[name] === 'block');
  return names.length === 0 ? [] : [texts.categories(names.join(', '), blocking.join(', '))];
}

/** Includes the objective, as the author's prompt does: the brief may refer to it. */
function renderTask({ state: { task }, objective }: ReviewPrompt, texts: ReviewTexts): string[] {
  const brief = [texts.task, quoteBlock(task.brief.text)];
  if (task.brief.text.includes(objective.text.trim())) return brief;
  return [...brief, texts.part(objective.title), quoteBlock(objective.text)];
}

function renderCheckers(checkers: readonly CheckerChange[], texts: ReviewTexts): string {
  const lines = checkers.map((one) => `- ${checkerText(one)}${one.protected === true ? texts.protected : ''}`);
  return [texts.checkers, ...lines].join('\n');
}
