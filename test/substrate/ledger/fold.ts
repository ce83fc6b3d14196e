import { z } from 'zod';
import type { Json } from '../../../src/text/json.ts';
import { jsonSchema } from '../../../src/text/json-schema.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import { sumUsd } from '../../../src/model/money.ts';
import { usageSchema } from '../../../src/model/usage.ts';
import type { Totals } from '../../../src/substrate/ports/ledger.ts';

/** An attempt as the run's events tell it, up to what the run has applied. */
interface AttemptView {
  readonly id: string;
  readonly taskId: string;
  readonly number: number;
  readonly kind: 'turn' | 'check';
  readonly agent: string;
  readonly runtime: string;
  readonly sessionKey: string | null;
  readonly claimedAt: number;
  readonly spawnedAt: number | null;
  readonly settled: {
    readonly seq: number;
    readonly at: number;
    readonly outcome: string;
    readonly failure: string | null;
  } | null;
}

/** One run made from its events alone: what the tables have to agree with. */
export interface RunView {
  readonly applied: number;
  /** In claim order. */
  readonly attempts: ReadonlyMap<string, AttemptView>;
  readonly totals: Totals;
  /** `set`: the event that set it. */
  readonly timers: ReadonlyMap<string, { readonly dueAt: number; readonly set: number; readonly data: Json }>;
}

/**
 * Events in the order in which they took effect: each input up to `applied` in seq order, followed by the decisions it
 * caused. Inputs that nothing was decided on yet are left out, so a crash between an event and its decision cannot show.
 */
export function applicationOrder(events: readonly LedgerEvent[], applied: number): LedgerEvent[] {
  const ordered = [...events].sort((a, b) => a.seq - b.seq);
  const decisions = new Map<number, LedgerEvent[]>();
  for (const event of ordered) {
    if (event.cause === null) continue;
    const siblings = decisions.get(event.cause);
    if (siblings === undefined) decisions.set(event.cause, [event]);
    else siblings.push(event);
  }
  return ordered
    .filter((event) => event.cause === null && event.seq <= applied)
    .flatMap((input) => [input, ...(decisions.get(input.seq) ?? [])]);
}

/** Events of one run's stream, and of the workspace's where the run decided on them. Types it does not know are skipped. */
export function foldRun(events: readonly LedgerEvent[], applied: number): RunView {
  const state: State = { attempts: new Map(), timers: new Map(), totals: { ...NO_TOTALS } };
  for (const event of applicationOrder(events, applied)) foldEvent(state, event);
  return { applied, ...state };
}

const NO_TOTALS: Totals = {
  turnsClaimed: 0,
  turnsSettled: 0,
  turnsLost: 0,
  turnsLive: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  unknownUsage: 0,
  unknownCost: 0,
};

interface State {
  readonly attempts: Map<string, AttemptView>;
  readonly timers: Map<string, { dueAt: number; set: number; data: Json }>;
  totals: Totals;
}

const claimedSchema = z.object({
  attemptId: z.string(),
  taskId: z.string(),
  number: z.number(),
  kind: z.enum(['turn', 'check']),
  agent: z.string(),
  runtime: z.string(),
  sessionKey: z.string().nullable(),
});
const spawnedSchema = z.object({ attemptId: z.string() });
const settledSchema = z.object({
  attemptId: z.string(),
  kind: z.enum(['turn', 'check']),
  outcome: z.string(),
  failure: z.string().nullable(),
  usage: usageSchema.nullable(),
});
const timerSchema = z.object({ id: z.string(), dueAt: z.number(), data: jsonSchema });
const timerClearedSchema = z.object({ id: z.string() });
const timerFiredSchema = z.object({ id: z.string(), set: z.number() });

function foldEvent(state: State, event: LedgerEvent): void {
  switch (event.type) {
    case 'attempt-claimed':
      foldClaim(state, event);
      break;
    case 'attempt-spawned':
      foldSpawn(state, event);
      break;
    case 'attempt-settled':
      foldSettlement(state, event);
      break;
    case 'timer-set': {
      const { id, dueAt, data } = timerSchema.parse(event.data);
      state.timers.set(id, { dueAt, set: event.seq, data });
      break;
    }
    case 'timer-cleared':
      state.timers.delete(timerClearedSchema.parse(event.data).id);
      break;
    case 'timer-fired': {
      // It may have been set anew by a decision on an input from before the firing: that setting still runs.
      const { id, set } = timerFiredSchema.parse(event.data);
      if (state.timers.get(id)?.set === set) state.timers.delete(id);
      break;
    }
    default:
    // Facts and decisions of the engine: whoever wrote them folds them.
  }
}

function foldClaim(state: State, event: LedgerEvent): void {
  const { attemptId, ...claim } = claimedSchema.parse(event.data);
  state.attempts.set(attemptId, { id: attemptId, ...claim, claimedAt: event.at, spawnedAt: null, settled: null });
  if (claim.kind === 'check') return;
  const { totals } = state;
  state.totals = { ...totals, turnsClaimed: totals.turnsClaimed + 1, turnsLive: totals.turnsLive + 1 };
}

function foldSpawn(state: State, event: LedgerEvent): void {
  const { attemptId } = spawnedSchema.parse(event.data);
  const attempt = state.attempts.get(attemptId);
  if (attempt !== undefined) state.attempts.set(attemptId, { ...attempt, spawnedAt: event.at });
}

function foldSettlement(state: State, event: LedgerEvent): void {
  const { attemptId, kind, outcome, failure, usage } = settledSchema.parse(event.data);
  const attempt = state.attempts.get(attemptId);
  if (attempt === undefined || attempt.settled !== null) return;
  state.attempts.set(attemptId, { ...attempt, settled: { seq: event.seq, at: event.at, outcome, failure } });
  if (kind === 'check') return;
  const { totals } = state;
  if (failure === 'never-started') {
    state.totals = { ...totals, turnsClaimed: totals.turnsClaimed - 1, turnsLive: totals.turnsLive - 1 };
    return;
  }
  state.totals = {
    turnsClaimed: totals.turnsClaimed,
    turnsSettled: totals.turnsSettled + 1,
    turnsLost: totals.turnsLost + (failure === 'lost' ? 1 : 0),
    turnsLive: totals.turnsLive - 1,
    inputTokens: totals.inputTokens + (usage?.inputTokens ?? 0),
    cachedInputTokens: totals.cachedInputTokens + (usage?.cachedInputTokens ?? 0),
    outputTokens: totals.outputTokens + (usage?.outputTokens ?? 0),
    costUsd: sumUsd([totals.costUsd, usage?.costUsd ?? 0]),
    unknownUsage: totals.unknownUsage + (usage === null ? 1 : 0),
    unknownCost: totals.unknownCost + (usage?.costUsd === undefined ? 1 : 0),
  };
}
