import { z } from 'zod';
import { engineTime } from '../model/spending.ts';
import { concludeRun, type Conclusion } from '../graph/decisions/conclude.ts';
import { isGateDue, isRestoreDue } from '../graph/decisions/gate.ts';
import { decideNext } from '../graph/decisions/next.ts';
import { liveAttempts } from '../graph/decisions/work-requests.ts';
import { WHOLE_RUN } from '../model/plan/intervention.ts';
import type { Phase } from '../model/plan/work.ts';
import { predictBoard } from './requests.ts';
import type { RunReading } from './read-run.ts';

/** `waiting`: for a person or a moment, whether an engine looks on or not. `stopped`: to be resumed. */
export const RUN_PHASES = ['preparing', 'running', 'waiting', 'stopped', 'finished'] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

export const waitingForSchema = z.discriminatedUnion('for', [
  z.strictObject({
    for: z.literal('answer'),
    why: z.string(),
    questions: z.array(z.strictObject({ id: z.string(), text: z.string(), options: z.array(z.string()) })),
  }),
  /** `until` in epoch ms. `account`: whose usage limit ends then; null: it is something else. */
  z.strictObject({ for: z.literal('time'), why: z.string(), until: z.int(), account: z.string().nullable() }),
  /** A limit, a stop or a dead engine: `squad resume`. */
  z.strictObject({ for: z.literal('resume'), why: z.string() }),
]);
export type WaitingFor = z.infer<typeof waitingForSchema>;

export interface PhaseReading {
  readonly phase: RunPhase;
  readonly outcome: 'done' | 'failed' | null;
  /** null if the run is not over. */
  readonly conclusion: Conclusion | null;
  readonly waitingFor: WaitingFor | null;
}

/** ms under an engine, all segments together; parked time does not count. */
export function engineTimeOf({ segments }: Pick<RunReading, 'segments'>): number {
  return engineTime(segments);
}

/** Where a run stands, from the ledger and from whether an engine has it. */
export function phaseOf(reading: RunReading, now: number): PhaseReading {
  if (reading.published !== undefined && predictBoard(reading.board, reading.pendingRequests).finished !== null) {
    const { board, published, definition } = reading;
    const conclusion = concludeRun({ board, problem: published.problem, strict: definition.strict });
    return { phase: 'finished', outcome: conclusion.outcome, conclusion, waitingFor: null };
  }
  const paused = pausedBy(reading);
  if (paused !== undefined)
    return { phase: reading.driven ? 'waiting' : 'stopped', outcome: null, conclusion: null, waitingFor: paused };
  const asked = askedFor(reading);
  if (asked !== undefined) return { phase: 'waiting', outcome: null, conclusion: null, waitingFor: asked };
  const time = heldUntil(reading, now);
  if (!reading.driven)
    return { phase: 'stopped', outcome: null, conclusion: null, waitingFor: time ?? toResume(reading) };
  if (time !== undefined) return { phase: 'waiting', outcome: null, conclusion: null, waitingFor: time };
  return {
    phase: reading.workspace === undefined ? 'preparing' : 'running',
    outcome: null,
    conclusion: null,
    waitingFor: null,
  };
}

function askedFor({ decided, questions }: RunReading): WaitingFor | undefined {
  const open = questions.filter(({ recorded }) => recorded === null);
  if (decided?.next !== 'ask' || open.length === 0) return undefined;
  const asked = open.map(({ id, text, options }) => ({ id, text, options: [...options] }));
  return { for: 'answer', why: decided.why, questions: asked };
}

/** A person holds the whole run back, and nothing of it lives any more. */
function pausedBy({ board, pendingRequests }: RunReading): WaitingFor | undefined {
  const held = predictBoard(board, pendingRequests).pauses.get(WHOLE_RUN);
  if (held?.verb !== 'pause' || isBusy(board)) return undefined;
  return { for: 'resume', why: `paused by ${held.by}` };
}

function isBusy(board: RunReading['board']): boolean {
  if (isGateDue(board) || isRestoreDue(board)) return true;
  return [...board.tasks.values()].some(({ work }) => liveAttempts(work).length > 0 || BUSY.has(work.phase.at));
}

/** Nothing lives and nothing can start before a moment: a usage limit's reset, a retry that waits, a question's default. */
function heldUntil({ board, decided, limits }: RunReading, now: number): WaitingFor | undefined {
  const halted = HALTED.has(decided?.next ?? '') && decided?.because !== 'waiting';
  if (halted || board.finished !== null || board.tasks.size === 0 || isBusy(board)) return undefined;
  const facts = { parallel: limits.parallel, limits: NO_LIMIT, draining: false, patienceMs: null, pendingMail: 0 };
  const next = decideNext({ ...board, now: Math.max(now, board.now) }, facts);
  if (next.next !== 'wait' || next.until === null || next.until <= now) return undefined;
  const { until, why } = next;
  const account = [...board.accounts].find(([, parked]) => parked.until === until)?.[0] ?? null;
  return { for: 'time', why, until, account };
}

const HALTED: ReadonlySet<string> = new Set(['ask', 'stop', 'finish']);
const BUSY: ReadonlySet<Phase['at']> = new Set(['gathering', 'integrating', 'verifying', 'advancing', 'stopping']);
const NO_LIMIT = { reached: false } as const;

function toResume({ decided, segments, questions, pendingRequests }: RunReading): WaitingFor {
  const request = pendingRequests.at(-1)?.intervention.verb;
  if (request !== undefined) return { for: 'resume', why: `${request} was asked for` };
  if (questions.some(({ recorded }) => recorded !== null)) return { for: 'resume', why: 'an answer is recorded' };
  if (decided?.next === 'stop') return { for: 'resume', why: decided.why };
  const why = segments.at(-1)?.releasedAt === null ? 'its engine is gone' : 'it was interrupted';
  return { for: 'resume', why };
}
