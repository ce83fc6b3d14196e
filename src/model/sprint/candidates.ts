import type { Finding } from './finding.ts';
import type { ITEM_KINDS } from './item.ts';

/** An item that a planner would begin with. */
export interface Candidate {
  readonly finding: string;
  readonly title: string;
  readonly kind: (typeof ITEM_KINDS)[number];
  readonly priority: number;
}

const AS_ITEM: Readonly<Record<Finding['source'], readonly [kind: Candidate['kind'], priority: number]>> = {
  request: ['feature', 80],
  'blocked-item': ['feature', 70],
  'failed-result': ['bug', 60],
  discovery: ['bug', 50],
  log: ['bug', 40],
  'dirty-path': ['chore', 20],
};
const SEVERE = /\b(?:Traceback|panic|fatal|data loss|corrupt\w*|security|vulnerab\w*)\b/i;
const WRITTEN = /\b(?:docs?|readme|documentation|typo)\b/i;

/**
 * The candidates where no agent makes them, by the source and a few words alone: what a finding says decides nothing else. The most urgent
 * first.
 */
export function candidatesFor(
  findings: readonly (Pick<Finding, 'source' | 'title' | 'detail'> & { readonly id: string })[],
): Candidate[] {
  return findings
    .map(({ id, source, title, detail }): Candidate => {
      const [kind, priority] = AS_ITEM[source];
      const isSevere = SEVERE.test(`${title}\n${detail}`) && source !== 'request';
      return {
        finding: id,
        title,
        kind: WRITTEN.test(title) && kind !== 'feature' ? 'docs' : kind,
        priority: isSevere ? priority + 15 : priority,
      };
    })
    .toSorted((a, b) => b.priority - a.priority);
}
