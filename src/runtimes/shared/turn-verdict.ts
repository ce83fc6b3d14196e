import { z } from 'zod';
import { errorText } from '../../model/errors.ts';
import type { Failure, FailureKind } from '../../model/failure.ts';
import type { SessionRef } from '../../model/session-ref.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Outcome, TurnResult } from '../../model/turn-result.ts';
import { usageSince } from '../../model/usage.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import type { Verdict } from './cli-adapter.ts';
import { instructionsHash } from './session.ts';
import type { HostEnding } from './watchdog.ts';

export interface EndedTurn {
  readonly runtime: string;
  readonly request: TurnRequest;
  /** undefined: unknown, because the launch file was lost. */
  readonly home: string | undefined;
  readonly verdict: Verdict;
  readonly ending: TurnEnding;
  readonly hostEnding: HostEnding | undefined;
  /** The runtime had printed its result before the process ended. */
  readonly terminal: boolean;
  readonly acted: boolean;
  /** This engine never saw the process alive. */
  readonly neverSeenAlive: boolean;
  /** Pids that survived even the sweep. */
  readonly survivors: readonly number[];
  readonly stderrTail: string;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** The result of a turn, from everything that is known. Pure. Checks the causes in the order in which they are trusted. */
export function resultOf(turn: EndedTurn): TurnResult {
  const { verdict, ending, request } = turn;
  const { outcome, failure } = decideEnd(turn);
  const session = resultSession(turn, failure !== undefined);
  // Counters of a session that was not the requested one began at zero.
  const before = session?.id === (verdict.sessionId ?? session?.id) ? request.session?.counters : undefined;
  const hasStructure = failure === undefined && formProblem(request, verdict) === undefined;
  return defined({
    outcome,
    session,
    text: verdict.text,
    structured: hasStructure ? verdict.structured : undefined,
    denials: verdict.denials.map((denial) => defined(denial)),
    usage: verdict.usage ?? (verdict.counters && usageSince(verdict.counters, before)),
    steps: verdict.steps,
    failure,
    exit:
      ending.type === 'exited'
        ? { code: ending.signal === null ? ending.code : null, signal: ending.signal }
        : undefined,
    stderrTail: turn.stderrTail,
    startedAt: turn.startedAt,
    durationMs: turn.durationMs,
  });
}

/** The result of a turn that never had a process. */
export function resultWithoutProcess(outcome: Outcome, failure: Failure): TurnResult {
  return { outcome, text: '', denials: [], failure, stderrTail: '', durationMs: 0 };
}

interface End {
  readonly outcome: Outcome;
  readonly failure?: Failure;
}

function decideEnd(turn: EndedTurn): End {
  if (turn.survivors.length > 0) {
    return failed('not-stopped', `processes of the turn could not be ended: pid ${turn.survivors.join(', ')}`, true);
  }
  if (turn.ending.type === 'never-started') {
    return failed('never-started', 'the engine died before the agent ran', false);
  }
  const proven = provenEnd(turn);
  if (proven.failure === undefined) return proven;
  if (turn.hostEnding?.why === 'failure') {
    return { outcome: turn.hostEnding.outcome, failure: turn.hostEnding.failure };
  }
  if (turn.terminal) return proven;
  return cutShort(turn) ?? proven;
}

/** The end that the runtime itself proved. It stands however the process ended, so that no finished work is lost. */
function provenEnd(turn: EndedTurn): End {
  const { verdict, request } = turn;
  const opened = request.session?.id;
  if (opened !== undefined && verdict.sessionId !== undefined && verdict.sessionId !== opened) {
    const message = `${turn.runtime} opened session ${verdict.sessionId} instead of resuming ${opened}`;
    return failed('session-not-found', message, turn.acted);
  }
  if (verdict.failure !== undefined) return { outcome: 'failed', failure: verdict.failure };
  const owesForm = request.outputSchema !== undefined && request.outputIsOptional !== true;
  const isSilent =
    verdict.text.trim() === '' && (request.outputSchema === undefined || verdict.structured === undefined);
  const problem = owesForm ? formProblem(request, verdict) : isSilent ? 'the turn ended without an answer' : undefined;
  if (problem === undefined) return { outcome: 'completed' };
  return failed('bad-output', problem, verdict.mayHaveActed ?? turn.acted);
}

/** undefined: the answer has the form that the turn asks for. */
function formProblem({ outputSchema }: TurnRequest, { structured }: Verdict): string | undefined {
  return outputSchema === undefined ? 'the turn asks for no form' : outputProblem(outputSchema, structured);
}

/** The process ended before the runtime's result, and not by this engine. */
function cutShort(turn: EndedTurn): End | undefined {
  const { ending, acted } = turn;
  const { wallMs, maxOutputBytes } = turn.request.limits;
  if (ending.type === 'never-started') return undefined;
  if (ending.endedBy === 'wall') {
    const { failure } = failed('wall-timeout', `the turn ran longer than its limit of ${wallMs} ms`, acted);
    return defined({ outcome: 'timed-out', failure });
  }
  if (ending.endedBy === 'flood') return failed('output-flood', `more than ${maxOutputBytes} bytes of output`, acted);
  if (ending.type === 'exited') return undefined;
  return turn.neverSeenAlive
    ? failed('lost', 'the process is gone and left neither a result nor an exit status', true)
    : failed('crashed', 'the process was killed from outside before it could end its turn', true);
}

function failed(kind: FailureKind, message: string, mayHaveActed: boolean): End {
  return { outcome: 'failed', failure: { kind, message, mayHaveActed } };
}

/**
 * The session to resume next. One whose first turn failed before anything was said or done in it holds nothing, and some programs do not
 * keep it at all: the next turn begins a new one.
 */
function resultSession(turn: EndedTurn, hasFailed: boolean): SessionRef | undefined {
  const { runtime, request, verdict, home: turnHome, acted } = turn;
  if (request.session === undefined && hasFailed && !acted) return undefined;
  const id = request.session?.id ?? verdict.sessionId;
  if (id === undefined || (verdict.sessionId ?? id) !== id) return request.session;
  const home = turnHome ?? request.session?.home;
  // A session cannot be resumed without its home.
  if (home === undefined) return undefined;
  return defined({
    runtime,
    id,
    home,
    workspace: request.workspace.path,
    counters: verdict.counters ?? request.session?.counters,
    instructionsHash: instructionsHash(request.instructions),
  });
}

/**
 * undefined: the answer fits its schema. The host checks it because claude may leave it out and codex does not check it. Throws if zod
 * cannot read the schema, which `schemaProblem` finds before the turn.
 */
export function outputProblem(schema: Record<string, Json>, answer: Json | undefined): string | undefined {
  if (answer === undefined) return 'the runtime gave no structured answer';
  return answerProblems(z.fromJSONSchema(schema), answer, schema)[0];
}

/** Why answers cannot be checked against this schema; undefined: they can. */
export function schemaProblem(schema: Record<string, Json>): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
