import { z } from 'zod';
import { concludeRun, type Conclusion } from '../rules/conclude.ts';
import { passedDeadline } from '../rules/deadline.ts';
import { isGateDue, isRestoreDue } from '../rules/gate.ts';
import { decideNext } from '../rules/next.ts';
import { liveAttempts } from '../rules/work-requests.ts';
import type { RunState } from '../model/run-state.ts';
import { roomFor, type SharedRoom } from '../model/shared-spending.ts';
import { askedQuestionSchema } from '../model/plan/asked-question.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import type { Phase } from '../model/plan/work.ts';
import { askedQuestion } from './asked-plan.ts';
import { predictBoard } from './replay-plan.ts';
import { questionsText } from './questions-text.ts';
import { isQueued, isUnstarted, type RunReading } from './read-run.ts';

export const waitingForSchema = z.discriminatedUnion('for', [
  z.strictObject({
    for: z.literal('answer'),
    why: z.string(),
    questions: z.array(askedQuestionSchema),
  }),
  /** `until` in epoch ms. `account`: the one whose usage limit ends then; null: the run waits for something else. */
  z.strictObject({ for: z.literal('time'), why: z.string(), until: z.int(), account: z.string().nullable() }),
  /** Nothing continues before `squad resume`: a limit, a stop or a dead engine. */
  z.strictObject({ for: z.literal('resume'), why: z.string() }),
]);
type WaitingFor = z.infer<typeof waitingForSchema>;

/** The state of a run. */
export interface RunStanding {
  readonly state: RunState;
  /** null if the run is not over. */
  readonly conclusion: Conclusion | null;
  readonly waitingFor: WaitingFor | null;
}

/** The state of a run, from the ledger and from whether an engine drives it. */
export function standingOf(reading: RunReading, now: number): RunStanding {
  const { board, pendingRequests, published, definition, driven, workspace } = reading;
  if (published !== undefined && predictBoard(board, pendingRequests).finished !== null) {
    const conclusion = concludeRun({
      board,
      problem: published.problem,
      made: published.made,
      added: published.added,
      strict: definition.strict,
    });
    return { state: conclusion.outcome, conclusion, waitingFor: null };
  }
  const open = (state: RunState, waitingFor: WaitingFor | null): RunStanding => ({
    state,
    conclusion: null,
    waitingFor,
  });
  const left = leftAs(reading);
  const paused = pausedBy(reading);
  if (paused !== undefined) return open(driven ? 'waiting' : left, paused);
  const asked = askedFor(reading);
  if (asked !== undefined) return open('waiting', asked);
  const passed = endsAtDeadline(reading, now);
  if (passed !== undefined) return open(left, { for: 'resume', why: passed });
  const time = waitsUntil(reading, now) ?? waitsForDay(reading, now);
  if (!driven) return open(left, time ?? toResume(reading));
  if (time !== undefined) return open('waiting', time);
  return open(workspace === undefined ? 'preparing' : 'running', null);
}

/** How a run is that no engine drives. */
function leftAs(reading: RunReading): RunState {
  if (isQueued(reading)) return reading.refused === undefined ? 'queued' : 'stopped';
  return reading.decided?.next === 'stop' || isUnstarted(reading) ? 'stopped' : 'interrupted';
}

function askedFor(reading: RunReading): WaitingFor | undefined {
  const { decided, questions } = reading;
  const open = questions.filter(({ recorded }) => recorded === null);
  if (decided?.next !== 'ask' || open.length === 0) return undefined;
  const asked = open.map((question) => askedQuestion(reading, question));
  return { for: 'answer', why: questionsText(open), questions: asked };
}

/** A person has paused the whole run, and no turn or operation of it is running any more. */
function pausedBy({ board, pendingRequests }: RunReading): WaitingFor | undefined {
  const pause = predictBoard(board, pendingRequests).pauses.get(WHOLE_RUN);
  if (pause?.verb !== 'pause' || isBusy(board)) return undefined;
  return { for: 'resume', why: `paused by ${pause.by}` };
}

