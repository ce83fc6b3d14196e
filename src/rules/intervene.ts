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
import {
  refuseAgent,
  refuseBeforeLook,
  refuseEnd,
  refuseRetry,
  refuseScope,
  refuseWhenOver,
  refuseWithoutDeadline,
  taskOf,
  type BoardPart,
} from './intervention-checks.ts';
import { lockOutAskedAbout } from './logins.ts';
import { refuseNote, withNote } from './notes.ts';
import { refuseRework, rework } from './rework.ts';
import { reopen, reopenAgent, reopenLogins } from './reopen-logins.ts';

type Of<V> = Extract<Intervention, { verb: V }>;

interface Row<Command> {
  readonly refuse?: (board: BoardPart, command: Command) => string | undefined;
  readonly apply: (draft: Draft, command: Command, by: string) => void;
}

/** Each command that an operator can give: why it is refused as the run stands, and what it does. */
const COMMANDS: { readonly [V in Intervention['verb']]: Row<Of<V>> } = {
  pause: {
    refuse: (board, { on }) => refuseScope(board, on) ?? refuseWhenOver(board),
    apply: (draft, { on }, by) => pause(draft, on, 'pause', by),
  },
  resume: {
    refuse: (board, { on }) =>
      board.pauses.has(on) ? undefined : (refuseScope(board, on) ?? `${on.replace('/', ' ')} is not paused`),
    apply: (draft, { on }) => void (draft.pauses = withoutEntry(draft.pauses, on)),
  },
  'past-deadline': {
    refuse: (board) => refuseWhenOver(board) ?? refuseWithoutDeadline(board),
    apply: (draft, _, by) => void (draft.pastDeadline = by),
  },
  drain: { refuse: refuseWhenOver, apply: (draft, _, by) => pause(draft, WHOLE_RUN, 'drain', by) },
  stop: { refuse: refuseWhenOver, apply: (draft, _, by) => pause(draft, WHOLE_RUN, 'stop', by) },
  cancel: {
    refuse: (board, { on }) =>
      on === WHOLE_RUN ? refuseWhenOver(board) : (refuseScope(board, on) ?? refuseEnd(board, taskOf(on))),
    apply: cancel,
  },
  retry: {
    refuse: (board, { task, agent }) => refuseRetry(board, task) ?? refuseAgent(board, task, agent),
    apply: retry,
  },
  skip: {
    refuse: (board, { task }) => refuseEnd(board, task, ['failed', 'cancelled']),
    apply: (draft, { task, why }, by) => override(draft, task, { as: 'skipped', by, why }),
  },
  override: {
    refuse: (board, { task, as }) =>
      refuseEnd(board, task, ['failed', 'cancelled', 'skipped'], as) ??
      (as === 'failed' ? refuseWhenOver(board) : refuseBeforeLook(board, task)),
    apply: (draft, { task, as, why }, by) => override(draft, task, { as, by, why }),
  },
  switch: {
    refuse: (board, { on, also = [] }) =>
      [on, ...also]
        .map((one) => (one === WHOLE_RUN ? 'an agent or a task is switched, not the run' : refuseScope(board, one)))
        .find((refused) => refused !== undefined),
    apply: changeRuntime,
  },
  tell: {
    refuse: refuseNote,
    apply: (draft, tell, by) => void Object.assign(draft, withNote(draft, tell, by)),
  },
  rework: { refuse: refuseRework, apply: rework },
  reload: { apply: reload },
};

/** Why an operator's command is refused as the run stands; undefined if it is not. */
export function refuseIntervention(board: BoardPart, command: Intervention): string | undefined {
  return rowOf(command).refuse?.(board, command);
}

/** Applies an operator's command, unless it comes too late. */
export function intervene(draft: Draft, command: Intervention, by: string): void {
  if (refuseIntervention(draft, command) === undefined) rowOf(command).apply(draft, command, by);
}

function rowOf({ verb }: Intervention): Row<Intervention> {
  return COMMANDS[verb] as Row<Intervention>;
}

function retry(draft: Draft, { task, fresh, note, agent }: Of<'retry'>): void {
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
}

function reload(draft: Draft, command: Of<'reload'>): void {
  const { setup, verify } = command;
  draft.facts = { ...draft.facts, prepares: setup.length > 0, verifies: verify.length > 0 };
  changeCriteria(draft, command);
  trySetupAgain(draft);
  checkBaselineAgain(draft);
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
  const task = taskOf(on);
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
