import { quoteBlock } from '../../text/fence.ts';
import type { TaskView, View } from '../../model/plan.ts';
import { placesOf } from './answers.ts';
import type { Assignment } from './assignments.ts';
import type { Council } from './council.ts';
import type { Saying } from './sayings.ts';
import { councilTexts } from './texts.ts';

// Other agents' words are fenced in a brief, because they are information and not instructions.

export function reviewBrief(view: View, { document, ofDocument, codePaths }: Council): string {
  const texts = councilTexts(view);
  const paths = codePaths.length === 0 ? '' : `: ${codePaths.join(', ')}`;
  return [
    ofDocument ? texts.reviewDocument(document) : texts.reviewCode(paths, document),
    texts.issueForm,
    `${texts.answerReview} ${texts.memberEnd}`,
  ].join('\n\n');
}

export function improveBrief(view: View, council: Council, round: number, sayings: readonly Saying[]): string {
  const texts = councilTexts(view);
  const { document, ofDocument } = council;
  const found = sayings.flatMap(({ seat, issues }) =>
    issues.map(
      (issue) =>
        `[${seat.address}] ${issue.severity} ${issue.category}: ${placesOf(issue)}\n  ${issue.summary}\n  ${issue.suggestion}`,
    ),
  );
  const asked = sayings.flatMap(({ seat, questions }) => questions.map((one) => `[${seat.address}] ${one}`));
  return [
    round === 1 ? texts.improveFirst(document, ofDocument) : texts.improveAgain(document),
    texts.answerIssues,
    texts.documentRules,
    quoted(found),
    ...(asked.length === 0 ? [] : [texts.questions, quoted(asked)]),
    texts.commit,
    texts.improveEnd,
  ].join('\n\n');
}

export function verifyBrief(view: View, { document }: Council, improved: TaskView | undefined): string {
  const texts = councilTexts(view);
  const commit = improved?.commit === undefined ? '' : ` (commit ${improved.commit})`;
  return [
    texts.verify(document, commit),
    `${texts.stillOpen} ${texts.issueForm}`,
    `${texts.answerVerify} ${texts.memberEnd}`,
  ].join('\n\n');
}

export function assignBrief(view: View, council: Council, silent: readonly string[]): string {
  const texts = councilTexts(view);
  const { document, members, assignMs } = council;
  const { criteria } = view.objective;
  return [
    texts.assign(document, members.map(({ address }) => address).join(', ')),
    texts.assignRules(Math.round(assignMs / 60_000)),
    ...(silent.length === 0 ? [] : [texts.silent(silent.join(', '))]),
    texts.assignHow,
    ...(criteria.length === 0 ? [] : [[texts.criteria, ...criteria.map(({ text }) => `- ${text}`)].join('\n')]),
  ].join('\n\n');
}

export function executeBrief(
  view: View,
  { task_type, summary, files, success_criteria }: Assignment,
  { document }: Council,
): string {
  const texts = councilTexts(view);
  const about = [
    `${texts.what}: ${task_type}`,
    ...(summary === '' ? [] : [summary]),
    ...(files.length === 0 ? [] : [`${texts.files}: ${files.join(', ')}`]),
    ...(success_criteria.length === 0 ? [] : [texts.doneMeans, ...success_criteria.map((line) => `- ${line}`)]),
  ];
  return [texts.execute(document), quoted(about), texts.executeEnd].join('\n\n');
}

export function closeBrief(view: View, outcome: readonly string[]): string {
  const texts = councilTexts(view);
  return [texts.close, quoted(outcome), texts.closeEnd].join('\n\n');
}

function quoted(lines: readonly string[]): string {
  return quoteBlock(lines.join('\n'), Number.MAX_SAFE_INTEGER);
}
