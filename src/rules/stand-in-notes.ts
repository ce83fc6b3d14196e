import type { Board } from '../model/plan/board.ts';

/** A line for each account that stood in for another; empty: none did. */
export function standInNotes({ tasks }: Pick<Board, 'tasks'>): string[] {
  const all = [...tasks.values()].flatMap(({ work }) => work.standIns);
  const places = Map.groupBy(all, ({ account, insteadOf }) => `${account} stood in for ${insteadOf}`);
  return [
    ...[...places].map(([text, of]) => `${text} (${[...new Set(of.map(({ agent }) => agent))].join(', ')})`),
    ...judgedByOwn({ tasks }),
  ];
}

function judgedByOwn({ tasks }: Pick<Board, 'tasks'>): string[] {
  const own = [...tasks.values()].filter(({ work }) => work.standIns.some(({ isAuthors }) => isAuthors === true));
  return own.length === 0 ? [] : [`reviewed on the author's own runtime: ${own.map(({ task }) => task.id).join(', ')}`];
}
