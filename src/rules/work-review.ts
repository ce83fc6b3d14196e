import { defined } from '../text/defined.ts';
import { assertNever } from '../model/assert-never.ts';
import { disagreementsIn } from '../model/plan/author-report.ts';
import type { CheckerChange, CheckerWord } from '../model/plan/checker.ts';
import { reviewAnswerSchema } from '../model/plan/review.ts';
import { reviewsOf, type ReviewPolicy } from '../model/plan/task.ts';
import { categoriesOf, criteriaOf, openReviewOf, roundsOf } from '../model/plan/open-review.ts';
import type { ReplacedJudge } from '../model/plan/silent-judge.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import type { ReviewSlot, Work, WorkEvent } from '../model/plan/work.ts';
import { newRequest, settleRequest } from './agent-request.ts';
import { EVIDENCE } from './evidence-texts.ts';
import { FEEDBACK } from './feedback-texts.ts';
import { labelOf, openFindings } from './findings.ts';
import { lookProblem } from './looks.ts';
import { decideReview, reviewProblem, silentIn, type ReviewDecision, type ReviewPart } from './review.ts';
import { isSilent, nextJudge } from './seats.ts';
import { noteAccount } from './work-accounts.ts';
import { currentAttempts } from './work-requests.ts';
import {
  backToAuthor,
  done,
  fail,
  firstSentBack,
  roundsTaken,
  stay,
  type WorkContext,
  type WorkStep,
} from './work-step.ts';

type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;
type Reviewing = Work & { readonly phase: Extract<Work['phase'], { at: 'reviewing' }> };

const REVIEW_REPAIRS = 1;

/** Reviewers keep their session from round to round and judge this one commit. So does who judges in place of one. */
export function openReview(
  work: Work,
  commit: string,
  context: WorkContext,
  checkers: readonly CheckerChange[] = [],
): WorkStep {
  return openNext(work, commit, context, { checkers, review: 0 });
}

function openNext(
  work: Work,
  commit: string,
  { task, membersOf, threadOf }: WorkContext,
  { checkers, review }: { readonly checkers: readonly CheckerChange[]; readonly review: number },
): WorkStep {
  const policy = reviewsOf(task)[review];
  const lent = policy?.session === undefined ? null : threadOf(policy.session.of);
  const slots = (policy?.by ?? []).map((role): ReviewSlot => {
    const own = lent !== null && membersOf(role).includes(lent.agent) ? lent : null;
    const before = work.reviewers[role] ?? own;
    const wasReplaced = work.replaced?.some((one) => one.role === role && one.by === before?.agent) === true;
    const isOther = before !== null && wasReplaced && !membersOf(role).includes(before.agent);
    const instead = isOther && !work.authors.includes(before.agent) ? { instead: before.agent } : {};
    return { role, request: newRequest({ why: 'start' }, before), answer: null, tried: [], ...instead };
  });
  const changes = checkers.length === 0 ? {} : { checkers };
  const place = review === 0 ? {} : { review };
  return stay({ ...work, phase: { at: 'reviewing', commit, slots, ...changes, ...place } });
}

export function reviewSettled(work: Work, event: Settled, context: WorkContext): WorkStep {
  const { phase } = work;
  const review = openReviewOf(work, context.task);
  if (phase.at !== 'reviewing' || review === undefined) return stay(work);
  const slot = phase.slots.find(
    ({ request }) => request.state.at === 'live' && request.state.attempt === event.attempt,
  );
  if (slot === undefined || slot.request.state.at !== 'live') return stay(work);
  const { task, limits, now, isOpen } = context;
  // A verdict counts, whatever else its reviewer asked.
  const verdict = { ...event, awaits: [] };
  const asked = {
    earlier: roundsOf(work.rounds, review),
    cited: event.cited,
    categories: categoriesOf(review),
    criteria: criteriaOf(review, phase.checkers).length,
    isRepaired: slot.request.used.repairs >= REVIEW_REPAIRS,
  };
  const step = settleRequest(slot.request, slot.request.state, verdict, {
    name: `${task.id}/${slot.role}`,
    now,
    caps: { ...limits, repairs: REVIEW_REPAIRS },
    stallFallbacks: limits.stallFallbacks,
    isOpen,
    check: (output, look) => {
      const parsed = reviewAnswerSchema.safeParse(output);
      if (!parsed.success) return EVIDENCE.noForm('review');
      return reviewProblem(parsed.data, { ...asked, checkers: phase.checkers }) ?? lookProblem(output, look, context);
    },
  });
  const { agent } = slot.request.state;
  const answer = step.request.state.at === 'answered' ? reviewAnswerSchema.parse(step.output) : null;
  const settled = { ...slot, request: step.request, answer, ...defined({ cited: event.cited }) };
  const silent = isSilent(step.request) && event.failure?.kind !== 'not-stopped';
  const next = silent ? withAnother(settled, event, agent, { work, slots: phase.slots, context }) : { slot: settled };
  const slots = phase.slots.map((one) => (one === slot ? next.slot : one));
  const accounted = noteAccount(work, slot.request.state, slot.role, event);
  const noted =
    next.replaced === undefined ? accounted : { ...accounted, replaced: [...(work.replaced ?? []), next.replaced] };
  const decided = afterVerdict({ ...noted, phase: { ...phase, slots } }, review, context);
  return { ...decided, effects: [...step.effects, ...decided.effects] };
}

