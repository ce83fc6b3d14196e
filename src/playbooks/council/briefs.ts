import type { TaskView, View } from '../../model/plan.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { placesOf, type Issue } from './answers.ts';
import type { Assignment } from './assignments.ts';
import type { Council } from './council.ts';
import type { Saying } from './sayings.ts';

export function reviewBrief({ prompts }: View, { document, ofDocument, codePaths }: Council): string {
  return renderPrompt('council/review', { document, codePaths, ofDocument: ofDocument ? 'yes' : '' }, prompts);
}

export function improveBrief(
  { prompts }: View,
  { document, ofDocument, main }: Council,
  round: number,
  sayings: readonly Saying[],
): string {
  const found = sayings.flatMap(({ seat: { address }, summary, issues, questions }) =>
    issues.length + questions.length === 0
      ? []
      : [...(summary === '' ? [] : [`[${address}] ${summary}`]), ...issues.map(issueOf(address))],
  );
  const asked = sayings.flatMap(({ seat, questions }) => questions.map((one) => `[${seat.address}] ${one}`));
  const facts = {
    document,
    exists: ofDocument ? 'yes' : '',
    again: round === 1 ? '' : 'yes',
    issues: found.join('\n'),
    questions: asked.join('\n'),
    commits: main.commits ? 'yes' : '',
  };
  return renderPrompt('council/improve', facts, prompts);
}

/** With all that the member said of it. */
const issueOf =
  (address: string) =>
  (issue: Issue): string => {
    const { severity, category, group, summary, suggestion } = issue;
    const of = group === undefined ? '' : ` (group ${group})`;
    return `[${address}] ${severity} ${category}${of}: ${placesOf(issue)}\n  ${summary}\n  ${suggestion}`;
  };

export function verifyBrief({ prompts }: View, { document }: Council, improved: TaskView | undefined): string {
  return renderPrompt('council/verify', { document, commit: improved?.commit ?? '' }, prompts);
}

export function assignBrief({ prompts }: View, council: Council, silent: readonly string[]): string {
  const { document, members, assignMs } = council;
  const facts = { document, members: members.map(({ address }) => address).join(', '), silent };
  return renderPrompt('council/assign', { ...facts, minutes: String(Math.round(assignMs / 60_000)) }, prompts);
}

export function executeBrief(
  { prompts }: View,
  { task_type, summary, files, success_criteria }: Assignment,
  { document }: Council,
): string {
  const about = [
    `Kind: ${task_type}`,
    ...(summary === '' ? [] : [summary]),
    ...(files.length === 0 ? [] : [`Files: ${files.join(', ')}`]),
    ...(success_criteria.length === 0 ? [] : ['Done means:', ...success_criteria.map((line) => `- ${line}`)]),
  ];
  return renderPrompt('council/execute', { document, assignment: about.join('\n') }, prompts);
}

export function closeBrief({ prompts }: View, outcome: readonly string[]): string {
  return renderPrompt('council/close', { outcome: outcome.join('\n') }, prompts);
}
