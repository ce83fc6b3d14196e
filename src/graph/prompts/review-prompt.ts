import type { TaskState } from '../../model/plan/board.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { quoteBlock } from '../../text/fence.ts';

export interface ReviewPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  readonly resumed: boolean;
  readonly objective: { readonly title: string; readonly text: string };
  readonly commit: string;
  /** The commit before the work; null: not known. */
  readonly since: string | null;
}

/** Flags that ignore configured diff drivers: a driver needs a temporary file, which a reviewer cannot write. */
const PLAIN = '--no-ext-diff --no-textconv';

/** What a reviewer is told: one commit, the criteria, and what was said before. */
export function renderReviewPrompt(about: ReviewPrompt): string {
  const { state, prompt, resumed, commit, since } = about;
  if (prompt.why === 'repair' && resumed) {
    return ['Your verdict cannot be used:', quoteBlock(prompt.text), 'Give it again, about the same commit.'].join(
      '\n\n',
    );
  }
  const { task, work } = state;
  const criteria = task.review?.criteria ?? [];
  const change = since === null ? `git show ${PLAIN} ${commit}` : `git diff ${PLAIN} ${since} ${commit}`;
  const earlier = work.rounds.filter((round) => !round.approved);
  const judged = earlier.at(-1)?.commit;
  const parts = [
    `# Review of task ${task.id}: ${task.title} (round ${work.round})`,
    `Judge commit ${commit}, which is checked out here. The change is \`${change}\`. Read it, and run what you need to be sure; change nothing.`,
    ...(resumed ? [] : renderTask(about)),
    criteria.length === 0
      ? 'There are no criteria beyond the task itself.'
      : ['It has to meet:', ...criteria.map((text, index) => `${index}. ${text}`)].join('\n'),
    ...(earlier.length === 0
      ? []
      : [
          'Said in earlier rounds:',
          quoteBlock(earlier.map((round) => `round ${round.round}: ${round.feedback}`).join('\n\n')),
          ...(judged === undefined ? [] : [`The changes since then: \`git diff ${PLAIN} ${judged} ${commit}\`.`]),
        ]),
    earlier.length === 0
      ? 'Reject only for what has to change before this can be delivered. Give every finding at once: later rounds judge these, not new ones.'
      : 'Judge whether those findings are answered. What is new and offends no criterion becomes work for later; it is no reason to reject.',
    ANSWER,
  ];
  return parts.join('\n\n');
}

/** Authors have the objective before them too: a brief may speak of it, and is judged by what it meant. */
function renderTask({ state: { task }, objective }: ReviewPrompt): string[] {
  const brief = ['The task was:', quoteBlock(task.brief.text)];
  if (task.brief.text.includes(objective.text.trim())) return brief;
  const context = `It is one part of the objective “${objective.title}”. For context, the whole of it; judge only the task:`;
  return [...brief, context, quoteBlock(objective.text)];
}

/** From the second round on a finding counts by its `criterion` or by being `repeated`: whoever answers has to know. */
const ANSWER = [
  'Answer with `approved`, a `summary`, and the `findings`. For each finding:',
  '- `text`: the file and line, what is wrong, and what would be right',
  '- `criterion`: the number of the criterion above that it offends; null for none',
  '- `repeated`: true if it was said in an earlier round and still stands',
  'A rejection needs a finding. Findings of an approval are remarks for later.',
].join('\n');
