import { failedReviewsOf, failureFileOf, type FailedReview } from '../../../rules/failed-reviews.ts';
import { againCommands } from '../../explain-failure.ts';
import { workCommands } from '../../next-commands.ts';
import type { StageView } from '../../../model/plan.ts';
import type { Board } from '../../../model/plan/board.ts';
import { OF_A_TEAM } from '../../../model/playbook-name.ts';
import type { RunDefinition } from '../../../model/run.ts';
import {
  code,
  commands,
  cut,
  ownWords,
  paragraph,
  quote,
  words,
  type Block,
  type Section,
  type Text,
} from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import type { RunFile } from './run-file.ts';

const MOST_TEXT = 20_000;

/**
 * `failures/<stage>.md` for each stage that ended by rejections, in a run without stages for each such task: every round with what
 * was found and suggested, by whom and on which commit, and what to do next.
 */
export function failureFiles(
  run: Pick<RunDefinition, 'name' | 'playbook'>,
  board: Pick<Board, 'tasks' | 'records' | 'facts' | 'branch' | 'finished'>,
  stages: readonly StageView[],
): RunFile[] {
  const { tasks } = board;
  return [...Map.groupBy(failedReviewsOf(board), ({ stage }) => stage)].map(([stage, reviews]) => {
    const named = stages.find(({ id }) => id === stage)?.title ?? tasks.get(stage)?.task.title ?? '';
    const text = renderMarkdown({
      title: words`${code(stage)} was not passed: ${cut(named, 120)}`,
      about: reviews.map((review) => aboutReview(review, tasks)),
      sections: [
        ...reviews.flatMap((review) => roundSections(review, reviews.length > 1)),
        nextSection(run, board, reviews),
      ],
    });
    return { path: failureFileOf(stage), text };
  });
}

function aboutReview({ task, rounds, cap }: FailedReview, tasks: Board['tasks']): Block {
  const state = task === null ? undefined : tasks.get(task);
  const what =
    task === null ? ownWords('The delivered work') : words`Task ${code(task)} (${cut(state?.task.title ?? '', 120)})`;
  const rejections = rounds.filter(({ approved }) => !approved).length;
  return paragraph(words`${what} was rejected ${rejections} times; at most ${cap} rounds were allowed.`);
}

function roundSections({ task, cap, rounds }: FailedReview, isOneOfMore: boolean): Section[] {
  return rounds.map((round) => {
    const { commit } = round;
    const of = isOneOfMore && task !== null ? `${task}, round` : 'Round';
    return {
      title: `${of} ${round.round} of ${cap}: ${round.approved ? 'approved' : 'rejected'}`,
      blocks: [
        paragraph(
          words`By ${judgesOf(round)}${commit === null ? [] : words`, on commit ${code(commit.slice(0, 12))}`}.`,
        ),
        ...(round.repeated ? [paragraph(ownWords('Not converging: the same findings as in the round before.'))] : []),
        quote(round.text, MOST_TEXT),
      ],
    };
  });
}

function judgesOf({ by }: FailedReview['rounds'][number]): Text {
  return by.flatMap(({ role, agent, approved }, index) => [
    ...(index === 0 ? [] : [ownWords(', ')]),
    ...words`${role} (${agent}): ${ownWords(approved ? 'approved' : 'rejected')}`,
  ]);
}

function nextSection(
  { name: run, playbook }: Pick<RunDefinition, 'name' | 'playbook'>,
  { branch, facts, finished }: Pick<Board, 'branch' | 'facts' | 'finished'>,
  reviews: readonly FailedReview[],
): Section {
  // This file does not change once the run is over: then nothing opens it again, and the line has its work.
  const isOfTeam = OF_A_TEAM.has(playbook);
  const again = isOfTeam ? [] : reviews.flatMap(({ task }) => (task === null ? [] : againCommands(run, task)));
  const hasWork = !isOfTeam && finished !== null && branch.head !== facts.base;
  return {
    title: 'What to do next',
    blocks: [
      paragraph(ownWords('Read the last round: what it found is what is still missing.')),
      ...(again.length === 0
        ? []
        : [paragraph(ownWords('Let the author try again, or accept the work as it is:')), commands(again)]),
      ...(again.length === 0 && hasWork
        ? [
            paragraph(ownWords('See what was delivered, and merge it to finish it yourself:')),
            commands(workCommands(run, finished.outcome === 'done')),
          ]
        : []),
      // This file does not change once the run is over, and a person may do anything to the branch.
      paragraph(ownWords('What can be done at any time:')),
      commands([`squad status ${run}`, ...(isOfTeam ? ['squad backlog'] : [])]),
    ],
  };
}
