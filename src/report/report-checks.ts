import { checkNotesOf } from '../graph/decisions/check-notes.ts';
import type { RunReading } from '../read-model/read-run.ts';
import { counted } from '../text/counted.ts';
import { code, cut, listSection, ownWords, words, type Section } from './document.ts';

const MOST_COMMAND = 120;
const MOST_PATHS = 400;

/** What checks did besides passing or failing: results that were not the same each time, and files that they changed. */
export function checksSection({ board }: RunReading): Section | undefined {
  const { flaky, changed } = checkNotesOf(board);
  return listSection('Checks', [
    ...flaky.map((run) => words`${code(run.slice(0, MOST_COMMAND))} is flaky: it failed and passed on the same commit`),
    ...changed.map(({ run, paths, more }) => {
      const count = paths.length + more;
      const they = count === 1 ? 'it is not part of the work' : 'they are not part of the work';
      const rest = more === 0 ? '' : ` and ${more} more`;
      return words`${code(run.slice(0, MOST_COMMAND))} changed ${ownWords(counted(count, 'file'))}; ${ownWords(they)}: ${cut(paths.join(', '), MOST_PATHS)}${ownWords(rest)}`;
    }),
  ]);
}
