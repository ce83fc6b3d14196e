import { checkerChangesOf, checksAtBase } from '../../rules/checkers.ts';
import { checkNotesOf } from '../../rules/check-notes.ts';
import { blindApprovals } from '../../rules/looks.ts';
import type { RunReading } from '../read-run.ts';
import { checkerText } from '../../model/plan/checker.ts';
import { counted } from '../../text/counted.ts';
import { code, cut, listSection, ownWords, words, type Section } from './document.ts';

const MOST_COMMAND = 120;
const MOST_PATHS = 400;

const LOOKS_SAID = [
  ['none', ', who used no tool: without looking'],
  ['unknown', '. It is not known whether it looked, because its runtime does not report its tools'],
] as const;

/** Doubts about the checks: the work changed them, they are flaky, or an approver did not look. */
export function checksSection({ board }: RunReading): Section | undefined {
  const { flaky, changed } = checkNotesOf(board);
  return listSection('Checks', [
    ...checkerChangesOf(board).map(
      (change) => words`The work changed what checks it: ${cut(checkerText(change), MOST_PATHS)}`,
    ),
    ...checksAtBase(board).map(({ run, passed, output }) => {
      const result = passed ? ownWords('passes') : words`fails: ${cut(output, MOST_PATHS)}`;
      return words`With the checks as they were at the base, “${cut(run, MOST_COMMAND)}” ${result}`;
    }),
    ...LOOKS_SAID.flatMap(([how, said]) =>
      blindApprovals(board, how).map(({ task, by }) => words`${code(task)} was approved by ${by}${ownWords(said)}`),
    ),
    ...flaky.map((run) => words`Flaky, because it failed and passed on the same commit: ${cut(run, MOST_COMMAND)}`),
    ...changed.map(({ run, paths, more }) => {
      const count = paths.length + more;
      const they = count === 1 ? 'which is not part of the work' : 'which are not part of the work';
      const rest = more === 0 ? '' : ` and ${more} more`;
      const files = words`${ownWords(counted(count, 'file'))}, ${ownWords(they)} (${cut(paths.join(', '), MOST_PATHS)}${ownWords(rest)})`;
      return [...words`Changed `, ...files, ...words`: ${cut(run, MOST_COMMAND)}`];
    }),
  ]);
}
