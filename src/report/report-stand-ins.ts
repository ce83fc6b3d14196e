import { code, ownWords, tableSection, type Section, type Text } from './document.ts';
import type { RunReading } from '../read-model/read-run.ts';

/** The work that was done on another runtime than its agent's own. */
export function standInsSection({ board }: Pick<RunReading, 'board'>): Section | undefined {
  const rows = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.standIns.map(({ agent, account, insteadOf, review, isAuthors }): Text[] => [
      code(task.id),
      agent,
      ownWords(review === null ? 'author' : `review as ${review}`),
      account,
      insteadOf,
      ownWords(isAuthors === true ? "reviewed on the author's own runtime" : ''),
    ]),
  );
  return tableSection('Stand-ins', ['task', 'agent', 'work', 'worked on', 'in place of', 'note'], rows);
}
