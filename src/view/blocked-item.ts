import type { Board } from '../model/plan/board.ts';
import { asObject, objectsIn } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/** The item of a team's backlog that a task is for, as its list of stages records it; undefined: it is for none. */
export function itemOf({ records }: Pick<Board, 'records'>, task: string): string | undefined {
  const { entry } = asObject(records.get('stage-tasks')?.get(task));
  if (entry === undefined) return undefined;
  for (const answer of records.get('stage-answers')?.values() ?? []) {
    const item = objectsIn(asObject(answer)['entries']).find(({ id }) => id === entry)?.['item'];
    if (typeof item === 'string') return item;
  }
  return undefined;
}

/** Brings what a blocked item waits for. */
export function bringCommand(item: string): string {
  return `squad request ${shellWord(`${plainLine(item, 100)}: …`)}`;
}
