import {
  normaliseFinding,
  normaliseFindings,
  type Blockage,
  type Finding,
  type ReviewAnswer,
} from '../model/plan/review.ts';
import type { CheckerChange } from '../model/plan/checker.ts';
import type { Look } from '../model/plan/look.ts';
import type { ReviewPolicy } from '../model/plan/task.ts';
import type { SilentJudge } from '../model/plan/silent-judge.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import { FEEDBACK } from './feedback-texts.ts';

/**
 * One reviewer's part of a round. `failed`: the reviewer will never answer, which is neither approval nor rejection; `why` says why
 * not.
 */
export interface ReviewPart {
  readonly role: string;
  readonly agent: string;
  readonly state: 'pending' | 'failed' | 'answered';
  readonly answer: ReviewAnswer | null;
  /** Whether it looked at anything. Absent: not known. */
  readonly look?: Look | undefined;
  readonly why?: string;
}

export type ReviewDecision =
  | { readonly do: 'wait' }
  | {
      readonly do: 'approve';
      /** Reviewers rejected, but none of their findings counts. */
      readonly overruled: boolean;
      readonly followUps: readonly string[];
      readonly by: RoundRecord['by'];
      readonly feedback: string;
    }
  | {
      readonly do: 'reject';
      readonly feedback: string;
      readonly findings: readonly string[];
      /** Those of the findings in the feedback. */
      readonly labels: readonly string[];
      readonly followUps: readonly string[];
      readonly by: RoundRecord['by'];
      /** false: it has the same findings as the round before. */
      readonly converging: boolean;
      readonly category?: string;
      readonly blocked?: Blockage;
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
  const by = verdicts.map(({ role, agent, approved, look }) => ({
    ...{ role, agent, approved },
    ...(look === undefined || look === 'some' ? {} : { look }),
  }));
  const followUps = verdicts.flatMap((verdict) => verdict.followUps);
  const approvals = verdicts.filter((verdict) => verdict.approved).length;
  const { feedback, labels } = feedbackOf(verdicts, earlier);
  const isAny = policy.quorum === 'any';
  // Silence is no approval: it is left out only beside one.
  const mayLack = policy.withoutVerdict === 'skip' && !pending && approvals > 0;
  const needed = isAny ? 1 : mayLack ? verdicts.length : parts.length;
  if (approvals >= needed && parts.length > 0) {
    const silent = silentIn(parts).map(({ role, agent, why }) => `${role} (${agent}): no verdict. ${why}`);
    const said = [feedback, ...silent].join('\n\n');
    return { do: 'approve', overruled: false, followUps, by, feedback: said };
  }
  if (pending) return { do: 'wait' };
  const rejections = verdicts.filter((verdict) => !verdict.approved && verdict.blocking.length > 0);
  if (rejections.length === 0) {
    const overruled = verdicts.length > approvals && (isAny || failed.length === 0);
    if (overruled) return { do: 'approve', overruled, followUps, by, feedback };
    const silent = failed.map(({ role, why }) => (why === undefined ? role : `${role} (${why})`));
    return { do: 'give-up', why: `no verdict from ${silent.join(', ') || 'anybody'}` };
  }
  const findings = normaliseFindings(rejections.flatMap((verdict) => verdict.blocking));
  const converging = !isRepeated(findings, earlier);
  return { do: 'reject', feedback, findings, labels, followUps, by, converging, ...categoryOf(policy, rejections) };
}

/** Each finding that counts has a label that no other one of this review has, by which its author replies. */
function feedbackOf(
  verdicts: readonly Verdict[],
  earlier: readonly RoundRecord[],
): { readonly feedback: string; readonly labels: readonly string[] } {
  const given = earlier.reduce((count, { labels = [] }) => count + labels.length, 0);
  const labels: string[] = [];
  const said = verdicts.map(({ head, blocking, overruled }) => {
    const findings = blocking.map((text) => {
      labels.push(`F${given + labels.length + 1}`);
      return `- ${labels.at(-1)}: ${text}`;
    });
    return [head, ...findings, ...overruled.map((text) => `- ${text}`)].join('\n');
  });
  return { feedback: said.join('\n\n'), labels };
}

