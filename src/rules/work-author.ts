import { disagreesWithAll } from '../model/plan/author-report.ts';
import type { EvidenceFacts } from '../model/plan/evidence.ts';
import type { Cause } from '../model/plan/task.ts';
import type { RequestState, Work, WorkEvent } from '../model/plan/work.ts';
import { ENGINE_OPTIONS, settleRequest } from './agent-request.ts';
import { lookProblem } from './looks.ts';
import { isCheckedAgain } from './check-again.ts';
import { notesIn, noting } from './check-notes.ts';
import { decideEvidence } from './evidence.ts';
import { EVIDENCE } from './evidence-texts.ts';
import { openReview } from './work-review.ts';
import { noteAccount } from './work-accounts.ts';
import { afterFirst, backToAuthor, done, end, fail, stay, type WorkContext, type WorkStep } from './work-step.ts';

type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;

/** How often an agent is asked again for missing evidence before its task fails. */
const EVIDENCE_RETURNS = 1;

export function authorSettled(
  work: Work,
  live: Extract<RequestState, { at: 'live' }>,
  event: Settled,
  context: WorkContext,
): WorkStep {
  const { task, limits, now, isOpen } = context;
  const step = settleRequest(work.author, live, event, {
    name: task.id,
    now,
    caps: { ...limits, retries: task.retries ?? limits.retries, repairs: task.output?.repairs ?? 1 },
    stallFallbacks: limits.stallFallbacks,
    isOpen,
    check: (output, look) => {
      if (task.output === undefined) return undefined;
      if (output === undefined) return EVIDENCE.noForm(task.output.schema);
      return event.problems?.join('\n') ?? lookProblem(output, look, context);
    },
  });
  const next = { ...noteAccount(work, live, null, event), ...reportOf(work, event), author: step.request };
  const { state } = step.request;
  if (state.at === 'failed') return cannotGoOn(next, state, step.way, context);
  if (state.at !== 'answered') return { work: next, effects: step.effects, news: [] };
  return authorAnswered({ ...next, output: step.output ?? null }, context);
}

/** The report with which its author ends a turn. Replies are to the findings of one round: later turns of that round may leave them out. */
function reportOf({ report: before, round }: Work, { outcome, report }: Settled): Pick<Work, 'report'> {
  if (outcome !== 'completed') return {};
  const last = before?.round === round ? before.replies : [];
  if (report === undefined) return before === undefined ? {} : { report: { ...before, replies: last } };
  return { report: { ...report, replies: report.replies.length === 0 ? last : report.replies, round } };
}

/** The last fallback after a stall. Work that has a reviewer is judged as it is; the engine commits it. */
function cannotGoOn(
  work: Work,
  state: Extract<RequestState, { at: 'failed' }>,
  way: 'skip' | 'fail' | undefined,
  context: WorkContext,
): WorkStep {
  const { task } = context;
  if (way === 'skip') return end(work, context, 'skipped', state.cause, afterFirst(work, state.why));
  if (way === undefined || task.review === undefined || task.workspace !== 'own') {
    return fail(work, context, state.cause, state.why);
  }
  return stay({ ...work, stalled: state.why, phase: { at: 'gathering' } });
}

/** The agent says that it is done. From here on, only what the engine finds counts. */
export function authorAnswered(work: Work, context: WorkContext): WorkStep {
  const { task } = context;
  if (task.requires.length === 0 && !isJudged(context)) return done(work, context);
  return stay({ ...work, phase: { at: 'gathering' } });
}

export function evidenceGathered(before: Work, facts: EvidenceFacts, context: WorkContext): WorkStep {
  if (before.phase.at !== 'gathering') return stay(before);
  const { task } = context;
  const work = noting({ ...before, kept: facts.commit ?? before.kept }, notesIn(facts.commands));
  const judged = isJudged(context);
  // A check owns no commit.
  const isAnswer = task.kind === 'check' || task.workspace !== 'own' || mayLookAgain(work);
  const returned = isAnswer ? null : work.returned;
  const { stalled } = work;
  const requires = stalled === null ? task.requires : task.requires.filter(({ kind }) => kind !== 'commit');
  const changes = judged && task.mayChangeNothing !== true;
  const answer = decideEvidence({ requires, judged: changes, returned, output: work.output }, facts);
  if (!answer.ok && stalled !== null) return fail(work, context, 'attempts', stalled);
  if (!answer.ok && work.returned !== null && isCheckedAgain(work, facts)) {
    return stay({
      ...work,
      commit: work.returned,
      phase: { at: 'in-queue', commit: work.returned, since: context.seq },
    });
  }
  if (!answer.ok) {
    const { prProblem } = facts;
    // Only the pull request is missing, and its author cannot fix the forge.
    if (prProblem !== undefined && answer.missing.length === 1) return askAboutForge(work, prProblem, context);
    return withoutEvidence(work, answer.missing, context, facts.lost === true ? 'attempts' : 'no-evidence');
  }
  const commit = task.workspace === 'own' ? answer.commit : null;
  const returns = { ...work.returns, evidence: 0 };
  const sentBack = work.sentBack?.by === 'evidence' ? null : work.sentBack;
  const proven = { ...work, commit, base: facts.base, returned: null, stalled: null, returns, sentBack };
  if (!judged || commit === null) return done(proven, context);
  if (task.review !== undefined) return openReview(proven, commit, context, facts.checkers);
  const at = before.phase.holdsQueue === true ? 'integrating' : 'in-queue';
  return stay({ ...proven, phase: { at, commit, since: context.seq } });
}

/** Its author disagrees with each finding of the only rejection of this commit, so it is reviewed once more as it is. */
function mayLookAgain({ returned, report, rounds, round }: Work): boolean {
  const last = rounds.at(-1);
  const rejections = rounds.filter(({ commit, approved }) => commit === returned && !approved);
  if (report?.round !== round || last === undefined || last !== rejections[0] || rejections.length > 1) return false;
  return disagreesWithAll(report, last.labels ?? []);
}

/** A person fixes the forge, so this uses none of the author's returns. */
function askAboutForge(work: Work, problem: string, { task }: WorkContext): WorkStep {
  const question = `engine/pull-request/${task.id}`;
  const back = backToAuthor(work, 'evidence', `there is no pull request yet: ${problem}`);
  const text = `no pull request can be opened for ${task.id}: ${problem}`;
  return {
    work: { ...back, author: { ...back.author, state: { at: 'blocked', question } } },
    effects: [{ effect: 'ask', id: question, text, options: [...ENGINE_OPTIONS] }],
    news: [],
  };
}

export function withoutEvidence(work: Work, missing: readonly string[], context: WorkContext, cause: Cause): WorkStep {
  const text = missing.join('\n');
  if (context.task.kind === 'check') return fail(work, context, 'verify', text);
  if (work.returns.evidence >= EVIDENCE_RETURNS) return fail(work, context, cause, text);
  const returns = { ...work.returns, evidence: work.returns.evidence + 1 };
  const sentBack = work.sentBack ?? { by: 'evidence', text };
  return stay(backToAuthor({ ...work, returns, sentBack }, 'evidence', text));
}

function isJudged({ task }: WorkContext): boolean {
  return task.kind === 'work' && (task.review !== undefined || task.integrate);
}
