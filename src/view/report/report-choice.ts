import { choicesOf } from '../../rules/choice.ts';
import { reasons } from '../../text/reasons.ts';
import type { RunHistory } from '../read-run.ts';
import { code, cut, ownWords, tableSection, type Section, type Text } from './document.ts';

/** The tries at the same work: which one was delivered and why, and where the work of the others is. */
export function choiceSection({ board, definition }: RunHistory): Section | undefined {
  const choices = choicesOf(board);
  const rows = [...choices].map(([task, { as, why }]): Text[] => {
    const work = board.tasks.get(task)?.work;
    const hasWork = work !== undefined && (work.commit ?? work.kept) !== null;
    return [
      code(task),
      work?.authors.join(', ') ?? '',
      ownWords(as.replace('-', ' '), as === 'failed' ? 'bad' : undefined),
      cut(reasons(why), 600),
      hasWork ? code(`squad diff ${definition.name} ${task}`) : ownWords('none'),
    ];
  });
  return tableSection('Tries', ['try', 'agent', 'result', 'why', 'its work'], rows);
}