/** A rejection that ends the task takes precedence over others, then one that leads to the playbook, in the order of the policy. */
function categoryOf(
  { reopens = {} }: ReviewPolicy,
  rejections: readonly Verdict[],
): { category?: string; blocked?: Blockage } {
  const named = Object.keys(reopens).filter((one) => rejections.some(({ category }) => category === one));
  const by = (way: string): string | undefined => named.find((one) => reopens[one] === way);
  const category = by('block') ?? by('playbook') ?? by('author');
  if (category === undefined) return {};
  if (reopens[category] !== 'block') return { category };
  const blocking = rejections.filter((one) => one.category === category);
  const next = blocking.flatMap(({ blocked }) => blocked.recommended_next_step ?? []);
  return {
    category,
    blocked: {
      required_inputs: [...new Set(blocking.flatMap(({ blocked }) => blocked.required_inputs))],
      recommended_next_step: next.length === 0 ? null : next.join('\n'),
    },
  };
}

/** Who will give no verdict in this round. */
export function silentIn(parts: readonly ReviewPart[]): SilentJudge[] {
  return parts.flatMap(({ role, agent, state, why = '' }) => (state === 'failed' ? [{ role, agent, why }] : []));
}

/** Whether the last of the earlier rounds was rejected for the same findings. */
export function isRepeated(findings: readonly string[], earlier: readonly RoundRecord[]): boolean {
  const before = earlier.at(-1);
  return findings.length > 0 && before?.approved === false && findings.join('\n') === before.findings.join('\n');
}

/** The problem of a reviewer's answer beyond its schema. `checkers`: what the work changed of the files that check it. */
export function reviewProblem(
  answer: ReviewAnswer,
  checkers: readonly CheckerChange[] = [],
  categories: readonly string[] = [],
): string | undefined {
  const { approved, findings, checks, category } = answer;
  const reasons = findings.some((finding) => finding.text.trim() !== '');
  if (!approved && !reasons) return FEEDBACK.noFinding;
  if (!approved) {
    const isKnown = categories.length === 0 || categories.includes(category ?? '');
    return isKnown ? undefined : FEEDBACK.noCategory(categories.join(', '));
  }
  const unspoken = checkers.filter((one) => one.protected === true && !checks.some(({ path }) => path === one.path));
  if (unspoken.length > 0) return FEEDBACK.unspoken(pathsOf(unspoken));
  const refused = checkers.filter(({ path }) => checks.some((word) => word.path === path && !word.accepted));
  return refused.length === 0 ? undefined : FEEDBACK.refused(pathsOf(refused));
}

function pathsOf(changes: readonly CheckerChange[]): string {
  return changes.map(({ path }) => path).join(', ');
}

interface Verdict {
  readonly role: string;
  readonly agent: string;
  readonly look: Look | undefined;
  readonly approved: boolean;
  readonly blocking: readonly string[];
  readonly followUps: readonly string[];
  /** Findings of a rejection of which none counts. */
  readonly overruled: readonly string[];
  readonly head: string;
  readonly category: string | undefined;
  readonly blocked: Blockage;
}

function verdictOf({ role, agent, look }: ReviewPart, answer: ReviewAnswer, earlier: readonly RoundRecord[]): Verdict {
  const { approved, summary, findings } = answer;
  const rejected = earlier.filter((record) => !record.approved);
  const known = new Set(rejected.flatMap((record) => record.findings));
  const counts = ({ criterion, repeated, regression, text }: Finding): boolean =>
    rejected.length === 0 || criterion !== null || repeated || regression || known.has(normaliseFinding(text));
  const textsOf = (some: readonly Finding[]): string[] => some.map(({ text }) => text);
  const blocking = approved ? [] : textsOf(findings.filter(counts));
  const followUps = textsOf(approved ? findings : findings.filter((finding) => !counts(finding)));
  const isOverruled = !approved && blocking.length === 0;
  const said = FEEDBACK.said(approved ? 'approved' : isOverruled ? 'overruled' : 'rejected', look);
  const { category, required_inputs = [], recommended_next_step = null } = answer;
  return {
    ...{ role, agent, look, approved, blocking, followUps, overruled: isOverruled ? followUps : [] },
    ...{ category: category ?? undefined, blocked: { required_inputs, recommended_next_step } },
    head: FEEDBACK.verdict(role, agent, said, summary),
  };
}
