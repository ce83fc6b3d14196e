import { assertNever } from '../model/assert-never.ts';
import { ACCOUNT_TIMER } from '../model/shared-spending.ts';
import type { Json } from '../text/json.ts';
import type { Board, Question, RunFacts, TaskState, TaskTimes } from '../model/plan/board.ts';
import type { PlanEffect, WorkEffect } from '../model/plan/effect.ts';
import type { PlaybookEvent, PlaybookNews } from '../model/plan/event.ts';
import { CLOSED_GATE } from '../model/plan/gate.ts';
import type { NewTask } from '../model/plan/task.ts';
import { TaskTable } from '../model/plan/task-table.ts';
import type { WorkEvent, Work } from '../model/plan/work.ts';
import { newBaseline } from './baseline.ts';
import { ENGINE_OPTIONS } from './agent-request.ts';
import { afterCatchUp } from './catch-up.ts';
import { afterJudge, authorsOf, judgeInstead } from './gate.ts';
import { lockOutAskedAbout, lockOutOf, lockOutQuestions } from './logins.ts';
import { notesAfter } from './notes.ts';
import { isFree, lockKey } from './stand-ins.ts';
import { newWork, stepWork } from './work.ts';
import type { WorkContext } from './work-step.ts';

export interface BoardStep {
  readonly board: Board;
  readonly effects: readonly PlanEffect[];
  /** For the playbook, in this order. */
  readonly events: readonly PlaybookEvent[];
}

/** A board in the making. It shares its parts with the board before it: they are replaced, never changed. */
export type Draft = { -readonly [Part in keyof Board]: Board[Part] } & {
  /** Records that only this draft has, by name. They are copied once, because one step may write thousands. */
  readonly ownRecords: Map<string, Map<string, Json>>;
  readonly effects: PlanEffect[];
  readonly news: PlaybookNews[];
};

export interface Moment {
  readonly seq: number;
  readonly at: number;
}

export function createBoard(facts: RunFacts): Board {
  return {
    now: 0,
    seq: 0,
    facts,
    tasks: new TaskTable(),
    records: new Map(),
    timers: new Map(),
    questions: new Map(),
    mail: new Map(),
    accounts: new Map(),
    lockedOut: new Map(),
    pauses: new Map(),
    switches: new Map(),
    notes: [],
    pastDeadline: null,
    gate: CLOSED_GATE,
    baseline: newBaseline(facts),
    branch: { head: facts.base, foreign: null, checkedOut: null },
    finished: null,
  };
}

export function draftOf(board: Board, moment: Moment): Draft {
  return { ...board, now: moment.at, seq: moment.seq, ownRecords: new Map(), effects: [], news: [] };
}

export function withEntry<V>(map: ReadonlyMap<string, V>, id: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(id, value);
}

export function withoutEntry<V>(map: ReadonlyMap<string, V>, id: string): ReadonlyMap<string, V> {
  const rest = new Map(map);
  rest.delete(id);
  return rest;
}

export function askQuestion(draft: Draft, question: Omit<Question, 'answer'>): void {
  draft.questions = withEntry<Question>(draft.questions, question.id, { ...question, answer: null });
}

export function answerQuestion(draft: Draft, question: Question, answer: string): void {
  draft.questions = withEntry(draft.questions, question.id, { ...question, answer });
}

export function finishDraft(draft: Draft): BoardStep {
  if (draft.finished === null) settleLockOuts(draft);
  const { effects, news, ownRecords: _, ...board } = draft;
  return { board, effects, events: news.map((one) => ({ seq: draft.seq, at: draft.now, ...one })) };
}

export function addState(draft: Draft, task: NewTask, depth: number): void {
  const { size: order } = draft.tasks;
  draft.tasks = draft.tasks.with({ task, order, depth, at: { added: draft.now }, work: newWork() });
}

export function workOn(draft: Draft, taskId: string, event: WorkEvent): void {
  const state = draft.tasks.get(taskId);
  if (state === undefined) throw new Error(`no task ${taskId} on the board`);
  const step = stepWork(state.work, event, contextOf(draft, state));
  draft.notes = notesAfter(draft.notes, event, { task: taskId, isOver: step.work.phase.at === 'ended' });
  const after = { ...state, work: step.work, at: timesAfter(state, step.work, draft.now) };
  draft.tasks = draft.tasks.with(after);
  if (event.type === 'branch-advanced' && state.work.phase.at === 'advancing') {
    draft.branch = { ...draft.branch, head: event.commit };
  }
  for (const effect of step.effects) applyEffect(draft, effect, taskId);
  if (state.task.owner === 'engine') {
    const other = judgeInstead(draft, after, step.news);
    if (other !== undefined) return askInstead(draft, after, other);
    const asked = after.task.foreign === undefined ? undefined : afterCatchUp(after, step.news);
    if (asked !== undefined) {
      draft.gate = { ...draft.gate, at: 'idle' };
      draft.news.push(asked);
    }
    draft.gate = afterJudge(draft.gate, after, step.news, authorsOf([...draft.tasks.values()]));
  } else draft.news.push(...step.news);
}

