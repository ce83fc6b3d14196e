import Database from 'better-sqlite3';
import { z } from 'zod';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import { planEntrySchema } from '../../../src/model/plan/entry.ts';
import { decidedSchema, RUN_EVENTS } from '../../../src/model/run.ts';
import { readEvent } from '../../../src/view/replay-plan.ts';
import { plainLine } from '../../../src/text/plain-text.ts';
import { plainJson, type Json } from '../../../src/text/json.ts';
import type { ClaimAnswer, Decision } from '../../../src/substrate/ports/ledger.ts';

/** A step as it is on record: what was decided on, and what its claims were answered. */
export interface RunStep {
  readonly cursor: number;
  readonly seq: number;
  readonly claims: readonly ClaimAnswer[];
}

/** The applied steps of a run, oldest first. `path`: of its ledger. */
export function stepsIn(path: string, runId: string): RunStep[] {
  const db = new Database(path, { readonly: true });
  try {
    const sql = 'SELECT cursor, seq, answer FROM application WHERE run_id = ? ORDER BY rowid';
    const rows = db.prepare<[string], { cursor: number; seq: number; answer: string }>(sql).all(runId);
    return rows.map(({ cursor, seq, answer }) => {
      return { cursor, seq, claims: (JSON.parse(answer) as Pick<RunStep, 'claims'>).claims };
    });
  } finally {
    db.close();
  }
}

/** With what it decided, in that order. */
export interface RecordedStep extends RunStep {
  readonly decisions: readonly LedgerEvent[];
  /** An engine took the run up between this step and the next: what the last one had yet to decide is not on record. */
  readonly cutShort: boolean;
}

/** The second step of an input decides what happens next. */
export function isSecond({ cursor, seq }: Pick<RunStep, 'cursor' | 'seq'>): boolean {
  return cursor === seq;
}

/** The steps with their decisions. Of those that an input caused, the ones from `next-decided` on are of the second step. */
export function recordedSteps(events: readonly LedgerEvent[], steps: readonly RunStep[]): RecordedStep[] {
  const caused = Map.groupBy(
    events.filter(({ cause }) => cause !== null),
    ({ cause }) => cause,
  );
  const leases = events.flatMap(({ type, seq }) => (type === 'lease-acquired' ? [seq] : []));
  const split = steps.map((step) => {
    const all = caused.get(step.seq) ?? [];
    const next = all.findIndex(({ type }) => type === RUN_EVENTS.decided);
    const first = next < 0 ? all : all.slice(0, next);
    return { ...step, decisions: isSecond(step) ? all.slice(next < 0 ? all.length : next) : first };
  });
  return split.map((step, index) => {
    const from = step.decisions.at(-1)?.seq ?? step.seq;
    const until = split[index + 1]?.decisions[0]?.seq ?? Infinity;
    return { ...step, cutShort: index === split.length - 1 || leases.some((lease) => lease > from && lease < until) };
  });
}

/** A decision without what differs between two engines that decide the same: moments, reasons in words, prompts. */
export interface Essence {
  readonly kind: 'record' | 'timer' | 'claim' | 'mail';
  /** Equal for equal decisions. */
  readonly what: string;
  readonly line: string;
}

const timerSchema = z.object({ id: z.string() });
const sentSchema = z.object({ id: z.string() });
const claimSchema = z.object({ attemptId: z.string(), taskId: z.string(), agent: z.string() });

/** `keyOf`: the key under which the engine sent a message. */
export function essenceOfEvent(event: LedgerEvent, keyOf: (id: string) => string | null): Essence[] {
  switch (event.type) {
    case RUN_EVENTS.plan:
    case RUN_EVENTS.decided:
      return [recorded(event.type, event.data)];
    case 'timer-set':
      return [timer(readEvent(event, timerSchema).id)];
    case 'attempt-claimed':
    case 'claim-refused':
      return [claim(readEvent(event, claimSchema))];
    case 'mail-sent': {
      const { id } = readEvent(event, sentSchema);
      return [mail(keyOf(id) ?? id)];
    }
    default:
      return [];
  }
}

export function essenceOfDecision(decision: Decision): Essence[] {
  switch (decision.do) {
    case 'record':
      return [recorded(decision.type, decision.data)];
    case 'set-timer':
      return [timer(decision.id)];
    case 'claim-attempt': {
      const { id: attemptId, taskId, agent } = decision.attempt;
      return [claim({ attemptId, taskId, agent })];
    }
    case 'send-mail':
      return [mail(decision.key)];
    default:
      return [];
  }
}

function recorded(type: string, data: Json): Essence {
  if (type === RUN_EVENTS.decided) {
    const { next, because } = decidedSchema.parse(data);
    const line = because === undefined ? next : `${next} (${because})`;
    return { kind: 'record', what: `next ${line}`, line: `next: ${line}` };
  }
  const { at: _, ...entry } = planEntrySchema.parse(data);
  const about = entry.entry === 'changes' ? entry.changes : 'task' in entry ? [entry.task, entry.event] : entry.event;
  const line = `${entry.entry}: ${plainLine(JSON.stringify(withoutMoments(plainJson(about))), 200)}`;
  return { kind: 'record', what: `${entry.entry} ${JSON.stringify(withoutMoments(plainJson(entry)))}`, line };
}

/** A moment says when, and not what. */
function withoutMoments(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMoments);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'at' && key !== 'seq');
  return Object.fromEntries(
    kept.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, withoutMoments(one)]),
  );
}

function timer(id: string): Essence {
  return { kind: 'timer', what: `timer ${id}`, line: `timer ${plainLine(id, 100)}` };
}

function claim({ attemptId, taskId, agent }: z.infer<typeof claimSchema>): Essence {
  const line = `attempt ${attemptId} of ${taskId} by ${agent}`;
  return { kind: 'claim', what: line, line: plainLine(line, 200) };
}

function mail(key: string): Essence {
  return { kind: 'mail', what: `mail ${key}`, line: `mail ${plainLine(key, 100)}` };
}

/** A step that would be decided otherwise now. */
export interface ReplayDifference {
  /** The input that was decided on. */
  readonly seq: number;
  /** `inputs`: what it changed in the plan. `next`: what was to happen then. */
  readonly step: 'inputs' | 'next';
  /** What only the record has, and what only this version would decide, in order. */
  readonly was: readonly string[];
  readonly now: readonly string[];
}

/** undefined: the same is decided, in the same order. */
export function differenceOf(
  about: Pick<ReplayDifference, 'seq' | 'step'>,
  was: readonly Essence[],
  now: readonly Essence[],
): ReplayDifference | undefined {
  if (was.length === now.length && was.every(({ what }, index) => what === now[index]?.what)) return undefined;
  const missing = (all: readonly Essence[], other: readonly Essence[]): string[] => {
    const left = other.map(({ what }) => what);
    return all.flatMap(({ what, line }) => {
      const place = left.indexOf(what);
      if (place < 0) return [line];
      left.splice(place, 1);
      return [];
    });
  };
  const [only, fresh] = [missing(was, now), missing(now, was)];
  const moved = only.length + fresh.length === 0;
  return {
    ...about,
    was: moved ? was.map(({ line }) => line) : only,
    now: moved ? now.map(({ line }) => line) : fresh,
  };
}
