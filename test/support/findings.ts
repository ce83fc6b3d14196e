import type { Finding, SettledFinding } from '../../src/model/plan/review.ts';

/** A finding that blocks in each round, because it names a criterion. */
export function finding(wrong: string, more: Partial<Finding> = {}): Finding {
  return { file: null, line: null, wrong, right: '', proof: 'tried', blocks: 'criterion', criterion: 'C1', ...more };
}

export function remark(wrong: string): Finding {
  return finding(wrong, { blocks: null, criterion: null });
}

/** For answers that are written before their round is known: words about findings that no prompt lists are dropped. */
export const ALL_FIXED: SettledFinding[] = ['F1', 'F2', 'F3', 'F4'].map((label) => ({
  finding: label,
  as: 'fixed',
  why: 'seen',
}));