/** Starts the task from the beginning with another agent. */
export function askInstead(
  draft: Draft,
  { task: { id } }: TaskState,
  { agent, why }: { readonly agent: string; readonly why: string },
): void {
  workOn(draft, id, { type: 'reopened', feedback: why, session: 'new', agent });
  const state = draft.tasks.get(id);
  if (state !== undefined) draft.tasks = draft.tasks.with({ ...state, task: { ...state.task, agent } });
}

type Of<E extends WorkEffect['effect']> = Extract<WorkEffect, { effect: E }>;

function contextOf(draft: Draft, state: TaskState): WorkContext {
  const { limits, verifies, looks } = draft.facts;
  const isOpen = (id: string): boolean => (draft.mail.get(id)?.owes.length ?? 0) > 0;
  const membersOf = (role: string): string[] =>
    draft.facts.roster.flatMap((member) => (member.role === role ? [member.name] : []));
  return {
    task: state.task,
    limits,
    ...{ verifies, looks },
    now: draft.now,
    seq: draft.seq,
    head: draft.branch.head,
    isOpen,
    threadOf: (id) => draft.tasks.get(id)?.work.author.thread ?? null,
    membersOf,
    judges: draft.facts.judges,
    isFree: (name) => isFree(draft, state.task.id, name),
  };
}

function applyEffect(draft: Draft, effect: WorkEffect, taskId: string): void {
  switch (effect.effect) {
    case 'ask':
      return askOnce(draft, effect, taskId);
    case 'lock-out':
      return lockOut(draft, effect);
    case 'limit-account':
      return limitAccount(draft, effect);
    case 'set-timer':
      draft.effects.push(effect);
      return;
    default:
      assertNever(effect);
  }
}

function lockOut(draft: Draft, effect: Of<'lock-out'>): void {
  const { of, lock } = lockOutOf(effect);
  draft.lockedOut = withEntry(draft.lockedOut, lockKey(lock.account, of), lock);
}

/** Questions about lock-outs follow from who is locked out now: they are asked, worded again and withdrawn with that. */
function settleLockOuts(draft: Draft): void {
  const open = [...draft.questions.values()].filter(
    ({ id, answer }) => answer === null && lockOutAskedAbout(id) !== undefined,
  );
  if (draft.lockedOut.size === 0 && open.length === 0) return;
  const due = lockOutQuestions(draft);
  for (const question of open) {
    if (!due.some(({ id }) => id === question.id)) answerQuestion(draft, question, 'withdrawn');
  }
  for (const { id, text, blocks } of due) {
    const asked = open.find((one) => one.id === id);
    if (asked?.text === text && asked.blocks.toString() === blocks.toString()) continue;
    askQuestion(draft, { id, text, blocks, options: [...ENGINE_OPTIONS], by: 'engine' });
  }
}

/** Tasks with the same problem share one question. */
function askOnce(draft: Draft, { id, text, options }: Omit<Of<'ask'>, 'effect'>, taskId: string): void {
  const open = draft.questions.get(id);
  if (open !== undefined && open.answer === null && open.blocks !== 'run') {
    const blocks = [...new Set([...open.blocks, taskId])];
    draft.questions = withEntry(draft.questions, id, { ...open, blocks });
    return;
  }
  askQuestion(draft, { id, text, options, blocks: [taskId], by: 'engine' });
}

/** The account's turns wait, and a timer wakes them. The timer is never earlier than the account's reset. */
function limitAccount(draft: Draft, { account, until: at }: Of<'limit-account'>): void {
  const until = Math.max(at, draft.accounts.get(account)?.until ?? 0);
  draft.accounts = withEntry(draft.accounts, account, { until, probe: null });
  draft.effects.push({ effect: 'set-timer', id: `${ACCOUNT_TIMER}${account}`, at: until });
}

/** The times of a task after a step at `now`. The first start and the newest review count; an end counts until the task is opened again. */
export function timesAfter({ at, work: before }: TaskState, work: Work, now: number): TaskTimes {
  const { phase } = work;
  const isEnd = phase.at === 'ended';
  const { ended, ...begun } = at;
  const hasBegun = work.attempts > 0 || (phase.at !== 'working' && !isEnd);
  const started = begun.started ?? (hasBegun ? now : undefined);
  const judged = phase.at === 'reviewing' && before.phase.at !== 'reviewing' ? now : begun.judged;
  const end = isEnd ? (before.phase === phase ? ended : now) : undefined;
  if (started === at.started && judged === at.judged && end === ended) return at;
  return {
    added: at.added,
    ...(started === undefined ? {} : { started }),
    ...(judged === undefined ? {} : { judged }),
    ...(end === undefined ? {} : { ended: end }),
  };
}
