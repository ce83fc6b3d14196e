import { z } from 'zod';
import type { Failure } from '../../model/failure.ts';
import type { SessionRef } from '../../model/session-ref.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Outcome, TurnResult } from '../../model/turn-result.ts';
import { usageSince } from '../../model/usage.ts';
import type { Verdict } from './cli-adapter.ts';
import { instructionsHash } from './session.ts';
import type { HostEnding } from './watchdog.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import type { Json } from '../../text/json.ts';

export interface EndedTurn {
  readonly runtime: string;
  readonly request: TurnRequest;
  /** undefined: nobody knows any more. */
  readonly home: string | undefined;
  readonly verdict: Verdict;
  readonly ending: TurnEnding;
  readonly hostEnding: HostEnding | undefined;
  /** The runtime had said its last word before the process ended. */
  readonly terminal: boolean;
  readonly acted: boolean;
  /** Nobody of this engine ever saw the process alive. */
  readonly neverSeenAlive: boolean;
  /** Pids that survived even the sweep. */
  readonly survivors: readonly number[];
  readonly stderrTail: string;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** One result from everything that is known. Pure. The order of the causes is the order of trust. */
export function resultOf(turn: EndedTurn): TurnResult {
  const { verdict, ending } = turn;
  const session = sessionOf(turn);
  // Counters of a session that was not the one asked for began at zero.
  const before = session?.id === (verdict.sessionId ?? session?.id) ? turn.request.session?.counters : undefined;
  const usage = verdict.usage ?? (verdict.counters && usageSince(verdict.counters, before));
  const end = endOf(turn);
  const structured =
    end.failure === undefined && turn.request.outputSchema !== undefined ? verdict.structured : undefined;
  return {
    outcome: end.outcome,
    ...(session === undefined ? {} : { session }),
    text: verdict.text,
    ...(structured === undefined ? {} : { structured }),
    denials: verdict.denials.map(({ tool, message }) => ({ tool, ...(message === undefined ? {} : { message }) })),
    ...(usage === undefined ? {} : { usage }),
    ...(verdict.steps === undefined ? {} : { steps: verdict.steps }),
    ...(end.failure === undefined ? {} : { failure: end.failure }),
    ...(ending.type === 'exited'
      ? { exit: { code: ending.signal === null ? ending.code : null, signal: ending.signal } }
      : {}),
    stderrTail: turn.stderrTail,
    startedAt: turn.startedAt,
    durationMs: turn.durationMs,
  };
}

/** A result of a turn that never had a process. */
export function resultWithoutProcess(outcome: Outcome, failure: Failure): TurnResult {
  return { outcome, text: '', denials: [], failure, stderrTail: '', durationMs: 0 };
}

interface End {
  readonly outcome: Outcome;
  readonly failure?: Failure;
}

function endOf(turn: EndedTurn): End {
  if (turn.survivors.length > 0) {
    return failed('not-stopped', `processes of the turn could not be ended: pid ${turn.survivors.join(', ')}`, true);
  }
  if (turn.ending.type === 'never-started')
    return failed('never-started', 'the engine died before the agent ran', false);
  const proven = provenEnd(turn);
  if (proven.failure === undefined) return proven;
  if (turn.hostEnding?.why === 'failure') {
    return { outcome: turn.hostEnding.outcome, failure: turn.hostEnding.failure };
  }
  if (turn.terminal) return proven;
  return cutShort(turn) ?? proven;
}

/** What the runtime itself proved, whoever ended its process afterwards: finished work is never thrown away. */
function provenEnd(turn: EndedTurn): End {
  const { verdict, request } = turn;
  const opened = request.session?.id;
  if (opened !== undefined && verdict.sessionId !== undefined && verdict.sessionId !== opened) {
    const message = `${turn.runtime} opened session ${verdict.sessionId} instead of resuming ${opened}`;
    return failed('session-not-found', message, turn.acted);
  }
  if (verdict.failure !== undefined) return { outcome: 'failed', failure: verdict.failure };
  if (request.outputSchema === undefined) {
    const answered = verdict.text.trim() !== '';
    return answered ? { outcome: 'completed' } : failed('bad-output', 'the turn ended without an answer', turn.acted);
  }
  const check = checkOutput(request.outputSchema, verdict.structured);
  return check.ok ? { outcome: 'completed' } : failed('bad-output', check.problem, turn.acted);
}

/** The process ended without the runtime's last word, and not by this engine. */
function cutShort(turn: EndedTurn): End | undefined {
  const { ending } = turn;
  if (ending.type === 'never-started') return undefined;
  if (ending.endedBy === 'wall') {
    const message = `the turn ran longer than its limit of ${turn.request.limits.wallMs} ms`;
    return { outcome: 'timed-out', failure: { kind: 'wall-timeout', message, mayHaveActed: turn.acted } };
  }
  if (ending.endedBy === 'flood') {
    return failed('output-flood', `more than ${turn.request.limits.maxOutputBytes} bytes of output`, turn.acted);
  }
  if (ending.type === 'exited') return undefined;
  return turn.neverSeenAlive
    ? failed('lost', 'the process is gone and left neither a result nor an exit status', true)
    : failed('crashed', 'the process was killed from outside before it could end its turn', true);
}

function failed(kind: Failure['kind'], message: string, mayHaveActed: boolean): End {
  return { outcome: 'failed', failure: { kind, message, mayHaveActed } };
}

function sessionOf(turn: EndedTurn): SessionRef | undefined {
  const { request, verdict } = turn;
  const id = request.session?.id ?? verdict.sessionId;
  if (
    id === undefined ||
    (request.session !== undefined && verdict.sessionId !== undefined && verdict.sessionId !== id)
  ) {
    return request.session;
  }
  const home = turn.home ?? request.session?.home;
  // Without its home a session cannot be resumed.
  if (home === undefined) return undefined;
  const counters = verdict.counters ?? request.session?.counters;
  return {
    runtime: turn.runtime,
    id,
    home,
    workspace: request.workspace.path,
    ...(counters === undefined ? {} : { counters }),
    instructionsHash: instructionsHash(request.instructions),
  };
}

export type OutputCheck =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

/**
 * The host's own check of a structured answer: claude may leave it out and codex does not check it at all.
 * Throws when the schema itself is one that zod cannot read; `schemaProblem` tells beforehand.
 */
export function checkOutput(schema: Record<string, Json>, answer: Json | undefined): OutputCheck {
  if (answer === undefined) return { ok: false, problem: 'the runtime gave no structured answer' };
  const parsed = z.fromJSONSchema(schema).safeParse(answer);
  if (parsed.success) return { ok: true, value: answer };
  const issue = parsed.error.issues[0];
  return {
    ok: false,
    problem: `the answer breaks its schema at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? ''}`,
  };
}

export function schemaProblem(schema: Record<string, Json>): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
