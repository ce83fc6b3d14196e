import type { RunHistory } from '../../read-run.ts';
import { isTurn } from '../../usage-count.ts';
import { counted } from '../../../text/counted.ts';
import { code, list, ownWords, paragraph, words, type Section } from '../document.ts';
import { deliveredDocuments } from './artifact-files.ts';
import { failureFiles } from './failure-files.ts';

/** Where the files of the run are, and which there are by the ledger. */
export function filesSection({ row, definition, board, attempts }: RunHistory): Section {
  const turns = attempts.filter((one) => one.settlement !== undefined && isTurn(one)).length;
  const documents = deliveredDocuments(board, () => undefined).length;
  const failures = failureFiles(definition, board, []).map(
    ({ path }) => words`${code(path)}: the rounds of what was rejected`,
  );
  return {
    title: 'Files',
    blocks: [
      paragraph(words`Below ${code(`.squad/runs/${row.id}`)}:`),
      list([
        words`${code('history/')}: ${ownWords(counted(turns, 'turn'))}`,
        ...(documents === 0 ? [] : [words`${code('artifacts/')}: ${ownWords(counted(documents, 'document'))}`]),
        ...(definition.objective.criteria.length === 0 ? [] : [words`${code('checklist.md')}: the success criteria`]),
        ...failures,
      ]),
    ],
  };
}
