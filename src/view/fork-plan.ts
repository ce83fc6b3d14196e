import { z } from 'zod';
import { createBoard } from '../rules/board.ts';
import { isInput } from '../rules/read-input.ts';
import { factsOf } from '../rules/run-facts.ts';
import { liveAttempts } from '../rules/work-requests.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { planEntrySchema, type PlanEntry } from '../model/plan/entry.ts';
import { workEventSchema, type WorkEvent } from '../model/plan/work.ts';
import { RUN_EVENTS, type Forked, type RunDefinition } from '../model/run.ts';
import { isJsonObject, type Json } from '../text/json.ts';
import { foldStored, readEvent } from './replay-plan.ts';

/** Everything that a fork takes over from its parent. */
export interface ForkPlan {
  /** The parent's input up to which it has decided. */
  readonly seq: number;
  /** The plan as it was then. */
  readonly board: Board;
  /** Events of the parent that say who decided what and under which limits, oldest first. */
  readonly facts: readonly LedgerEvent[];
  /** The plan's entries up to then, in the order in which they were applied. */
  readonly entries: readonly LedgerEvent[];
  readonly timers: readonly { readonly id: string; readonly dueAt: number; readonly data: Json }[];
  /** Attempts that ran then. No process of the fork is theirs, so they end at no cost and their tasks are ready again. */
  readonly ends: readonly TaskEvent[];
  /** Inspections of the folders of agents that had just said they were done. */
  readonly inputs: readonly TaskEvent[];
  readonly work: Omit<Forked, 'parent'>;
  /** Commits without which the fork cannot go on. */
  readonly needed: readonly string[];
}

interface TaskEvent {
  readonly task: string;
  readonly event: WorkEvent;
}

/** Facts without a decision of their own that readers of a run look up. */
const FACTS: ReadonlySet<string> = new Set([RUN_EVENTS.armoryBound, RUN_EVENTS.limitsRaised, 'operator-command']);

const ENDED = { kind: 'cancelled', message: 'the fork began before it had ended', mayHaveActed: false } as const;

/**
 * The input up to which the run had decided at an event of its stream: that input itself, the cause of a decision, or for any other
 * event the last one that was decided on before. undefined: nothing was decided by then, or the event is not the run's.
 */
export function momentAt(events: readonly LedgerEvent[], seq: number): number | undefined {
  const event = events.find((one) => one.seq === seq);
  if (event === undefined) return undefined;
  if (event.cause !== null) return event.cause;
  const decisions = events.filter((one) => one.cause !== null);
  // Several inputs may be decided on as one.
  const before = isInput(event)
    ? decisions.filter(({ cause }) => (cause ?? 0) <= seq)
    : decisions.filter((one) => one.seq < seq || one.cause === seq);
  const last = Math.max(0, ...before.map(({ cause }) => cause ?? 0));
  return last === 0 ? undefined : last;
}

/** `seq`: as `momentAt` gives it. */
export function planFork(definition: RunDefinition, events: readonly LedgerEvent[], seq: number): ForkPlan {
  const entries = entriesUntil(events, seq);
  const board = entries.reduce(
    (before, event) => foldStored(before, readEvent(event, planEntrySchema)),
    createBoard(factsOf(definition)),
  );
  const states = [...board.tasks.values()];
  const isDone = ({ work }: TaskState): boolean => work.phase.at === 'ended';
  return {
    seq,
    board,
    facts: events.filter((event) => event.cause === null && event.seq <= seq && FACTS.has(event.type)),
    entries,
    timers: timersAt(events, seq),
    ends: states.flatMap(({ task, work }) =>
      liveAttempts(work).map(({ attempt }): TaskEvent => {
        const event = { type: 'attempt-settled', attempt, outcome: 'cancelled', failure: ENDED, text: '' } as const;
        return { task: task.id, event };
      }),
    ),
    inputs: states.flatMap((state) =>
      state.work.phase.at === 'gathering' ? [evidenceOf(events, seq, state.task.id, board)] : [],
    ),
    work: workOf(board, states),
    needed: [...new Set([board.branch.head, ...states.filter((state) => !isDone(state)).flatMap(commitsOf)])],
  };
}

/** Each input and then what it caused: the order of the events, because one engine at a time decides. */
function entriesUntil(events: readonly LedgerEvent[], seq: number): LedgerEvent[] {
  return events.filter(({ type, cause }) => type === RUN_EVENTS.plan && cause !== null && cause <= seq);
}

const setSchema = z.object({ id: z.string(), dueAt: z.number(), data: z.json() });

