import type { CriterionStatus } from '../../../model/criterion-status.ts';
import { cut, list, ownWords, paragraph, words, type Text } from '../document.ts';
import type { RunView } from '../../run-view.ts';
import { renderMarkdown } from '../markdown.ts';
import type { RunFile } from './run-file.ts';

const MOST_TEXT = 1_000;
const STATES: Readonly<Record<CriterionStatus['state'], string>> = {
  met: 'met',
  judged: 'judged',
  failed: 'not met',
  'not-checked': 'not checked',
};

/** The part of a `RunView` that says how far the work was checked. */
export interface CheckedView {
  readonly run: { readonly objective: string };
  readonly plan: Pick<RunView['plan'], 'criteria'>;
}

/** The run's own copy of the objective's checklist, ticked as far as its work was checked. None if there are no criteria. */
export function checklistFiles({ run, plan: { criteria } }: CheckedView): RunFile[] {
  if (criteria.length === 0) return [];
  const text = renderMarkdown({
    title: words`Success criteria: ${cut(run.objective, 200)}`,
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
