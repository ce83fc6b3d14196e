import type { TaskState } from '../../model/plan/board.ts';
import type { Prompt } from '../../model/plan/work.ts';
import { checkerText, protectedCriteria, type CheckerChange } from '../../model/plan/checker.ts';
import { quoteBlock } from '../../text/fence.ts';

export interface ReviewPrompt {
  readonly state: TaskState;
  readonly prompt: Prompt;
  readonly resumed: boolean;
  readonly objective: { readonly title: string; readonly text: string };
  readonly commit: string;
  /** The commit before the work; null: unknown. */
  readonly since: string | null;
}

/** A configured diff driver needs a temporary file, which a reviewer cannot write. */
const PLAIN = '--no-ext-diff --no-textconv';

/** A reviewer's prompt: one commit, the criteria, and the findings of earlier rounds. */
export function renderReviewPrompt(about: ReviewPrompt): string {
  const { state, prompt, resumed, commit, since } = about;
  if (prompt.why === 'repair' && resumed) {
    return ['Your verdict cannot be used:', quoteBlock(prompt.text), 'Give it again for the same commit.'].join('\n\n');
  }
  const { task, work } = state;
  const checkers = work.phase.at === 'reviewing' ? (work.phase.checkers ?? []) : [];
  const criteria = [...(task.review?.criteria ?? []), ...protectedCriteria(checkers).map(({ text }) => text)];
  const change = since === null ? `git show ${PLAIN} ${commit}` : `git diff ${PLAIN} ${since} ${commit}`;
  const earlier = work.rounds.filter((round) => !round.approved);
  const judged = earlier.at(-1)?.commit;
  const parts = [
    `# Review of task ${task.id}: ${task.title} (round ${work.round})`,
    `Review commit ${commit}, which is checked out here. The change is \`${change}\`. Read it and run what you need to be sure. Change nothing.`,
    ...(resumed ? [] : renderTask(about)),
    criteria.length === 0
      ? 'There are no criteria besides the task itself.'
      : ['It must meet these criteria:', ...criteria.map((text, index) => `${index}. ${text}`)].join('\n'),
    ...(earlier.length === 0
      ? []
      : [
          'Findings of earlier rounds:',
          quoteBlock(earlier.map((round) => `round ${round.round}: ${round.feedback}`).join('\n\n')),
          ...(judged === undefined
            ? []
            : [`To see the changes since then, run \`git diff ${PLAIN} ${judged} ${commit}\`.`]),
        ]),
    earlier.length === 0
      ? 'Reject only for what must change before delivery. Give every finding now: later rounds check these findings and do not look for new ones.'
      : 'Check whether the work addresses those findings. Check that the changes since then broke nothing: what they broke is a regression. Any other new finding that violates no criterion is recorded for later and is no reason to reject.',
    ...(checkers.length === 0 ? [] : [renderCheckers(checkers)]),
    checkers.length === 0 ? ANSWER : `${ANSWER}\n${CHECKS}`,
  ];
  return parts.join('\n\n');
}

/** Includes the objective, as the author's prompt does: the brief may refer to it. */
function renderTask({ state: { task }, objective }: ReviewPrompt): string[] {
  const brief = ['The task was:', quoteBlock(task.brief.text)];
  if (task.brief.text.includes(objective.text.trim())) return brief;
  const context = `It is one part of the objective “${objective.title}”. The whole objective follows for context. Review only the task.`;
  return [...brief, context, quoteBlock(objective.text)];
}

function renderCheckers(checkers: readonly CheckerChange[]): string {
  const lines = checkers.map(
    (one) =>
      `- ${checkerText(one)}${one.protected === true ? ', a protected path: an approval needs your word on it' : ''}`,
  );
  return [
    'The work changes what checks it. Look whether what was checked before is still checked, because a command that passes shows nothing then:',
    ...lines,
  ].join('\n');
}

const CHECKS =
  '`checks`: for each of these changes its `path`, whether you accept it (`accepted`), and `why` in a sentence. Reject the work if you do not accept one.';

const ANSWER = [
  'Answer with `approved`, a `summary`, and the `findings`. For each finding:',
  '- `text`: the file and line, what is wrong, and how to fix it',
  '- `criterion`: the number of the criterion above that it violates, or null',
  '- `repeated`: true if an earlier round found it and it is still not fixed',
  '- `regression`: true if the change since the last review broke it',
  'A rejection needs at least one finding. Findings of an approval are remarks for later.',
].join('\n');
