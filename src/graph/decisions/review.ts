import { normaliseFinding, normaliseFindings, type Finding, type ReviewAnswer } from '../../model/plan/review.ts';
import type { ReviewPolicy } from '../../model/plan/task.ts';
import type { RoundRecord } from '../../model/plan/work.ts';

/**
 * One reviewer's part of a round. `failed`: the reviewer will never answer, which is neither approval nor rejection; `why` says why
 * not.
 */
export interface ReviewPart {
  readonly role: string;
  readonly agent: string;
  readonly state: 'pending' | 'failed' | 'answered';
  readonly answer: ReviewAnswer | null;
  readonly why?: string;
}

export type ReviewDecision =
  | { readonly do: 'wait' }
  | {
      readonly do: 'approve';
      readonly followUps: readonly string[];
      readonly by: RoundRecord['by'];
      readonly feedback: string;
    }
  | {
      readonly do: 'reject';
      readonly feedback: string;
      readonly findings: readonly string[];
      readonly followUps: readonly string[];
      readonly by: RoundRecord['by'];
      /** false: it has the same findings as the round before. */
      readonly converging: boolean;
    }
  /** No verdict is possible any more. Silence is no approval. */
  | { readonly do: 'give-up'; readonly why: string };

/**
 * `all` waits for every reviewer, so that the author gets all findings at once. `any` approves at the first approval and
 * rejects at the last rejection.
 */
export function decideReview(
  policy: ReviewPolicy,
  parts: readonly ReviewPart[],
  earlier: readonly RoundRecord[],
): ReviewDecision {
  const verdicts = parts.flatMap((part) => (part.answer === null ? [] : [verdictOf(part, part.answer, earlier)]));
  const pending = parts.some((part) => part.state === 'pending');
  const failed = parts.filter((part) => part.state === 'failed');
  const by = verdicts.map(({ role, agent, approved }) => ({ role, agent, approved }));
  const followUps = verdicts.flatMap((verdict) => verdict.followUps);
  const approvals = verdicts.filter((verdict) => verdict.approved).length;
  const feedback = verdicts.map((verdict) => verdict.feedback).join('\n\n');
  const approved = policy.quorum === 'any' ? approvals > 0 : approvals === parts.length;
  if (approved && parts.length > 0) return { do: 'approve', followUps, by, feedback };
  if (pending) return { do: 'wait' };
  const rejections = verdicts.filter((verdict) => !verdict.approved);
  if (rejections.length === 0) {
    const silent = failed.map(({ role, why }) => (why === undefined ? role : `${role} (${why})`));
    return { do: 'give-up', why: `no verdict from ${silent.join(', ') || 'anybody'}` };
  }
  const findings = normaliseFindings(rejections.flatMap((verdict) => verdict.blocking));
  return { do: 'reject', feedback, findings, followUps, by, converging: !isRepeated(findings, earlier) };
}

/** Whether the last of the earlier rounds was rejected for the same findings. */
export function isRepeated(findings: readonly string[], earlier: readonly RoundRecord[]): boolean {
  const before = earlier.at(-1);
  return findings.length > 0 && before?.approved === false && findings.join('\n') === before.findings.join('\n');
}

/** The problem of a reviewer's answer beyond its schema. */
export function reviewProblem(answer: ReviewAnswer): string | undefined {
  const reasons = answer.findings.some((finding) => finding.text.trim() !== '');
  return answer.approved || reasons ? undefined : 'a rejection needs at least one finding that says what to change';
}

interface Verdict {
  readonly role: string;
  readonly agent: string;
  readonly approved: boolean;
  readonly blocking: readonly string[];
  readonly followUps: readonly string[];
  readonly feedback: string;
}

/** After the first round, only findings that name a criterion or are repeated can reject. */
function verdictOf(part: ReviewPart, answer: ReviewAnswer, earlier: readonly RoundRecord[]): Verdict {
  const known = new Set(earlier.flatMap((record) => record.findings));
  const counts = (finding: Finding): boolean =>
    !answer.approved &&
    (earlier.length === 0 ||
      finding.criterion !== null ||
      finding.repeated ||
      known.has(normaliseFinding(finding.text)));
  const blocking = answer.findings.filter(counts).map((finding) => finding.text);
  const followUps = answer.findings.filter((finding) => !counts(finding)).map((finding) => finding.text);
  const approved = answer.approved || blocking.length === 0;
  const lines = [`${part.role} (${part.agent}): ${approved ? 'approved' : 'rejected'}. ${answer.summary}`];
  return {
    role: part.role,
    agent: part.agent,
    approved,
    blocking,
    followUps,
    feedback: [...lines, ...blocking.map((text) => `- ${text}`)].join('\n'),
  };
}
