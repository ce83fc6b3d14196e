import type { RunEndedAs } from '../model/run-state.ts';
import type { Board } from '../model/plan/board.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { baselineQuestion, isBaselineDue } from './baseline.ts';
import { passedDeadline } from './deadline.ts';
import { decideFrontier, type Frontier, type Start } from './frontier.ts';
import { isBranchBlocked, isGateDue, isJudge, isRestoreDue } from './gate.ts';
import type { SharedRoom } from '../model/shared-spending.ts';
import type { LimitDecision, Room } from '../model/spending.ts';
import { lockOutAskedAbout } from './logins.ts';
import { isIntegrating, mayHoldQueue } from './onward.ts';
import { liveAttempts } from './work-requests.ts';
import { isEnded } from './work-status.ts';
import { counted } from '../text/counted.ts';

export interface NextFacts {
  /** Turns that may run at once. */
  readonly parallel: number;
  readonly limits: LimitDecision;
  /** Epoch ms. The board's own time is that of its last input. */
  readonly now: number;
  /** The remaining limits of agents and tasks. Absent: they have none. */
  readonly room?: Room;
  /** Left to this run by all runs of the repository. Absent: they have no common limits. */
  readonly shared?: SharedRoom | undefined;
  /** Running turns finish; no new ones start. */
  readonly draining: boolean;
  /** The engine ends instead of waiting longer than this (ms); null: it always waits. */
  readonly patienceMs: number | null;
  /** Inputs that are not applied yet. */
  readonly pendingMail: number;
}

export type Next =
  | {
      readonly next: 'start';
      readonly starts: readonly Start[];
      /** Tasks that fail at a limit. They end first, and then the next decision starts turns. */
      readonly over: Frontier['over'];
      readonly integrate: string | null;
      readonly why: string;
      readonly withheld?: Withheld;
    }
  /**
   * `until`: when something may start again, if known. `suspended`: nothing runs and nothing can start before that or an
   * operator's command. Such time is not the engine's.
   */
  | {
      readonly next: 'wait';
      readonly until: number | null;
      readonly why: string;
      readonly suspended: boolean;
      readonly withheld?: Withheld;
    }
  | { readonly next: 'ask'; readonly questions: readonly OpenQuestion[]; readonly why: string }
  | { readonly next: 'finish'; readonly outcome: RunEndedAs; readonly why: string }
  /** Nothing runs and nothing may start. The run can be resumed. */
  | { readonly next: 'stop'; readonly because: 'limit' | 'deadline' | 'drained' | 'waiting'; readonly why: string };

export interface OpenQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
}