/** Why a resume would only stop again; undefined: it would not, or turns of an engine that is gone may still run. */
export function endsAtDeadline(
  { board, pendingRequests, driven, segments }: RunReading,
  now: number,
): string | undefined {
  if (driven || segments.at(-1)?.releasedAt === null) return undefined;
  return passedDeadline(predictBoard(board, pendingRequests), now);
}

function isBusy(board: RunReading['board']): boolean {
  if (isGateDue(board) || isRestoreDue(board)) return true;
  return [...board.tasks.values()].some(({ work }) => liveAttempts(work).length > 0 || BUSY.has(work.phase.at));
}

/** Nothing runs or can start before a certain time: a usage limit's reset, a retry, a timer, or the next day of all runs' limits. */
function waitsUntil({ row, board, decided, limits, spending }: RunReading, now: number): WaitingFor | undefined {
  const halted = HALTED.has(decided?.next ?? '') && decided?.because !== 'waiting';
  if (halted || board.finished !== null || board.tasks.size === 0 || isBusy(board)) return undefined;
  const facts = {
    ...{ parallel: limits.parallel, limits: NO_LIMIT, now },
    ...{ draining: false, patienceMs: null, pendingMail: 0 },
    shared: roomLater(spending, row.id),
  };
  const next = decideNext({ ...board, now: Math.max(now, board.now) }, facts);
  if (next.next !== 'wait' || next.until === null || next.until <= now) return undefined;
  const { until, why } = next;
  const others = [...(facts.shared?.limited ?? [])].map(([name, at]) => [name, { until: at }] as const);
  const account = [...board.accounts, ...others].find(([, limited]) => limited.until === until)?.[0] ?? null;
  return { for: 'time', why, until, account };
}

/** A limit of the day lets no run of the queue begin. */
function waitsForDay(reading: RunReading, now: number): WaitingFor | undefined {
  const { refused, before, spending, row } = reading;
  if (!isQueued(reading) || (refused ?? before) !== undefined || spending.shared === undefined) return undefined;
  const { reached } = roomFor(spending.shared, row.id);
  return reached === undefined || reached.until <= now ? undefined : { for: 'time', ...reached, account: null };
}

/** Only a limit of the day, or of an account, says when it ends. */
function roomLater({ shared }: RunReading['spending'], runId: string): SharedRoom | undefined {
  const room = shared && roomFor(shared, runId);
  if (room === undefined || room.reached !== undefined) return room;
  return shared?.limited.size === 0 ? undefined : { ...room, free: Infinity };
}

const HALTED: ReadonlySet<string> = new Set(['ask', 'stop', 'finish']);
const BUSY: ReadonlySet<Phase['at']> = new Set(['gathering', 'integrating', 'verifying', 'advancing', 'stopping']);
const NO_LIMIT = { reached: false } as const;

/** Why no engine has had the run yet. */
export function queueText({ refused, before }: Pick<RunReading, 'refused' | 'before'>): string {
  if (refused === undefined) return before ?? 'it is in the queue';
  return refused.dropped === true ? refused.why : `it could not start: ${refused.why}`;
}

export const UNSTARTED = 'it is a fork that has not been started';

function toResume(reading: RunReading): WaitingFor {
  const { decided, segments, questions, pendingRequests } = reading;
  const request = pendingRequests.at(-1)?.intervention.verb;
  if (request !== undefined) return { for: 'resume', why: `${request} was requested` };
  if (questions.some(({ recorded }) => recorded !== null)) return { for: 'resume', why: 'an answer is recorded' };
  if (decided?.next === 'stop') return { for: 'resume', why: decided.why };
  if (isQueued(reading)) return { for: 'resume', why: queueText(reading) };
  if (isUnstarted(reading)) return { for: 'resume', why: UNSTARTED };
  const why = segments.at(-1)?.releasedAt === null ? 'its engine is gone' : 'it was interrupted';
  return { for: 'resume', why };
}