export function timersAt(events: readonly LedgerEvent[], seq: number): ForkPlan['timers'] {
  const timers = new Map<string, z.infer<typeof setSchema>>();
  for (const event of events) {
    if ((event.cause ?? event.seq) > seq) continue;
    if (event.type === 'timer-set') {
      const timer = readEvent(event, setSchema);
      timers.set(timer.id, timer);
    } else if (event.type === 'timer-fired' || event.type === 'timer-cleared') {
      timers.delete(readEvent(event, setSchema.pick({ id: true })).id);
    }
  }
  return [...timers.values()];
}

const observedSchema = z.object({ task: z.string(), event: workEventSchema });

/** The parent's folder may be gone. It recorded what was in there, unless its engine was killed before. */
function evidenceOf(events: readonly LedgerEvent[], seq: number, task: string, board: Board): TaskEvent {
  for (const event of events) {
    if ((event.cause ?? event.seq) <= seq || !isJsonObject(event.data)) continue;
    if (event.type === RUN_EVENTS.work && event.cause === null && event.data['task'] === task) {
      const observed = readEvent(event, observedSchema);
      if (observed.event.type === 'evidence-gathered') return observed;
    }
    if (event.type === RUN_EVENTS.plan && startsAttempt(event, task)) break;
  }
  const nothing = { commits: 0, changedPaths: [], uncommitted: [], files: [], commands: [], pr: null };
  const problem = 'the engine never looked at this work, and its folder is gone: do it again';
  return {
    task,
    event: { type: 'evidence-gathered', facts: { base: board.branch.head, commit: null, ...nothing, problem } },
  };
}

function startsAttempt(event: LedgerEvent, task: string): boolean {
  const entry = readEvent(event, planEntrySchema);
  return entry.entry === 'work' && entry.task === task && entry.event.type === 'attempt-started';
}

/** The commits that the fork's refs keep: each task's last one at the ref of its last attempt, the others pinned. */
function workOf(board: Board, states: readonly TaskState[]): ForkPlan['work'] {
  const { head } = board.branch;
  const kept = states.flatMap(({ task, work }) =>
    work.kept === null ? [] : [{ attempt: `${task.id}-${Math.max(1, work.attempts)}`, commit: work.kept }],
  );
  const named = new Set([head, ...kept.map(({ commit }) => commit)]);
  const pins = [board.facts.base, ...states.flatMap(commitsOf)].filter((commit) => !named.has(commit));
  return { head, kept, pins: [...new Set(pins)] };
}

function commitsOf({ work }: TaskState): string[] {
  const { kept, commit, base, returned, phase } = work;
  const ofPhase = [...('commit' in phase ? [phase.commit] : []), ...('candidate' in phase ? [phase.candidate] : [])];
  return [kept, commit, base, returned, ...ofPhase].filter((one) => one !== null);
}

/** A moment of a run that a person may want to go back to. */
export interface ForkPoint {
  readonly seq: number;
  /** Epoch ms. */
  readonly at: number;
  /** For people: the plan, reviews and tasks that this moment follows. */
  readonly what: string;
  readonly tasks: { readonly all: number; readonly done: number };
}

/** The moments after which a plan was made, a review ended, or a task. */
export function forkPoints(definition: RunDefinition, events: readonly LedgerEvent[]): ForkPoint[] {
  const points = new Map<number, ForkPoint>();
  let board = createBoard(factsOf(definition));
  for (const event of entriesUntil(events, Infinity)) {
    const before = board;
    const entry: PlanEntry = readEvent(event, planEntrySchema);
    board = foldStored(before, entry);
    const what = changesBetween(before, board);
    const seq = event.cause ?? 0;
    const earlier = points.get(seq);
    if (what.length === 0 && earlier === undefined) continue;
    const states = [...board.tasks.values()];
    const done = states.filter(({ work }) => work.phase.at === 'ended' && work.phase.as === 'done').length;
    const said = [...(earlier === undefined ? [] : [earlier.what]), ...what].join(', ');
    points.set(seq, { seq, at: event.at, what: said, tasks: { all: states.length, done } });
  }
  return [...points.values()];
}

function changesBetween(before: Board, after: Board): string[] {
  const grown = after.tasks.size - before.tasks.size;
  const plan = grown === 0 ? [] : [before.tasks.size === 0 ? 'the plan began' : `${grown} more in the plan`];
  return [
    ...plan,
    ...after.tasks.changedSince(before.tasks).flatMap(({ task, work }) => {
      const old = before.tasks.get(task.id)?.work;
      const rounds = work.rounds.slice(old?.rounds.length ?? 0);
      const reviews = rounds.map(({ approved }) => `${task.id} ${approved ? 'was approved' : 'was sent back'}`);
      const ended = work.phase.at === 'ended' && old?.phase.at !== 'ended' ? [`${task.id} ${work.phase.as}`] : [];
      return [...reviews, ...ended];
    }),
  ];
}
