const WORDS: Readonly<Record<string, number>> = { high: 1, medium: 0, low: -1 };

/** Higher goes first: `high` is 1, `medium` 0, `low` -1, and a number itself. undefined: it is none of these. */
export function priorityRank(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  if (/^[+-]?\d{1,9}$/.test(word)) return Number(word);
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** A priority that changes nothing, because squad cannot read it. */
export interface PriorityWarning {
  readonly about: 'priority';
  readonly text: string;
  readonly next: string;
}

export function priorityWarnings(text: string | undefined): PriorityWarning[] {
  if (text === undefined || priorityRank(text) !== undefined) return [];
  const said = `the priority “${text}” is none of high, medium, low or a whole number, so it counts as medium`;
  return [{ about: 'priority', text: said, next: 'Change “## Priority” in the objective of the next run.' }];
}