/** An approval answers a rejection, and not a check that failed before it. */
function withoutRejection(work: Reviewing): Reviewing {
  return work.sentBack?.by === 'review' ? { ...work, sentBack: null } : work;
}

/** Asks another agent in place of one that gave no verdict. If there is none, its request stays as it is: tried again, or failed. */
function withAnother(
  slot: ReviewSlot,
  { failure }: Settled,
  agent: string,
  about: { readonly work: Work; readonly slots: readonly ReviewSlot[]; readonly context: WorkContext },
): { readonly slot: ReviewSlot; readonly replaced?: ReplacedJudge } {
  const { authors, round } = about.work;
  const { role, request } = slot;
  const { state, prompt } = request;
  const spent = { ...slot, tried: [...new Set([...slot.tried, agent])] };
  const slots = about.slots.map((one) => (one.role === role ? spent : one));
  const by = nextJudge(spent, slots, authors, about.context);
  if (by === undefined) return { slot: state.at === 'failed' ? spent : slot };
  const last = failure === undefined ? undefined : `${failure.kind}: ${failure.message}`;
  const wrong = prompt.why === 'repair' ? `bad-output: ${prompt.text}` : '';
  const why = state.at === 'failed' ? state.why : (last ?? wrong);
  return {
    slot: { ...spent, request: newRequest({ why: 'start' }), instead: by },
    replaced: { round, role, agent, by, why },
  };
}

function afterVerdict(work: Reviewing, review: ReviewPolicy, context: WorkContext): WorkStep {
  const earlier = roundsOf(work.rounds, review);
  const decision = decideReview(review, work.phase.slots.map(partOf), earlier);
  switch (decision.do) {
    case 'wait':
      return stay(work);
    case 'give-up':
      return fail(work, context, 'attempts', `the review of ${work.phase.commit.slice(0, 12)}: ${decision.why}`);
    case 'approve': {
      const { commit, checkers = [], review: place = 0 } = work.phase;
      const approved = !decision.overruled;
      const judged = closeRound(withoutRejection(work), review, { ...decision, approved, findings: [] }, context);
      const next = place + 1;
      if (next < reviewsOf(context.task).length) return openNext(judged, commit, context, { checkers, review: next });
      return context.task.integrate
        ? stay({ ...judged, phase: { at: 'in-queue', commit, since: context.seq } })
        : done(judged, context);
    }
    case 'reject':
      return rejected(
        closeRound(work, review, { ...decision, approved: false, overruled: false }, context),
        decision,
        review,
        context,
      );
    default:
      return assertNever(decision);
  }
}