/** Decides what the run does next. A person is asked only when nothing else can move. */
export function decideNext(board: Board, facts: NextFacts): Next {
  const states = board.tasks.open;
  const live = states.reduce((sum, { work }) => sum + liveAttempts(work).length, 0);
  const pause = wholePause(board, facts);
  // A limit or the deadline stops new turns, but finished work is still checked and delivered.
  const stopped = pause !== undefined && pause.because !== 'limit' && pause.because !== 'deadline';
  const integrate = stopped ? null : (decideIntegration(board) ?? null);
  const ofRun = [isGateDue(board) || isRestoreDue(board), pause === undefined && isBaselineDue(board)];
  const engine = states.filter(({ work }) => isEngineBusy(work.phase.at)).length + ofRun.filter(Boolean).length;
  if (board.finished !== null) {
    if (live > 0) return working(null, `${counted(live, 'attempt')} to be stopped`);
    if (engine > 0) return working(null, 'a delivery is under way');
    if (facts.pendingMail > 0) return working(null, 'mail came in');
    const { outcome, why } = board.finished;
    return stopped ? still(pause) : { next: 'finish', outcome, why };
  }
  const known = facts.shared?.limited === undefined ? board : atLimits(board, facts.shared.limited);
  const frontier = decideFrontier(known, pause === undefined ? Math.max(0, facts.parallel - live) : 0, facts.room);
  const ready = pause === undefined ? frontier.starts : [];
  const { starts, ...left } =
    facts.shared === undefined ? { starts: ready } : within(facts.shared, ready, frontier.waiting);
  const over = pause === undefined ? frontier.over : [];
  if (over.length > 0) {
    const why = over.map((one) => `${one.task} fails: ${one.why}`).join('; ');
    return { next: 'start', starts: [], over, integrate: null, why };
  }
  if (starts.length > 0 || integrate !== null) {
    const why = [
      ...(starts.length > 0 ? [`${counted(starts.length, 'task')} ready`] : []),
      ...(integrate === null ? [] : [`${integrate} is next to be integrated`]),
    ].join('; ');
    return { next: 'start', starts, over, integrate, why, ...left };
  }
  if (live > 0 || engine > 0) {
    const why = [
      ...(live > 0 ? [`${counted(live, 'attempt')} live`] : []),
      ...(engine > 0 ? [`${engine} being checked`] : []),
    ];
    return { ...working(earliest(board, frontier.waiting), why.join(', ')), ...left };
  }
  if (pause !== undefined) return still(pause);
  if (left.withheld !== undefined && left.withheld.limited === undefined)
    return { ...waitForShared(left.withheld, board, facts), ...left };
  const until = earliest(board, frontier.waiting);
  if (until !== null) return { ...waitFor(until, frontier.waiting[0]?.why ?? 'a timer is set', board, facts), ...left };
  if (facts.pendingMail > 0) return working(null, `${counted(facts.pendingMail, 'message')} under way`);
  return whenStill(board, frontier);
}

/**
 * The task to integrate next, once no other is under way: the first in the queue. If the queue is empty, a task whose evidence
 * is being gathered, so that one operation can gather, integrate and deliver.
 */
function decideIntegration(board: Board): string | undefined {
  if (isBranchBlocked(board.branch) || baselineQuestion(board) !== undefined) return undefined;
  const { open } = board.tasks;
  if (open.some(({ work }) => isIntegrating(work.phase))) return undefined;
  const queue = open.flatMap(({ task, order, work: { phase } }) =>
    phase.at === 'in-queue' ? [{ id: task.id, since: phase.since, order }] : [],
  );
  const [first] = queue.toSorted((a, b) => a.since - b.since || a.order - b.order);
  return first?.id ?? open.find(mayHoldQueue)?.task.id;
}

interface NoStarts {
  readonly because: 'limit' | 'deadline' | 'drained' | 'paused';
  readonly why: string;
}

/** Why nothing in the run may start; undefined: it may. */
function wholePause(board: Board, { draining, limits, now }: NextFacts): NoStarts | undefined {
  const paused = board.pauses.get(WHOLE_RUN);
  if (paused?.verb === 'pause') return { because: draining ? 'drained' : 'paused', why: `paused by ${paused.by}` };
  if (paused !== undefined) {
    return { because: 'drained', why: `${paused.verb === 'stop' ? 'stopped' : 'drained'} by ${paused.by}` };
  }
  if (draining) return { because: 'drained', why: 'the run was asked to stop' };
  const passed = passedDeadline(board, now);
  if (passed !== undefined) return { because: 'deadline', why: `${passed}; no turn starts after it` };
  return limits.reached ? { because: 'limit', why: limits.why } : undefined;
}

function working(until: number | null, why: string): Extract<Next, { next: 'wait' }> {
  return { next: 'wait', until, why, suspended: false };
}

/** A paused run keeps its engine, so that it can continue at once. */
function still({ because, why }: NoStarts): Next {
  return because === 'paused' ? { next: 'wait', until: null, why, suspended: true } : { next: 'stop', because, why };
}

function waitFor(until: number, why: string, { now }: Board, { patienceMs }: NextFacts): Next {
  if (patienceMs === null || until - now <= patienceMs) return { next: 'wait', until, why, suspended: true };
  return { next: 'stop', because: 'waiting', why: `${why}, until ${new Date(until).toISOString()}` };
}

