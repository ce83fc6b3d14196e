import type { Board } from '../../model/plan/board.ts';
import { WHOLE_RUN } from '../../model/plan/intervention.ts';
import { decideFrontier, type Frontier, type Start } from './frontier.ts';
import { isBranchBlocked, isGateDue, isJudge, isRestoreDue } from './gate.ts';
import type { LimitDecision, Room } from '../../model/spending.ts';
import { accountAskedAbout } from './logins.ts';
import { liveAttempts } from './work-requests.ts';
import { isEnded } from './work-status.ts';

export interface NextFacts {
  /** Turns that may be live at once. */
  readonly parallel: number;
  readonly limits: LimitDecision;
  /** What agents and tasks have left; absent: nobody has a cap. */
  readonly room?: Room;
  /** Let live turns end and start none. */
  readonly draining: boolean;
  /** It ends instead of waiting for a moment further away than this (ms); null: it waits however long it takes. */
  readonly patienceMs: number | null;
  /** Inputs that have come in and are not decided on yet: mail, answers, what a person wants. */
  readonly pendingMail: number;
}

export type Next =
  | {
      readonly next: 'start';
      readonly starts: readonly Start[];
      /** Tasks that fail at a limit. Where there are any they end first, and it is decided anew: nothing starts. */
      readonly over: Frontier['over'];
      readonly integrate: string | null;
      readonly why: string;
    }
  /**
   * `until`: the first moment at which something may start again, where it is known. `suspended`: nothing lives, and nothing
   * will before that moment or a person's word; such time is not the engine's.
   */
  | { readonly next: 'wait'; readonly until: number | null; readonly why: string; readonly suspended: boolean }
  | { readonly next: 'ask'; readonly questions: readonly OpenQuestion[]; readonly why: string }
  | { readonly next: 'finish'; readonly outcome: 'done' | 'failed'; readonly why: string }
  /** Nothing lives and nothing may start: the run can be taken up again later. */
  | { readonly next: 'stop'; readonly because: 'limit' | 'drained' | 'waiting'; readonly why: string };

export interface OpenQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
}

/** The only place that starts, pauses or ends work. A person is asked only when nothing else can move. */
export function decideNext(board: Board, facts: NextFacts): Next {
  const states = board.tasks.open;
  const live = states.reduce((sum, { work }) => sum + liveAttempts(work).length, 0);
  const pause = wholePause(board, facts);
  const stopped = pause !== undefined && pause.because !== 'limit';
  const integrate = stopped ? null : (decideIntegration(board) ?? null);
  const engine =
    states.filter(({ work }) => isEngineBusy(work.phase.at)).length + (isGateDue(board) || isRestoreDue(board) ? 1 : 0);
  if (board.finished !== null) {
    if (live > 0) return working(null, `${count(live, 'attempt')} to be stopped`);
    if (engine > 0) return working(null, 'a delivery is under way');
    if (facts.pendingMail > 0) return working(null, 'mail came in');
    return stopped ? still(pause) : { next: 'finish', ...board.finished };
  }
  const frontier = decideFrontier(board, pause === undefined ? Math.max(0, facts.parallel - live) : 0, facts.room);
  const starts = pause === undefined ? frontier.starts : [];
  const over = pause === undefined ? frontier.over : [];
  if (over.length > 0) {
    const why = over.map((one) => `${one.task} fails: ${one.why}`).join('; ');
    return { next: 'start', starts: [], over, integrate: null, why };
  }
  if (starts.length > 0 || integrate !== null) {
    const why = [
      ...(starts.length > 0 ? [`${count(starts.length, 'task')} ready`] : []),
      ...(integrate === null ? [] : [`${integrate} is next to be integrated`]),
    ].join('; ');
    return { next: 'start', starts, over, integrate, why };
  }
  if (live > 0 || engine > 0) {
    const why = [
      ...(live > 0 ? [`${count(live, 'attempt')} live`] : []),
      ...(engine > 0 ? [`${engine} being checked`] : []),
    ];
    return working(earliest(board, frontier.waiting), why.join(', '));
  }
  if (pause !== undefined) return still(pause);
  const until = earliest(board, frontier.waiting);
  if (until !== null) return waitFor(until, frontier.waiting[0]?.why ?? 'a timer is set', board, facts);
  if (facts.pendingMail > 0) return working(null, `${count(facts.pendingMail, 'message')} under way`);
  return whenStill(board, frontier);
}

