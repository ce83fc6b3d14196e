import type { Board } from '../model/plan/board.ts';
import { CHOICE, choiceSchema, type Choice } from '../model/plan/choice.ts';

type BoardPart = Pick<Board, 'records'>;

/** The tasks of which one was delivered in place of all, with their results; empty: no choice was made. */
export function choicesOf({ records }: BoardPart): ReadonlyMap<string, Choice> {
  const known = records.get(CHOICE);
  if (known === undefined) return NONE;
  return new Map(
    [...known].flatMap(([task, value]) => {
      const choice = choiceSchema.safeParse(value).data;
      return choice === undefined ? [] : [[task, choice] as const];
    }),
  );
}

const NONE: ReadonlyMap<string, Choice> = new Map();

const WORDS: Readonly<Record<Exclude<Choice['as'], 'delivered'>, string>> = {
  failed: 'failed',
  'not-chosen': 'was not chosen',
};

/** A part of the closing word; undefined: no choice was made. */
export function choiceText(board: BoardPart): string | undefined {
  const choices = choicesOf(board);
  const all = [...choices];
  const delivered = all.find(([, { as }]) => as === 'delivered');
  if (delivered === undefined) return undefined;
  const others = all.flatMap(([task, { as }]) => (as === 'delivered' ? [] : [`${task} ${WORDS[as]}`]));
  const [task, { why }] = delivered;
  return `${task} of ${all.length} was delivered: ${[...others, why].join('; ')}`;
}