/** Why turns that could start do not: the limits of all runs together do not allow them, or their account is at one that another run found out. */
export interface Withheld {
  readonly why: string;
  /** null: until a turn of any run has ended. */
  readonly until: number | null;
  /** The accounts of which other runs say so. */
  readonly limited?: ReadonlyMap<string, number>;
}

/** With the limits of accounts that other runs found out. Where they end, each run tries for itself. */
function atLimits(board: Board, limited: ReadonlyMap<string, number>): Board {
  const others = [...limited].filter(([account, until]) => until > (board.accounts.get(account)?.until ?? 0));
  if (others.length === 0) return board;
  const added = others.map(([account, until]) => [account, { until, probe: null }] as const);
  return { ...board, accounts: new Map([...board.accounts, ...added]) };
}

const NONE: ReadonlyMap<string, number> = new Map();

/** As many of the turns as all runs together leave to this one. The engine's own work is no turn. */
function within(
  { free, reached, limited = NONE }: SharedRoom,
  ready: readonly Start[],
  waiting: Frontier['waiting'],
): { readonly starts: readonly Start[]; readonly withheld?: Withheld } {
  const turns = ready.filter(({ start }) => start === 'turn');
  if (turns.length <= free) {
    const untils = new Set<number | null>(limited.values());
    const found = untils.size === 0 ? undefined : waiting.find(({ until }) => untils.has(until));
    return {
      starts: ready,
      ...(found === undefined ? {} : { withheld: { why: found.why, until: found.until, limited } }),
    };
  }
  const allowed = new Set(turns.slice(0, free));
  const starts = ready.filter((start) => start.start !== 'turn' || allowed.has(start));
  return { starts, withheld: reached ?? { why: 'all turns that may run at once in this repository do', until: null } };
}

function waitForShared({ why, until }: Withheld, board: Board, facts: NextFacts): Next {
  return until === null ? { next: 'wait', until, why, suspended: true } : waitFor(until, why, board, facts);
}

/** Nothing runs, nothing is due and no input is pending. */
function whenStill(board: Board, { unstaffed, waiting }: Frontier): Next {
  const left = board.tasks.open.filter((state) => !isEnded(state));
  // If stand-ins have done all the work, the login question needs no answer.
  const open = [...board.questions.values()].filter(
    ({ id, answer }) => answer === null && (left.length > 0 || lockOutAskedAbout(id) === undefined),
  );
  const questions = open.map(({ id, text, options }) => ({ id, text, options }));
  if (questions.length > 0) return { next: 'ask', questions, why: `${counted(questions.length, 'question')} open` };
  const paused = waiting.find((one) => one.paused === true);
  if (paused !== undefined) return { next: 'wait', until: null, why: paused.why, suspended: true };
  if (left.length > 0) {
    const why =
      unstaffed[0]?.why ??
      `${left.map(({ task }) => task.id).join(', ')} cannot start: tasks that they need have failed`;
    return { next: 'finish', outcome: 'failed', why };
  }
  const failed = [...board.tasks.values()].flatMap(({ task, work: { phase } }) =>
    phase.at === 'ended' && phase.cause !== null && !isJudge(task) ? [`${task.id}: ${phase.why}`] : [],
  );
  if (failed.length === 0) return { next: 'finish', outcome: 'done', why: 'every task has ended' };
  return { next: 'finish', outcome: 'failed', why: failed.join('\n') };
}

function isEngineBusy(at: string): boolean {
  return at === 'gathering' || at === 'integrating' || at === 'verifying' || at === 'advancing';
}

function earliest(board: Pick<Board, 'timers'>, waiting: readonly { until: number | null }[]): number | null {
  const moments = [...waiting.flatMap(({ until }) => until ?? []), ...board.timers.values()];
  return moments.length === 0 ? null : Math.min(...moments);
}
