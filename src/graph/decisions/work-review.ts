import { assertNever } from '../../model/assert-never.ts';
import type { CheckerChange, CheckerWord } from '../../model/plan/checker.ts';
import { reviewAnswerSchema } from '../../model/plan/review.ts';
import type { ReviewPolicy } from '../../model/plan/task.ts';
import type { ReviewSlot, RoundRecord, Work, WorkEvent } from '../../model/plan/work.ts';
import { newRequest, settleRequest, type RequestStep } from './agent-request.ts';
import { lookProblem } from './looks.ts';
import { decideReview, reviewProblem, type ReviewPart } from './review.ts';
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

type Reviewing = Work & { readonly phase: Extract<Work['phase'], { at: 'reviewing' }> };

const REVIEW_REPAIRS = 1;

/** Reviewers keep their session from round to round and judge this one commit. */
export function openReview(
  work: Work,
  commit: string,
  { task }: WorkContext,
  checkers: readonly CheckerChange[] = [],
): WorkStep {
  const slots = (task.review?.by ?? []).map((role): ReviewSlot => {
    const before = work.reviewers[role] ?? null;
    return { role, request: newRequest({ why: 'start' }, before), answer: null, tried: [] };
  });
  const changes = checkers.length === 0 ? {} : { checkers };
  return stay({ ...work, phase: { at: 'reviewing', commit, slots, ...changes } });
}

export function reviewSettled(
  work: Work,
  event: Extract<WorkEvent, { type: 'attempt-settled' }>,
  context: WorkContext,
): WorkStep {
  const { phase } = work;
  const { review } = context.task;
  if (phase.at !== 'reviewing' || review === undefined) return stay(work);
  const slot = phase.slots.find(
    ({ request }) => request.state.at === 'live' && request.state.attempt === event.attempt,
  );
  if (slot === undefined || slot.request.state.at !== 'live') return stay(work);
  const { task, limits, now, isOpen } = context;
  // A verdict counts, whatever else its reviewer asked.
  const verdict = { ...event, awaits: [] };
  const step = settleRequest(slot.request, slot.request.state, verdict, {
    name: `${task.id}/${slot.role}`,
    now,
    caps: { ...limits, repairs: REVIEW_REPAIRS },
    stallFallbacks: limits.stallFallbacks,
    isOpen,
    check: (output, look) => {
      const parsed = reviewAnswerSchema.safeParse(output);
      if (!parsed.success) return 'no answer of the form review';
      return reviewProblem(parsed.data, phase.checkers) ?? lookProblem(output, look, context);
    },
  });
  const next = nextOf(slot, slot.request.state.agent, step, work, context);
  const slots = phase.slots.map((one) => (one === slot ? next : one));
  const noted = noteAccount(work, slot.request.state, slot.role, event);
  const decided = afterVerdict({ ...noted, phase: { ...phase, slots } }, review, context);
  return { ...decided, effects: [...step.effects, ...decided.effects] };
}

/** An approval answers a rejection, and not a check that failed before it. */
function withoutRejection(work: Reviewing): Reviewing {
  return work.sentBack?.by === 'review' ? { ...work, sentBack: null } : work;
}

/** Replaces a reviewer whose answers had the wrong form twice, if there is another. */
function nextOf(
  slot: ReviewSlot,
  agent: string,
  { request, output }: RequestStep,
  { authors }: Work,
  { membersOf }: WorkContext,
): ReviewSlot {
  const { state } = request;
  const answer = state.at === 'answered' ? reviewAnswerSchema.parse(output) : null;
  if (state.at !== 'failed' || state.cause !== 'bad-output') return { ...slot, request, answer };
  const tried = [...slot.tried, agent];
  const left = membersOf(slot.role).filter((name) => !authors.includes(name) && !tried.includes(name));
  return { ...slot, request: left.length === 0 ? request : newRequest({ why: 'start' }), answer, tried };
}

function afterVerdict(work: Reviewing, review: ReviewPolicy, context: WorkContext): WorkStep {
  const decision = decideReview(review, work.phase.slots.map(partOf), work.rounds);
  switch (decision.do) {
    case 'wait':
      return stay(work);
    case 'give-up':
      return fail(work, context, 'attempts', `the review of ${work.phase.commit.slice(0, 12)}: ${decision.why}`);
    case 'approve': {
      const { commit } = work.phase;
      const judged = closeRound(withoutRejection(work), { ...decision, approved: !decision.overruled, findings: [] });
      return context.task.integrate
        ? stay({ ...judged, phase: { at: 'in-queue', commit, since: context.seq } })
        : done(judged, context);
    }
    case 'reject':
      return rejected(closeRound(work, { ...decision, approved: false, overruled: false }), decision, review, context);
    default:
      return assertNever(decision);
  }
}

function rejected(
  work: Work,
  decision: { readonly feedback: string; readonly converging: boolean },
  { rounds, whenNotConverging }: ReviewPolicy,
  context: WorkContext,
): WorkStep {
  const taken = roundsTaken(work);
  // The first round after an operator's retry is compared with none.
  const stops = whenNotConverging === 'stop' && !decision.converging && taken > 1;
  const same = 'not converging: the same findings as in the round before';
  const note = decision.converging ? '' : stops ? `${same}, so the work stops` : same;
  const text = note === '' ? decision.feedback : `${decision.feedback}\n\n${note}`;
  if (taken < rounds && !stops) {
    const returned = work.commit;
    return stay({
      ...backToAuthor(work, 'review', text),
      round: work.round + 1,
      returned,
      sentBack: firstSentBack(work, { by: 'review', text }),
    });
  }
  const last = { ...work, feedback: [...work.feedback, text] };
  return fail(
    last,
    context,
    'rejected',
    [`rejected in round ${taken} of ${rounds}`, ...(note === '' ? [] : [note])].join('; '),
  );
}

function closeRound(
  work: Reviewing,
  verdict: Pick<RoundRecord, 'approved' | 'feedback' | 'findings' | 'by'> & {
    readonly overruled: boolean;
    readonly followUps: readonly string[];
  },
): Work {
  const { approved, feedback, findings, by } = verdict;
  const words = [...(work.words ?? []), ...wordsIn(work.phase)];
  const record: RoundRecord = {
    ...{ round: work.round, commit: work.phase.commit, approved },
    ...(verdict.overruled ? { overruled: true } : {}),
    ...{ feedback, findings, by },
  };
  return {
    ...work,
    rounds: [...work.rounds, record],
    ...(words.length === 0 ? {} : { words }),
    followUps: [...new Set([...work.followUps, ...verdict.followUps])],
    leaving: [...work.leaving, ...currentAttempts(work)],
  };
}

/** What its reviewers said of the changed checks; of other paths nothing counts. */
function wordsIn({ slots, commit, checkers = [] }: Reviewing['phase']): CheckerWord[] {
  const asked = new Set(checkers.map(({ path }) => path));
  return slots.flatMap(({ request, answer }) =>
    (answer?.checks ?? [])
      .filter(({ path }) => asked.has(path))
      .map((word) => ({ ...word, by: request.thread?.agent ?? '', commit })),
  );
}

function partOf({ role, request, answer }: ReviewSlot): ReviewPart {
  const state = request.state.at === 'answered' ? 'answered' : request.state.at === 'failed' ? 'failed' : 'pending';
  const why = request.state.at === 'failed' ? { why: request.state.why } : {};
  return { role, agent: request.thread?.agent ?? '', state, answer, look: request.look, ...why };
}