/** The task to integrate next: the first in the queue, once no other is under way. */
function decideIntegration(board: Pick<Board, 'tasks' | 'branch'>): string | undefined {
  if (isBranchBlocked(board.branch)) return undefined;
  const inLine = board.tasks.open.flatMap(({ task, order, work }) => {
    const { phase } = work;
    const queued = phase.at === 'in-queue';
    const underWay = phase.at === 'integrating' || phase.at === 'verifying' || phase.at === 'advancing';
    return queued || underWay ? [{ id: task.id, since: phase.since, order, underWay }] : [];
  });
  if (inLine.some((one) => one.underWay)) return undefined;
  return inLine.toSorted((a, b) => a.since - b.since || a.order - b.order)[0]?.id;
}

interface NoStarts {
  readonly because: 'limit' | 'drained' | 'paused';
  readonly why: string;
}

/** What keeps the whole run from starting anything. */
function wholePause({ pauses }: Board, { draining, limits }: NextFacts): NoStarts | undefined {
  const paused = pauses.get(WHOLE_RUN);
  if (paused?.verb === 'pause') return { because: draining ? 'drained' : 'paused', why: `paused by ${paused.by}` };
  if (paused !== undefined) {
    return { because: 'drained', why: `${paused.verb === 'stop' ? 'stopped' : 'drained'} by ${paused.by}` };
  }
  if (draining) return { because: 'drained', why: 'the run was asked to stop' };
  return limits.reached ? { because: 'limit', why: limits.why } : undefined;
}

function working(until: number | null, why: string): Next {
  return { next: 'wait', until, why, suspended: false };
}

/** Nothing lives, and nothing may start. A paused run keeps its engine, so that it goes on at once. */
function still({ because, why }: NoStarts): Next {
  return because === 'paused' ? { next: 'wait', until: null, why, suspended: true } : { next: 'stop', because, why };
}

function waitFor(until: number, why: string, { now }: Board, { patienceMs }: NextFacts): Next {
  if (patienceMs === null || until - now <= patienceMs) return { next: 'wait', until, why, suspended: true };
  return { next: 'stop', because: 'waiting', why: `${why}, until ${new Date(until).toISOString()}` };
}

/** Nothing lives, nothing is due and nothing is on its way. */
function whenStill(board: Board, { unstaffed, waiting }: Frontier): Next {
  const left = board.tasks.open.filter((state) => !isEnded(state));
  // If stand-ins have done all the work, the login question needs no answer.
  const open = [...board.questions.values()].filter(
    ({ id, answer }) => answer === null && (left.length > 0 || accountAskedAbout(id) === undefined),
  );
  const questions = open.map(({ id, text, options }) => ({ id, text, options }));
  if (questions.length > 0) return { next: 'ask', questions, why: `${count(questions.length, 'question')} open` };
  const paused = waiting.find((one) => one.paused === true);
  if (paused !== undefined) return { next: 'wait', until: null, why: paused.why, suspended: true };
  if (left.length > 0) {
    const why =
      unstaffed[0]?.why ?? `${left.map(({ task }) => task.id).join(', ')} can never start: what they need has failed`;
    return { next: 'finish', outcome: 'failed', why };
  }
  const failed = [...board.tasks.values()].filter(
    ({ task, work: { phase } }) => phase.at === 'ended' && phase.cause !== null && !isJudge(task),
  );
  if (failed.length === 0) return { next: 'finish', outcome: 'done', why: 'every task has ended' };
  return { next: 'finish', outcome: 'failed', why: `${failed.map(({ task }) => task.id).join(', ')} not delivered` };
}

function isEngineBusy(at: string): boolean {
  return at === 'gathering' || at === 'integrating' || at === 'verifying' || at === 'advancing';
}

function earliest(board: Board, waiting: readonly { until: number | null }[]): number | null {
  const defaults = [...board.questions.values()].flatMap((question) =>
    question.answer === null && question.default !== null ? [question.default.at] : [],
  );
  const moments = [
    ...waiting.flatMap(({ until }) => (until === null ? [] : [until])),
    ...board.timers.values(),
    ...defaults,
  ];
  return moments.length === 0 ? null : Math.min(...moments);
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
