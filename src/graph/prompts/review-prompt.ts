import type { TaskState } from '../../model/plan/board.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { quoteBlock } from './quote.ts';

export interface ReviewPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  readonly resumed: boolean;
  readonly commit: string;
  /** The commit before the work; null: not known. */
  readonly since: string | null;
}

/** What a reviewer is told: one commit, the criteria, and what was said before. */
export function renderReviewPrompt({ state, prompt, resumed, commit, since }: ReviewPrompt): string {
  if (prompt.why === 'repair' && resumed) {
    return ['Your verdict cannot be used:', quoteBlock(prompt.text), 'Give it again, about the same commit.'].join(
      '\n\n',
    );
  }
  const { task, work } = state;
  const criteria = task.review?.criteria ?? [];
  const change = since === null ? `git show ${commit}` : `git diff ${since} ${commit}`;
  const earlier = work.rounds.filter((round) => !round.approved);
  const parts = [
    `# Review of task ${task.id}: ${task.title} (round ${work.round})`,
    `Judge commit ${commit}, which is checked out here. The change is \`${change}\`. Read it, and run what you need to be sure; change nothing.`,
    ...(resumed ? [] : ['The task was:', quoteBlock(task.brief.text)]),
    criteria.length === 0
      ? 'There are no criteria beyond the task itself.'
      : ['It has to meet:', ...criteria.map((text, index) => `${index}. ${text}`)].join('\n'),
    ...(earlier.length === 0
      ? []
      : [
          'Said in earlier rounds:',
          quoteBlock(earlier.map((round) => `round ${round.round}: ${round.feedback}`).join('\n\n')),
        ]),
    earlier.length === 0
      ? 'Reject only for what has to change before this can be delivered. Give every finding at once: later rounds judge these, not new ones.'
      : 'Judge whether those findings are answered. What is new and offends no criterion becomes work for later; it is no reason to reject.',
    'For each finding: the file and line, what is wrong, and the number of the criterion it offends (null for none).',
  ];
  return parts.join('\n\n');
}
