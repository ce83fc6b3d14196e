import type { Board } from '../model/plan/board.ts';
import { counted } from '../text/counted.ts';

/** Assumptions of a delivered task, and what it lacks, in the words of its author: claims. */
export interface Reported {
  readonly task: string;
  readonly assumed: readonly string[];
  readonly notDone: readonly string[];
}

/** In the order of the plan, without tasks whose authors report neither. */
export function reportedOf({ tasks }: Pick<Board, 'tasks'>): Reported[] {
  return [...tasks.values()]
    .toSorted((a, b) => a.order - b.order)
    .flatMap(({ task, work: { phase, report } }) => {
      if (phase.at !== 'ended' || phase.as !== 'done' || report === undefined) return [];
      const { assumed, notDone } = report;
      return assumed.length + notDone.length === 0 ? [] : [{ task: task.id, assumed, notDone }];
    });
}

/** A part of the closing word; undefined: there is none. */
export function reportedText(board: Pick<Board, 'tasks'>): string | undefined {
  const found = reportedOf(board);
  const assumed = found.flatMap((one) => one.assumed).length;
  const notDone = found.flatMap((one) => one.notDone).length;
  const parts = [
    ...(assumed === 0 ? [] : [counted(assumed, 'assumption')]),
    ...(notDone === 0 ? [] : [`${counted(notDone, 'thing')} not done`]),
  ];
  return parts.length === 0 ? undefined : `${parts.join(', ')}: \`squad report\``;
}
