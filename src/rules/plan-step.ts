import { assertNever } from '../model/assert-never.ts';
import type { AnswerForm, Playbook } from '../model/plan.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { PlanChange } from '../model/plan/change.ts';
import type { PlanEffect } from '../model/plan/effect.ts';
import type { PlanEntry } from '../model/plan/entry.ts';
import type { PlanEvent, PlanNews, PlaybookEvent } from '../model/plan/event.ts';
import { judgementAnswerSchema, verdictsIn, type Verdict } from '../model/plan/gate.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import { readReport } from '../model/plan/author-report.ts';
import { defined } from '../text/defined.ts';
import type { Json } from '../text/json.ts';
import { acceptEvent } from './accept-event.ts';
import { applyChanges } from './apply-changes.ts';
import {
  draftOf,
  finishDraft,
  withEntry,
  withoutEntry,
  workOn,
  type BoardStep,
  type Draft,
  type Moment,
} from './board.ts';
import { isJudge } from './gate.ts';
import { evidenceProblems, type Judged } from './judge-evidence.ts';
import { findForeign } from './run-branch.ts';
import { createView } from './view.ts';

export type PlanInput = Moment & ({ readonly task: string; readonly work: WorkEvent } | { readonly event: PlanNews });

export interface PlanStep {
  readonly board: Board;
  /** For the ledger, in the order applied. */
  readonly entries: readonly PlanEntry[];
  readonly effects: readonly PlanEffect[];
}

type Policy = Pick<Playbook<never>, 'name' | 'advance' | 'answers'>;

/** A longer chain of events and changes means that the playbook goes in circles. */
const MOST_EVENTS = 4_000;
/** So do more refusals than this after one input. */
const MOST_REFUSALS = 100;

/** Applies one input after the other. The playbook answers each before the next. */
export function applyInputs(board: Board, playbook: Policy, inputs: readonly PlanInput[]): PlanStep {
  return inputs.reduce<PlanStep>((before, input) => {
    const { board: after, entries, effects } = applyInput(before.board, playbook, input);
    return { board: after, entries: [...before.entries, ...entries], effects: [...before.effects, ...effects] };
  }, empty(board));
}

/** Applies changes of the engine itself: the plan at the start, and the end of a run in which nothing can move. */
export function changePlan(board: Board, playbook: Policy, changes: readonly PlanChange[], moment: Moment): PlanStep {
  const { seq, at } = moment;
  return advance(applyChanges(board, changes, moment), playbook, { entry: 'changes', seq, at, changes: [...changes] });
}

function applyInput(board: Board, playbook: Policy, input: PlanInput): PlanStep {
  const { seq, at } = input;
  if ('work' in input) {
    const state = board.tasks.get(input.task);
    // A replayed or foreign record may name an unknown task.
    if (state === undefined) return empty(board);
    const work = withProblems(playbook, board, state, input.work);
    const entry: PlanEntry = { entry: 'work', seq, at, task: input.task, event: work };
    return advance(applyWork(board, input.task, work, input), playbook, entry);
  }
  const event: PlanEvent = { seq, at, ...input.event };
  return advance(acceptEvent(board, event), playbook, { entry: 'event', seq, at, event });
}

/** Stores what an author's answer says in the event: its report, or the playbook's problems, because a fold has no playbook. */
export function withProblems({ answers }: Policy, board: Board, state: TaskState, event: WorkEvent): WorkEvent {
  const { task, work } = state;
  const { author } = work;
  if (event.type !== 'attempt-settled' || event.output === undefined) return event;
  const isAuthors = author.state.at === 'live' && author.state.attempt === event.attempt;
  if (isAuthors && task.output === undefined) {
    const { output, ...rest } = event;
    return { ...rest, ...defined({ report: readReport(output) }) };
  }
  if (!isAuthors || task.output === undefined) return event;
  const form = task.owner === 'engine' ? undefined : answers?.[task.output.schema];
  const reading = form?.read?.(createView(board), event.output, task.id);
  if (reading?.problems === undefined) return withUnshown(answers, board, state, event);
  const { refusal } = form ?? {};
  const problems = refusal === undefined ? reading.problems : [refusal, ...reading.problems.map((one) => `- ${one}`)];
  return { ...event, problems: [...problems] };
}

/** Evidence that is not there goes back to its judge once. */
function withUnshown(answers: Policy['answers'], board: Board, state: TaskState, event: WorkEvent): WorkEvent {
  if (event.type !== 'attempt-settled' || event.looked === undefined) return event;
  const { task, work } = state;
  if (work.author.used.repairs >= (task.output?.repairs ?? 1)) return event;
  const judged = judgedBy(answers, board, state, event);
  if (judged === undefined) return event;
  const problems = evidenceProblems(judged, event.looked, board.facts.objective.criteria);
  return problems.length === 0 ? event : { ...event, problems };
}

