import { z } from 'zod';
import { createBoard } from '../rules/board.ts';
import { foldEntry } from '../rules/plan-step.ts';
import { interventionOf } from '../rules/read-input.ts';
import { factsOf } from '../rules/run-facts.ts';
import type { Attempt } from '../model/attempt.ts';
import type { RunRow } from '../substrate/ports/ledger.ts';
import { attemptScope, attemptWithin } from '../model/attempt-id.ts';
import { errorText } from '../model/errors.ts';
import { isJsonObject, type Json } from '../text/json.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Board } from '../model/plan/board.ts';
import { planEntrySchema, type PlanEntry } from '../model/plan/entry.ts';
import { RUN_EVENTS, runDefinitionSchema, type RunDefinition } from '../model/run.ts';
import { someLimitsSchema, type Limits, type SomeLimits } from '../model/limits.ts';

/** The part of a ledger's history that these rules check. */
export interface PlanHistory {
  readonly events: readonly LedgerEvent[];
  readonly runs: readonly Pick<RunRow, 'id' | 'applied'>[];
  readonly attempts: readonly (Pick<Attempt, 'id' | 'runId' | 'taskId' | 'kind'> & { readonly claimSeq: number })[];
}

export const PLAN_RULES = [
  'plan-unreadable',
  'dependent-early',
  'settlement-applied-twice',
  'settlement-not-applied',
  'mail-twice',
  'mail-lost',
  'mail-order',
] as const;

const sentSchema = z.object({ id: z.string(), from: z.string(), held: z.string().nullable() });

export interface PlanViolation {
  readonly rule: (typeof PLAN_RULES)[number];
  /** Names the rows that break the rule. */
  readonly message: string;
}

/** The limits of a run, from an event on. */
export interface CapsStep {
  readonly since: number;
  readonly limits: Pick<Limits, 'turns' | 'usd' | 'tokens'>;
}

/** The limits of each run, oldest first: those of its definition, then those that people raised. */
export function capsOfRuns(events: readonly LedgerEvent[]): Record<string, CapsStep[]> {
  const caps: Record<string, CapsStep[]> = {};
  for (const { seq, stream, type, data } of events) {
    if (type === RUN_EVENTS.defined) {
      const definition = runDefinitionSchema.safeParse(data).data;
      if (definition === undefined) continue;
      // The plan counts retries, because not each attempt is one.
      const { turns, usd, tokens } = definition.limits;
      caps[stream] = [{ since: seq, limits: { turns, usd, tokens } }];
    }
    const last = caps[stream]?.at(-1);
    const raised = raisedBy(type, data);
    if (raised === undefined || last === undefined) continue;
    const { turns = last.limits.turns, usd = last.limits.usd, tokens = last.limits.tokens } = raised;
    caps[stream]?.push({ since: seq, limits: { turns, usd, tokens } });
  }
  return caps;
}

/** Checks the promises about each run's plan, which the ledger's own rules cannot see. */
export function checkPlans(history: PlanHistory): PlanViolation[] {
  return history.runs.flatMap(({ id, applied }) => {
    const events = history.events.filter(({ stream }) => stream === id);
    const defined = events.find(({ type }) => type === RUN_EVENTS.defined);
    // The start of the run was cut short.
    if (defined === undefined) return [];
    const definition = runDefinitionSchema.safeParse(defined.data).data;
    if (definition === undefined) return [broken('plan-unreadable', `event ${defined.seq} defines no run`)];
    const decided = events.filter(({ type, cause }) => type === RUN_EVENTS.plan && cause !== null);
    const story = { history, runId: id, applied, definition, events, entries: entriesOf(decided) };
    const unreadable = decided.filter(({ seq }) => !story.entries.has(seq));
    if (unreadable.length > 0) {
      return unreadable.map(({ seq }) => broken('plan-unreadable', `event ${seq} is no entry of a plan`));
    }
    return [...earlyDependents(story), ...settlementsApplied(story), ...mailDelivered(story)];
  });
}

interface Story {
  readonly history: PlanHistory;
  readonly runId: string;
  readonly applied: number;
  readonly definition: RunDefinition;
  readonly events: readonly LedgerEvent[];
  /** By seq, oldest first. */
  readonly entries: ReadonlyMap<number, PlanEntry>;
}

function entriesOf(events: readonly LedgerEvent[]): Map<number, PlanEntry> {
  const parsed = events.map(({ seq, data }) => [seq, planEntrySchema.safeParse(data).data] as const);
  return new Map(parsed.flatMap(([seq, entry]) => (entry === undefined ? [] : [[seq, entry]])));
}