function rejected(
  work: Work,
  decision: Extract<ReviewDecision, { do: 'reject' }>,
  review: ReviewPolicy,
  context: WorkContext,
): WorkStep {
  const { rounds, whenNotConverging, reopens = {} } = review;
  const taken = takenOf(work, review);
  // The first round after an operator's retry is compared with none.
  const stops = whenNotConverging === 'stop' && !decision.converging && taken > 1;
  const note = decision.converging ? '' : stops ? FEEDBACK.stops(FEEDBACK.notConverging) : FEEDBACK.notConverging;
  const text = note === '' ? decision.feedback : `${decision.feedback}\n\n${note}`;
  const { category, blocked } = decision;
  const last = { ...work, feedback: [...work.feedback, text] };
  if (category !== undefined && blocked !== undefined) {
    const { required_inputs: inputs, recommended_next_step: next } = blocked;
    return fail(last, context, 'blocked', FEEDBACK.blocked(category, inputs, next));
  }
  const goesOn = taken < rounds && !stops;
  if (goesOn && category !== undefined && reopens[category] === 'playbook')
    return toPlaybook(last, context, { taken, rounds, category });
  if (goesOn) {
    const returned = work.commit;
    return stay({
      ...backToAuthor(work, 'review', text),
      round: work.round + 1,
      returned,
      sentBack: firstSentBack(work, { by: 'review', text }),
    });
  }
  return fail(
    last,
    context,
    'rejected',
    [`rejected in round ${taken} of ${rounds}`, ...(note === '' ? [] : [note])].join('; '),
  );
}

/** The task ends, and its playbook decides what is done again. It may open the task again, in its rounds. */
function toPlaybook(
  work: Work,
  context: WorkContext,
  { taken, rounds, category }: { readonly taken: number; readonly rounds: number; readonly category: string },
): WorkStep {
  const step = fail(work, context, 'rejected', `rejected in round ${taken} of ${rounds}: ${category}`);
  return { ...step, news: step.news.map((one) => (one.type === 'task-failed' ? { ...one, category } : one)) };
}

/** The rounds of one review that count against its limit: of several, each counts its own rejections, and this one is on record. */
function takenOf(work: Work, { id }: ReviewPolicy): number {
  if (id === undefined) return roundsTaken(work);
  return roundsOf(work.rounds, { id }).filter(({ approved, round }) => !approved && round > work.granted).length;
}

function closeRound(
  work: Reviewing,
  { id }: ReviewPolicy,
  verdict: Pick<RoundRecord, 'approved' | 'feedback' | 'findings' | 'labels' | 'open' | 'settled' | 'by'> & {
    readonly overruled: boolean;
    readonly followUps: readonly string[];
  } & Pick<RoundRecord, 'category' | 'blocked'>,
  { now }: WorkContext,
): Work {
  const { approved, feedback, findings, open = [], settled = [], by } = verdict;
  const words = [...(work.words ?? []), ...wordsIn(work.phase)];
  const silent = silentIn(work.phase.slots.map(partOf));
  const of = id === undefined ? {} : { review: id, at: now };
  const asked = openFindings(roundsOf(work.rounds, { id })).map((_, index) => labelOf(index));
  const disagreed = work.report?.round === work.round ? disagreementsIn(work.report, asked) : [];
  const record: RoundRecord = {
    ...{ round: work.round, commit: work.phase.commit, approved },
    ...of,
    ...(verdict.overruled ? { overruled: true } : {}),
    ...{ feedback, findings, by },
    ...(open.length === 0 ? {} : { open }),
    ...(settled.length === 0 ? {} : { settled }),
    ...(disagreed.length === 0 ? {} : { disagreed }),
    ...defined({ labels: verdict.labels, category: verdict.category, blocked: verdict.blocked }),
    ...(silent.length === 0 ? {} : { silent }),
  };
  return {
    ...work,
    rounds: [...work.rounds, record],
    ...(words.length === 0 ? {} : { words }),
    followUps: [...new Set([...work.followUps, ...verdict.followUps])],
    leaving: [...work.leaving, ...currentAttempts(work)],
  };
}

/** Drops words about paths that the review did not ask about. */
function wordsIn({ slots, commit, checkers = [] }: Reviewing['phase']): CheckerWord[] {
  const asked = new Set(checkers.map(({ path }) => path));
  return slots.flatMap(({ request, answer }) =>
    (answer?.checks ?? [])
      .filter(({ path }) => asked.has(path))
      .map((word) => ({ ...word, by: request.thread?.agent ?? '', commit })),
  );
}

function partOf({ role, request, answer, cited }: ReviewSlot): ReviewPart {
  const state = request.state.at === 'answered' ? 'answered' : request.state.at === 'failed' ? 'failed' : 'pending';
  const why = request.state.at === 'failed' ? { why: request.state.why } : {};
  return { role, agent: request.thread?.agent ?? '', state, answer, look: request.look, cited, ...why };
}
