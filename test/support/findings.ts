import { evidenceKey, type JudgeEvidence, type LookUps } from '../../src/model/plan/judge-evidence.ts';
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

export function quoting(file: string, quote = 'it is there', line = 1): JudgeEvidence {
  return { file, line, quote };
}

/** What squad finds where all evidence of these judges is there. Files with this start are not. */
export function found(
  judges: readonly { readonly by: string; readonly evidence: JudgeEvidence | null }[],
  not = 'gone',
): LookUps {
  return Object.fromEntries(
    judges.flatMap(({ by, evidence }) => {
      if (evidence === null) return [];
      const quoted = 'quote' in evidence ? evidence : null;
      const as = quoted === null ? { as: 'ran' as const } : { as: 'quoted' as const, line: quoted.line };
      return [[evidenceKey(by, evidence), quoted?.file.startsWith(not) === true ? { as: 'no-file' as const } : as]];
    }),
  );
}