/** The verdicts on criteria in the answer that settles an attempt; undefined: its task judges none. */
export function judgedBy(
  answers: Policy['answers'],
  board: Board,
  state: TaskState | undefined,
  event: WorkEvent,
): Judged | undefined {
  if (event.type !== 'attempt-settled' || event.output === undefined || state === undefined) return undefined;
  const { task, work } = state;
  const { author, head: commit } = work;
  if (author.state.at !== 'live' || author.state.attempt !== event.attempt || commit === null) return undefined;
  const verdicts = isJudge(task)
    ? verdictsIn(judgementAnswerSchema.safeParse(event.output).data?.verdicts ?? [])
    : verdictsOfForm(answers?.[task.output?.schema ?? ''], board, task.id, event.output);
  return verdicts.length === 0 ? undefined : { task: task.id, by: author.state.agent, commit, verdicts };
}

function verdictsOfForm(form: AnswerForm | undefined, board: Board, task: string, output: Json): Verdict[] {
  const reading = form?.read?.(createView(board), output, task);
  if (reading === undefined || reading.problems !== undefined) return [];
  return (reading.changes ?? []).flatMap((change) => {
    if (change.do !== 'judge-criterion') return [];
    const { do: _, task: __, ...verdict } = change;
    return [verdict];
  });
}

function advance(step: BoardStep, playbook: Policy, entry: PlanEntry): PlanStep {
  const { seq, at } = entry;
  const advanced = advancePlan(step.board, playbook, step.events);
  const changes = advanced.changes.map((one): PlanEntry => ({ entry: 'changes', seq, at, changes: [...one] }));
  return {
    board: advanced.board,
    entries: [entry, ...changes],
    effects: [...step.effects, ...advanced.effects],
  };
}

/** Lets the playbook answer one event after the other until it has no more changes. */
export function advancePlan(board: Board, playbook: Policy, news: readonly PlaybookEvent[]) {
  const effects: PlanEffect[] = [];
  const changes: PlanChange[][] = [];
  const queue = [...news];
  let current = board;
  let refusals = 0;
  // The loop below appends to the queue.
  for (const [index, event] of queue.entries()) {
    if (event.type === 'refused') refusals += 1;
    const circling = index >= MOST_EVENTS || refusals > MOST_REFUSALS;
    const wanted = circling
      ? [{ do: 'finish', outcome: 'failed', why: `playbook ${playbook.name} goes in circles` } as const]
      : playbook.advance(createView(current), event);
    if (wanted.length > 0) {
      const step = applyChanges(current, wanted, event);
      changes.push([...wanted]);
      effects.push(...step.effects);
      current = step.board;
      queue.push(...step.events);
    }
    if (circling) break;
  }
  return { board: current, effects, changes };
}

function empty(board: Board): PlanStep {
  return { board, entries: [], effects: [] };
}

/** Applies a stored entry again, without its effects. */
export function foldEntry(board: Board, entry: PlanEntry): Board {
  switch (entry.entry) {
    case 'work':
      return applyWork(board, entry.task, entry.event, entry).board;
    case 'event':
      return acceptEvent(board, entry.event).board;
    case 'changes':
      return applyChanges(board, entry.changes, entry).board;
    default:
      return assertNever(entry);
  }
}

/** Applies one event to one task. Throws for an unknown task, which is a bug of the caller. */
export function applyWork(board: Board, taskId: string, event: WorkEvent, moment: Moment): BoardStep {
  const draft = draftOf(board, moment);
  trackProbe(draft, event);
  workOn(draft, taskId, event);
  if (event.type === 'branch-foreign') findForeign(draft, event.head);
  return finishDraft(draft);
}

/** The first attempt after a usage limit is the probe. Only its end opens the account again. */
function trackProbe(draft: Draft, event: WorkEvent): void {
  if (event.type === 'attempt-started') {
    const limited = draft.accounts.get(event.account);
    if (limited !== undefined && limited.until <= draft.now && limited.probe === null) {
      draft.accounts = withEntry(draft.accounts, event.account, { ...limited, probe: event.attempt });
    }
    return;
  }
  if (event.type !== 'attempt-settled') return;
  for (const [account, limited] of draft.accounts) {
    if (limited.probe === event.attempt) draft.accounts = withoutEntry(draft.accounts, account);
  }
}
