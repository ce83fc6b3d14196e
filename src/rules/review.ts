import type { Blockage, Cited, Finding, ReviewAnswer } from '../model/plan/review.ts';
import type { CheckerChange } from '../model/plan/checker.ts';
import type { Look } from '../model/plan/look.ts';
import type { ReviewPolicy } from '../model/plan/task.ts';
import type { SilentJudge } from '../model/plan/silent-judge.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import { FEEDBACK } from './feedback-texts.ts';
import {
  findingProblems,
  keyOf,
  labelOf,
  onceEach,
  weighFindings,
  type AskedFindings,
  type Weighed,
} from './findings.ts';

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
  readonly cited?: Cited | undefined;
  readonly why?: string;
}

/** Each decision that ends a round has it. */
interface Heard {
  readonly followUps: readonly string[];
  readonly by: RoundRecord['by'];
  readonly settled: NonNullable<RoundRecord['settled']>;
  readonly feedback: string;
}

export type ReviewDecision =
  | { readonly do: 'wait' }
  /** `overruled`: reviewers rejected, but none of their findings counts. */
  | (Heard & { readonly do: 'approve'; readonly overruled: boolean })
  | (Heard & {
      readonly do: 'reject';
      readonly open: readonly Finding[];
      /** Those in a form that can be compared. */
      readonly findings: readonly string[];
      /** The labels of what is open, by which its author replies. */
      readonly labels: readonly string[];
      /** false: it has the same findings as the round before. */
      readonly converging: boolean;
      readonly category?: string;
      readonly blocked?: Blockage;
    })
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
  const rejections = verdicts.filter((verdict) => !verdict.approved && verdict.blocking.length > 0);
  const open = onceEach(rejections.flatMap(({ blocking }) => blocking));
  const feedback = verdicts.map((verdict) => feedbackOf(verdict, open)).join('\n\n');
  const heard: Heard = {
    followUps: verdicts.flatMap(({ remarks }) => remarks.map((remark) => remarkText(remark))),
    by,
    settled: verdicts.flatMap(({ agent, settled }) => settled.map((one) => ({ ...one, by: agent }))),
    feedback,
  };
  const approvals = verdicts.filter((verdict) => verdict.approved).length;
  const isAny = policy.quorum === 'any';
  // Silence is no approval: it is left out only beside one.
  const mayLack = policy.withoutVerdict === 'skip' && !pending && approvals > 0;
  const needed = isAny ? 1 : mayLack ? verdicts.length : parts.length;
  if (approvals >= needed && parts.length > 0) {
    const silent = silentIn(parts).map(({ role, agent, why }) => `${role} (${agent}): no verdict. ${why}`);
    return { do: 'approve', overruled: false, ...heard, feedback: [feedback, ...silent].join('\n\n') };
  }
  if (pending) return { do: 'wait' };
  if (rejections.length === 0) {
    const overruled = verdicts.length > approvals && (isAny || failed.length === 0);
    if (overruled) return { do: 'approve', overruled, ...heard };
    const silent = failed.map(({ role, why }) => (why === undefined ? role : `${role} (${why})`));
    return { do: 'give-up', why: `no verdict from ${silent.join(', ') || 'anybody'}` };
  }
  const findings = open.map(keyOf).toSorted();
  const converging = !isRepeated(findings, earlier);
  return {
    do: 'reject',
    ...heard,
    open,
    labels: open.map((_, index) => labelOf(index)),
    findings,
    converging,
    ...categoryOf(policy, rejections),
  };
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

/** The question to a reviewer, besides the work itself. */
export interface Asked extends AskedFindings {
  /** Changes by the work to files that check it. */
  readonly checkers?: readonly CheckerChange[] | undefined;
  readonly categories?: readonly string[];
  /** The number of criteria that its prompt lists. */
  readonly criteria?: number;
  /** It has been asked to repair its answer already. */
  readonly isRepaired?: boolean;
}

/** The problem of a reviewer's answer beyond its schema. */
export function reviewProblem(
  answer: ReviewAnswer,
  { criteria = 0, isRepaired = false, ...asked }: Asked = { earlier: [] },
): string | undefined {
  const wrong = contradictionIn(answer, asked);
  const more = isRepaired || wrong === FEEDBACK.noFinding ? [] : findingProblems(answer, { ...asked, criteria });
  const problems = [...(wrong === undefined ? [] : [wrong]), ...more];
  return problems.length === 0 ? undefined : problems.join('\n');
}

/** A problem with which an answer is no verdict. */
function contradictionIn(
  answer: ReviewAnswer,
  { checkers = [], categories = [], ...asked }: Asked,
): string | undefined {
  const { approved, findings, checks, category } = answer;
  const { blocking } = weighFindings(answer, asked);
  if (!approved) {
    if (blocking.length === 0 && findings.every(({ wrong }) => wrong.trim() === '')) return FEEDBACK.noFinding;
    const isKnown = categories.length === 0 || categories.includes(category ?? '');
    return isKnown ? undefined : FEEDBACK.noCategory(categories.join(', '));
  }
  if (blocking.length > 0) return FEEDBACK.approvesBlock(blocking.map((one) => FEEDBACK.finding(one)));
  const unspoken = checkers.filter((one) => one.protected === true && !checks.some(({ path }) => path === one.path));
  if (unspoken.length > 0) return FEEDBACK.unspoken(pathsOf(unspoken));
  const refused = checkers.filter(({ path }) => checks.some((word) => word.path === path && !word.accepted));
  return refused.length === 0 ? undefined : FEEDBACK.refused(pathsOf(refused));
}

function pathsOf(changes: readonly CheckerChange[]): string {
  return changes.map(({ path }) => path).join(', ');
}

interface Verdict extends Weighed {
  readonly role: string;
  readonly agent: string;
  readonly look: Look | undefined;
  readonly approved: boolean;
  readonly summary: string;
  readonly category: string | undefined;
  readonly blocked: Blockage;
}

function verdictOf(
  { role, agent, look, cited }: ReviewPart,
  answer: ReviewAnswer,
  earlier: readonly RoundRecord[],
): Verdict {
  const { approved, summary, category, required_inputs = [], recommended_next_step = null } = answer;
  return {
    ...{ role, agent, look, approved, summary, ...weighFindings(answer, { earlier, cited }) },
    ...{ category: category ?? undefined, blocked: { required_inputs, recommended_next_step } },
  };
}

/** For the author, with what blocks; of a rejection that does not count, with its remarks. */
function feedbackOf(verdict: Verdict, open: readonly Finding[]): string {
  const { role, agent, look, approved, summary, blocking, remarks } = verdict;
  const isOverruled = !approved && blocking.length === 0;
  const said = FEEDBACK.said(approved ? 'approved' : isOverruled ? 'overruled' : 'rejected', look);
  const label = (finding: Finding): string => labelOf(open.findIndex((one) => keyOf(one) === keyOf(finding)));
  const lines = isOverruled
    ? remarks.map((remark) => remarkText(remark))
    : (approved ? [] : blocking).map((finding) => `${label(finding)}: ${FEEDBACK.finding(finding)}`);
  return [FEEDBACK.verdict(role, agent, said, summary), ...lines.map((line) => `- ${line}`)].join('\n');
}

function remarkText({ finding, unshown }: Weighed['remarks'][number]): string {
  const text = FEEDBACK.finding(finding);
  return unshown === undefined ? text : `${text} (${FEEDBACK.isRemark(unshown)})`;
}
