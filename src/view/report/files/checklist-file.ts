import { criteriaOf } from '../../../rules/conclude.ts';
import type { CriterionStatus } from '../../../model/criterion-status.ts';
import type { Board } from '../../../model/plan/board.ts';
import { cut, list, ownWords, paragraph, words, type Text } from '../document.ts';
import { renderMarkdown } from '../markdown.ts';
import type { RunFile } from './run-file.ts';

const MOST_TEXT = 1_000;
const STATES: Readonly<Record<CriterionStatus['state'], string>> = {
  met: 'met',
  judged: 'judged',
  failed: 'not met',
  'not-checked': 'not checked',
};

/** The run's own copy of the objective's checklist, ticked as far as its work was checked. None if there are no criteria. */
export function checklistFiles(board: Pick<Board, 'facts' | 'gate' | 'branch'>): RunFile[] {
  const criteria = criteriaOf(board);
  if (criteria.length === 0) return [];
  const text = renderMarkdown({
    title: words`Success criteria: ${cut(board.facts.objective.title, 200)}`,
    about: [
      paragraph(
        ownWords('squad ticks what it has checked on the delivered work. The file of the objective stays as it is.'),
      ),
      list(criteria.map(lineOf)),
    ],
    sections: [],
  });
  return [{ path: 'checklist.md', text }];
}

function lineOf({ text, state, by, evidence }: CriterionStatus): Text {
  const box = ownWords(isTicked(state) ? '[x] ' : '[ ] ');
  const who = by === null ? [] : words` by ${by === 'engine' ? 'squad' : by}`;
  const why = evidence === null ? [] : words`: ${cut(evidence, MOST_TEXT)}`;
  return words`${box}${cut(text, MOST_TEXT)} – ${ownWords(STATES[state])}${who}${why}`;
}

/** A criterion that a reviewer judged met is ticked too; its line says who judged it. */
export function isTicked(state: CriterionStatus['state']): boolean {
  return state === 'met' || state === 'judged';
}
