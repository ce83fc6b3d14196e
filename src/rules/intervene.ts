import { assertNever } from '../model/assert-never.ts';
import type { Intervention } from '../model/plan/intervention.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/scope.ts';
import { criterionCheck, type NewTask } from '../model/plan/task.ts';
import type { Work } from '../model/plan/work.ts';
import { defined } from '../text/defined.ts';
import { answerQuestion, withEntry, withoutEntry, workOn, type Draft } from './board.ts';
import { reaches } from './change-checks.ts';
import { SETUP_QUESTION } from './agent-request.ts';
import { checkBaselineAgain } from './baseline-checked.ts';
import { finishFailed, voidGate } from './finish.ts';
import { isJudge } from './gate.ts';
import { refuseIntervention } from './intervention-checks.ts';
import { lockOutAskedAbout } from './logins.ts';
import { reopen, reopenAgent, reopenLogins } from './reopen-logins.ts';

type Of<V extends Intervention['verb']> = Extract<Intervention, { verb: V }>;

/** Applies an operator's command, unless it comes too late. */
export function intervene(draft: Draft, intervention: Intervention, by: string): void {
  if (refuseIntervention(draft, intervention) !== undefined) return;
  switch (intervention.verb) {
    case 'pause':
      pause(draft, intervention.on, 'pause', by);
      return;
    case 'drain':
    case 'stop':
      pause(draft, WHOLE_RUN, intervention.verb, by);
      return;
    case 'resume':
      draft.pauses = withoutEntry(draft.pauses, intervention.on);
      return;
    case 'past-deadline':
      draft.pastDeadline = by;
      return;
    case 'cancel':
      cancel(draft, intervention, by);
      return;
    case 'retry': {
      const { task, fresh, note, agent } = intervention;
      const state = draft.tasks.get(task);
      const ended = state?.work.phase.at === 'ended';
      if (state !== undefined && agent !== undefined) {
        draft.tasks = draft.tasks.with({ ...state, task: { ...state.task, agent } });
      }
      voidGate(draft);
      withdrawQuestions(draft, task);
      reopenLogins(draft);
      workOn(draft, task, { type: 'retry-asked', fresh, note: note ?? null });
      if (ended) revive(draft, task);
      return;
    }
    case 'skip':
      override(draft, intervention.task, { as: 'skipped', by, why: intervention.why });
      return;
    case 'override':
      override(draft, intervention.task, { as: intervention.as, by, why: intervention.why });
      return;
    case 'switch':
      changeRuntime(draft, intervention);
      return;
    case 'reload':
      draft.facts = {
        ...draft.facts,
        prepares: intervention.setup.length > 0,
        verifies: intervention.verify.length > 0,
      };
      changeCriteria(draft, intervention);
      trySetupAgain(draft);
      checkBaselineAgain(draft);
      return;
    default:
      assertNever(intervention);
  }
}

/** The commands of criteria as their file has them now. What an agent proposed, no file has. */
function changeCriteria(draft: Draft, { criteria, doubtful }: Of<'reload'>): void {
  const { doubtful: _, ...facts } = draft.facts;
  const { objective } = facts;
  if (criteria === undefined || objective.criteria.some(({ proposed }) => proposed !== undefined)) return;
  const own = criteria.map(({ text, command }) => ({ text, ...defined({ command }) }));
  draft.facts = { ...facts, objective: { ...objective, criteria: own }, ...defined({ doubtful }) };
  const commands = own.flatMap(({ command }) => command ?? []);
  for (const state of draft.tasks.values()) {
    const { requires } = state.task;
    if (!requires.some((one) => one.kind === 'command' && one.ofCriterion === true)) continue;
    draft.tasks = draft.tasks.with({ ...state, task: { ...state.task, requires: commands.map(criterionCheck) } });
  }
}

function pause(draft: Draft, scope: string, verb: 'pause' | 'drain' | 'stop', by: string): void {
  draft.pauses = withEntry(draft.pauses, scope, { verb, by, at: draft.now });
}

function cancel(draft: Draft, { on, why }: Of<'cancel'>, by: string): void {
  const text = `cancelled by ${by}${why === '' ? '' : `: ${why}`}`;
  if (on === WHOLE_RUN) {
    draft.pauses = withoutEntry(draft.pauses, WHOLE_RUN);
    finishFailed(draft, text, 'cancelled');
    return;
  }
  const task = on.slice(taskScope('').length);
  withdrawQuestions(draft, task);
  workOn(draft, task, { type: 'override-asked', as: 'cancelled', by, why });
}

