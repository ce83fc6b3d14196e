import { priorityRank } from '../../model/priority.ts';

/** `priority: high`, `priority/high`, `high priority`, `P0`. */
const WORD = /^(?:priority\s*[:/ -]\s*)?(urgent|critical|high|medium|normal|low)(?:\s+priority)?$/i;
const PLACE = /^(?:priority\s*[:/ -]\s*)?p([0-4])$/i;
const WORDS: Readonly<Record<string, string>> = { urgent: '2', critical: '2', normal: 'medium' };

/** The priority of its run, by the issue's labels: the highest that one of them says. undefined: none says anything. */
export function priorityOf(labels: readonly string[]): string | undefined {
  const said = labels.flatMap((label) => {
    const word = WORD.exec(label.trim())?.[1]?.toLowerCase();
    const place = PLACE.exec(label.trim())?.[1];
    if (place !== undefined) return [String(2 - Number(place))];
    return word === undefined ? [] : [WORDS[word] ?? word];
  });
  return said.toSorted((a, b) => rank(b) - rank(a))[0];
}

function rank(priority: string | undefined): number {
  return priorityRank(priority ?? '') ?? 0;
}

/** The most urgent first, and of those the oldest. */
export function inIssueOrder<Issue extends { readonly number: number; readonly labels: readonly string[] }>(
  issues: readonly Issue[],
): Issue[] {
  const ranked = issues.map((issue) => ({ issue, rank: rank(priorityOf(issue.labels)) }));
  return ranked.toSorted((a, b) => b.rank - a.rank || a.issue.number - b.issue.number).map(({ issue }) => issue);
}