/** No turn and no operation of a task begins before all tasks that it needs are done or skipped. */
function earlyDependents({ history, runId, definition, events, entries }: Story): PlanViolation[] {
  const claims = new Map(history.attempts.map((attempt) => [attempt.claimSeq, attempt]));
  const found: PlanViolation[] = [];
  let board = createBoard(factsOf(definition));
  for (const { seq } of events) {
    const entry = entries.get(seq);
    const claim = claims.get(seq);
    if (claim?.runId === runId && claim.kind === 'turn') found.push(...missing(board, claim.taskId, claim.id));
    if (entry?.entry === 'work' && entry.event.type === 'begun') {
      found.push(...missing(board, entry.task, `what event ${seq} began`));
    }
    if (entry === undefined) continue;
    try {
      board = foldEntry(board, entry);
    } catch (error) {
      // The rest cannot be checked.
      return [...found, broken('plan-unreadable', `event ${seq} does not fit its plan: ${errorText(error)}`)];
    }
  }
  return found;
}

function missing(board: Board, task: string, what: string): PlanViolation[] {
  const needs = board.tasks.get(task)?.task.needs ?? [];
  const open = needs.filter((need) => {
    const phase = board.tasks.get(need)?.work.phase;
    return phase?.at !== 'ended' || (phase.as !== 'done' && phase.as !== 'skipped');
  });
  return open.map((need) => broken('dependent-early', `${what} came before ${need}, which task ${task} needs`));
}

/** Each settled turn up to the cursor is in the plan once, and none after it. */
function settlementsApplied({ history, runId, applied, definition, events, entries }: Story): PlanViolation[] {
  const scope = attemptScope(definition.name, runId);
  const turns = new Set(history.attempts.filter(({ kind }) => kind === 'turn').map(({ id }) => id));
  const settled = events
    .filter(({ type, seq, data }) => type === 'attempt-settled' && seq <= applied && turns.has(attemptOf(data)))
    .map(({ data }) => attemptWithin(scope, attemptOf(data)));
  const inPlan = [...entries.values()].flatMap((entry) =>
    entry.entry === 'work' && entry.event.type === 'attempt-settled' ? [entry.event.attempt] : [],
  );
  const twice = inPlan.filter((attempt, index) => inPlan.indexOf(attempt) !== index);
  const lost = settled.filter((attempt) => !inPlan.includes(attempt));
  return [
    ...twice.map((attempt) => broken('settlement-applied-twice', `the end of ${attempt} is in the plan again`)),
    ...lost.map((attempt) => broken('settlement-not-applied', `the end of ${attempt} is not in the plan`)),
  ];
}

/** Each message up to the cursor reaches the plan once, those of one sender in the order in which they were written. */
function mailDelivered(story: Story): PlanViolation[] {
  const { entries } = story;
  const written = effectiveMail(story);
  const place = new Map(written.map((message, index) => [message.id, { index, sender: message.sender }]));
  const delivered = [...entries.values()].flatMap((entry) =>
    entry.entry === 'event' && entry.event.type === 'mail' && place.has(entry.event.id) ? [entry.event.id] : [],
  );
  const found: PlanViolation[] = [];
  const seen = new Set<string>();
  const last = new Map<string, number>();
  for (const id of delivered) {
    const { index = 0, sender = '' } = place.get(id) ?? {};
    if (seen.has(id)) found.push(broken('mail-twice', `message ${id} is in the plan again`));
    else if (index < (last.get(sender) ?? 0)) found.push(broken('mail-order', `message ${id} of ${sender} came late`));
    seen.add(id);
    last.set(sender, Math.max(index, last.get(sender) ?? 0));
  }
  const lost = written.filter(({ id }) => !seen.has(id));
  return [...found, ...lost.map(({ id }) => broken('mail-lost', `message ${id} is not in the plan`))];
}

/** Mail of members that has taken effect up to the cursor: at once, or with the end of the turn that sent it. */
function effectiveMail({ events, applied }: Story): { id: string; sender: string }[] {
  const ends = new Map(
    events.flatMap(({ seq, type, data }) =>
      type === 'attempt-settled' && isJsonObject(data) && data['outcome'] === 'completed'
        ? [[attemptOf(data), seq]]
        : [],
    ),
  );
  return events.flatMap(({ seq, type, cause, data }) => {
    if (type !== 'mail-sent' || cause !== null) return [];
    const mail = sentSchema.safeParse(data).data;
    if (mail === undefined) return [];
    const at = mail.held === null ? seq : (ends.get(mail.held) ?? Infinity);
    // A message that takes effect at once may overtake one that waits for the end of its turn.
    return at <= applied ? [{ id: mail.id, sender: `${mail.from} ${mail.held ?? ''}` }] : [];
  });
}

function attemptOf(data: LedgerEvent['data']): string {
  return isJsonObject(data) && typeof data['attemptId'] === 'string' ? data['attemptId'] : '';
}

function broken(rule: PlanViolation['rule'], message: string): PlanViolation {
  return { rule, message };
}

/** The limits that the event changes; undefined if it changes none. */
function raisedBy(type: string, data: Json): SomeLimits | undefined {
  if (type === RUN_EVENTS.limitsRaised) return someLimitsSchema.safeParse(data).data ?? {};
  const request = type === 'operator-command' ? interventionOf(data)?.intervention : undefined;
  return request?.verb === 'reload' ? request.limits : undefined;
}