function override(
  draft: Draft,
  task: string,
  said: { readonly as: 'done' | 'failed' | 'skipped'; readonly by: string; readonly why: string },
): void {
  voidGate(draft);
  withdrawQuestions(draft, task);
  // The playbook must find the dependent tasks open when it hears of the end.
  if (said.as !== 'failed') revive(draft, task);
  workOn(draft, task, { type: 'override-asked', ...said });
}

/**
 * Continues a finished run, and reopens what was cancelled with the task or with the run, or skipped with the task. Tasks that the
 * operator ended stay ended.
 */
function revive(draft: Draft, task: string): void {
  const wasFinished = draft.finished !== null;
  draft.finished = null;
  draft.gate = { ...draft.gate, refused: 0 };
  const again = new Set([task]);
  for (const { task: other, work } of [...draft.tasks.values()]) {
    // A judge would judge an outdated state of the run.
    if (other.id === task || isJudge(other) || work.override !== null || work.phase.at !== 'ended') continue;
    const { as, cause } = work.phase;
    const isCancelled = as === 'cancelled' && (wasFinished || reaches(draft, other.id, task));
    // By its playbook. A skip because of a stall has a cause. Tasks come after those that they need.
    const isSkipped =
      as === 'skipped' && cause === null && other.needs.some((need) => again.has(need) && isPart(draft, other, need));
    if (!isCancelled && !isSkipped) continue;
    again.add(other.id);
    workOn(draft, other.id, { type: 'retry-asked', fresh: false, note: null, revived: true });
  }
}

/** Whether the task hands on or tests the work of this one, in the same piece of the plan. */
function isPart({ tasks }: Draft, { base, parent }: NewTask, need: string): boolean {
  return base === need || (parent !== undefined && (parent === need || parent === tasks.get(need)?.task.parent));
}

/** Withdraws questions about a task that the operator has decided on. */
function withdrawQuestions(draft: Draft, task: string): void {
  for (const question of draft.questions.values()) {
    const { answer, blocks, id } = question;
    if (answer !== null || blocks === 'run' || !blocks.includes(task)) continue;
    const left = blocks.filter((one) => one !== task);
    const rest = left.length === 0 ? { answer: 'withdrawn' } : { blocks: left };
    draft.questions = withEntry(draft.questions, id, { ...question, ...rest });
    const lockOut = lockOutAskedAbout(id);
    // If the account still does not work, the next attempt asks again.
    if (left.length === 0 && lockOut !== undefined) reopen(draft, lockOut.account);
  }
}

/** Tries a failed setup again, because a reload may have changed its commands. */
function trySetupAgain(draft: Draft): void {
  const asked = draft.questions.get(SETUP_QUESTION);
  if (asked === undefined || asked.answer !== null || asked.blocks === 'run') return;
  answerQuestion(draft, asked, 'withdrawn');
  for (const task of asked.blocks) workOn(draft, task, { type: 'unblocked', question: asked.id, goOn: true });
}

/** No old session is resumed, because a session belongs to a runtime. */
function changeRuntime(draft: Draft, { also = [], ...one }: Of<'switch'>): void {
  for (const on of [one.on, ...also]) changeRuntimeOf(draft, { ...one, on });
}

function changeRuntimeOf(draft: Draft, { on, runtime, model }: Of<'switch'>): void {
  draft.switches = withEntry(draft.switches, on, { runtime, model: model ?? null, seq: draft.seq });
  reopenAgent(draft, on, runtime);
  for (const state of [...draft.tasks.values()]) {
    const mine = on === taskScope(state.task.id);
    const work = leaveSessions(state.work, (agent) => on === agentScope(agent), mine);
    if (work !== state.work) draft.tasks = draft.tasks.with({ ...state, work });
  }
}

function leaveSessions(work: Work, isLeft: (agent: string) => boolean, author: boolean): Work {
  const { thread } = work.author;
  const left = thread !== null && (author || isLeft(thread.agent));
  const reviewers = Object.entries(work.reviewers).filter(([, one]) => !isLeft(one.agent));
  const { phase } = work;
  const judged = phase.at === 'reviewing' && phase.slots.some(({ request }) => isLeft(request.thread?.agent ?? ''));
  if (!left && !judged && reviewers.length === Object.keys(work.reviewers).length) return work;
  return {
    ...work,
    author: left ? { ...work.author, session: 'new' } : work.author,
    reviewers: Object.fromEntries(reviewers),
    phase: !judged
      ? phase
      : {
          ...phase,
          slots: phase.slots.map((slot) =>
            isLeft(slot.request.thread?.agent ?? '')
              ? { ...slot, request: { ...slot.request, session: 'new' as const } }
              : slot,
          ),
        },
  };
}
