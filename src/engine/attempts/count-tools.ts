import type { TurnEvent } from '../../model/turn-event.ts';

/** Open calls that are remembered. */
const MOST_OPEN = 1_000;

/** Counts the tools that a turn used: those that ended, but for denied ones and the one that only gives the answer. */
export function countTools(): { take(event: TurnEvent): void; used(): number } {
  const answers = new Set<string>();
  let used = 0;
  return {
    take: (event) => {
      if (event.type === 'tool-started' && event.answers === true && answers.size < MOST_OPEN) answers.add(event.id);
      if (event.type === 'tool-ended' && !event.denied && !answers.has(event.id)) used += 1;
    },
    used: () => used,
  };
}
