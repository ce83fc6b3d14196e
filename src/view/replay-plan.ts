import type { z } from 'zod';
import { acceptEvent } from '../rules/accept-event.ts';
import { createBoard } from '../rules/board.ts';
import { refuseIntervention } from '../rules/intervene.ts';
import { foldEntry } from '../rules/plan-step.ts';
import { errorText, SquadError } from '../model/errors.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Board, RunFacts } from '../model/plan/board.ts';
import type { PlanEntry } from '../model/plan/entry.ts';
import type { EvidenceFacts } from '../model/plan/evidence.ts';
import type { Intervention } from '../model/plan/intervention.ts';
import type { Prompt, Work } from '../model/plan/work.ts';
import type { RunEvent } from '../model/run-event.ts';
import { clearedBy } from './live-turns.ts';
import { accountEvents } from './account-events.ts';

/** Feedback on work. `end`: it ended the work instead of sending it back to its author. */
interface ReturnedWork {
  readonly from: Extract<Prompt, { why: 'feedback' }>['from'] | 'end';
  readonly text: string;
}

/** The history that the board does not keep. */
interface History {
  /** The latest of each task. */
  readonly evidence: Map<string, EvidenceFacts>;
  readonly answers: { question: string; text: string; answer: string; by: string }[];
  readonly returns: (ReturnedWork & { readonly task: string })[];
  /** Stalled attempts. `cleared`: what ended the stall; absent: nothing did. */
  readonly walls: { attempt: string; why: string; at: number; cleared?: { at: number; why: string } }[];
  /** How accounts stood, with each change. */
  readonly accounts: Extract<RunEvent, { type: 'account-changed' }>[];
}

export interface Replay extends History {
  readonly board: Board;
  /** Entries up to the last one that reopened a finished run; 0 if none did. */
  readonly reopened: number;
}

/** Folds the plan's entries in order and keeps their history. Throws `database-corrupt` if an entry does not fit. */
export function replayPlan(facts: RunFacts, entries: readonly PlanEntry[]): Replay {
  const notes: History = { evidence: new Map(), answers: [], returns: [], walls: [], accounts: [] };
  let board = createBoard(facts);
  let reopened = 0;
  for (const [index, entry] of entries.entries()) {
    const before = board;
    board = foldStored(before, entry);
    if (entry.entry === 'work') noteWork(notes, before, entry);
    if (entry.entry === 'event') noteAnswers(notes, before, board, entry);
    noteReturns(notes, before, board);
    notes.accounts.push(...accountEvents({ at: entry.at, runId: '' }, before, board));
    if (before.finished !== null && board.finished === null) reopened = index + 1;
  }
  return { board, ...notes, reopened };
}

/** Throws `database-corrupt` for an entry that does not fit: no engine stores one. */
export function foldStored(board: Board, entry: PlanEntry): Board {
  try {
    return foldEntry(board, entry);
  } catch (error) {
    throw unreadable(`the plan that event ${entry.seq} led to cannot be read: ${errorText(error)}`, error);
  }
}

/** The data of an event, by its schema. Throws `database-corrupt` if it does not fit. */
export function readEvent<T>(event: LedgerEvent, schema: z.ZodType<T>): T {
  const { data, error } = schema.safeParse(event.data);
  if (error === undefined) return data;
  const [issue] = error.issues;
  const why = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
  throw unreadable(`event ${event.seq} (${event.type}) cannot be read: ${why}`, error);
}

function unreadable(message: string, cause: unknown): SquadError {
  const next = 'Run `squad db check`. If it finds nothing, another version of squad wrote this run.';
  return new SquadError({ code: 'database-corrupt', message, next, cause });
}

/** The board ignores a late event that does not fit the phase, and so does the history. */
function noteWork(notes: History, before: Board, { task, event, at }: Extract<PlanEntry, { entry: 'work' }>): void {
  const phase = before.tasks.get(task)?.work.phase.at;
  if (event.type === 'wall-raised') notes.walls.push({ attempt: event.attempt, why: event.why, at });
  if (event.type === 'wall-cleared' || (event.type === 'attempt-settled' && event.outcome === 'completed')) {
    const wall = notes.walls.findLast(({ attempt, cleared }) => attempt === event.attempt && cleared === undefined);
    if (wall !== undefined) wall.cleared = { at, why: clearedBy(event) };
  }
  if (event.type === 'evidence-gathered' && phase === 'gathering') notes.evidence.set(task, event.facts);
}

function noteAnswers(
  notes: History,
  before: Board,
  after: Board,
  { event }: Extract<PlanEntry, { entry: 'event' }>,
): void {
  for (const { id, text, answer } of after.questions.values()) {
    if (answer === null || before.questions.get(id)?.answer !== null) continue;
    notes.answers.push({ question: id, text, answer, by: event.type === 'answer' ? event.by : 'default' });
  }
}

function noteReturns(notes: History, before: Board, after: Board): void {
  for (const { task, work } of after.tasks.changedSince(before.tasks)) {
    const returns = returnsBetween(before.tasks.get(task.id)?.work, work);
    notes.returns.push(...returns.map((one) => ({ task: task.id, ...one })));
  }
}

/** The feedback that the work got between two of its states, oldest first. */
export function returnsBetween(before: Work | undefined, { author, feedback, phase }: Work): ReturnedWork[] {
  if (before === undefined) return [];
  const { prompt } = author;
  const from = prompt.why === 'feedback' && phase.at === 'working' ? prompt.from : 'end';
  return feedback.slice(before.feedback.length).map((text) => ({ from, text }));
}

/** A person's command to a run, as it is stored. */
export interface OperatorRequest {
  readonly seq: number;
  readonly at: number;
  readonly by: string;
  readonly intervention: Intervention;
}

/** The board once an engine has applied these requests. */
export function predictBoard(board: Board, requests: readonly OperatorRequest[]): Board {
  return requests.reduce(
    (before, { seq, at, by, intervention }) =>
      acceptEvent(before, { seq, at, type: 'intervention', intervention, by }).board,
    board,
  );
}

/** Why the run cannot do this once its pending requests are applied; undefined if it can. */
export function requestRefusal(
  { board, pendingRequests }: { readonly board: Board; readonly pendingRequests: readonly OperatorRequest[] },
  intervention: Intervention,
): string | undefined {
  return refuseIntervention(predictBoard(board, pendingRequests), intervention);
}
