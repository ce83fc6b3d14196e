import { checkNotesOf } from '../graph/decisions/check-notes.ts';
import type { RunReading } from '../read-model/read-run.ts';
import { counted } from '../text/counted.ts';
import { cut, listSection, ownWords, words, type Section } from './document.ts';

const MOST_COMMAND = 120;
const MOST_PATHS = 400;

/** What checks did besides passing or failing: results that were not the same each time, and files that they changed. */
export function checksSection({ board }: RunReading): Section | undefined {
  const { flaky, changed } = checkNotesOf(board);
  return listSection('Checks', [
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
