import { DEFAULT_COMMIT_POLICY, readCommitPolicy } from '../../model/sprint/commit-policy.ts';
import { subjectProblem, type CommitPolicy } from '../../model/subject-policy.ts';

/** Why a commit may not have this subject; empty: it may. `text`: that of `COMMIT_POLICY.md`, which was read when the sprint was opened. */
export function subjectProblems(subject: string, text: string): string[] {
  const problem = subjectProblem(subject, policyOf(text));
  return problem === undefined ? [] : [problem];
}

/** One that cannot be used is refused before a sprint begins. */
export function policyOf(text: string): CommitPolicy {
  const read = readCommitPolicy(text, 'COMMIT_POLICY.md');
  return read.ok ? read.value : DEFAULT_COMMIT_POLICY;
}
