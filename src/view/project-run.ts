import { z } from 'zod';
import { createBoard } from '../rules/board.ts';
import { factsOf } from '../rules/run-facts.ts';
import type { Settlement } from '../model/attempt.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { MailMessage } from '../model/mail/envelope.ts';
import type { Board } from '../model/plan/board.ts';
import { folderText, folderWrittenSchema } from '../model/folder-written.ts';
import { raiseLimits, someLimitsSchema, type Limits, type SomeLimits } from '../model/limits.ts';
import { planEntrySchema, type PlanEntry } from '../model/plan/entry.ts';
import type { AskedPlan } from '../model/plan/asked-question.ts';
import type { Reload } from '../model/plan/intervention.ts';
import type { Playbooks } from '../model/plan.ts';
import {
  amendRun,
  decidedSchema,
  FORK_EPOCH,
  publishFactsSchema,
  RUN_EVENTS,
  runDefinitionSchema,
} from '../model/run.ts';
import type { RunDefinition } from '../model/run.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { ShownStage } from '../model/shown-stage.ts';
import { defined } from '../text/defined.ts';
import { planAskedBy } from './asked-plan.ts';
import type { Base } from './event-base.ts';
import { boardEvents } from './project-board.ts';
import { inputEvents, mailEvent } from './project-input.ts';
import { insteadOfIn, stallEvents } from './live-turns.ts';
import { stageEvents, stagesOfRun, type StagesOf } from './stages.ts';
import { foldStored, readEvent } from './replay-plan.ts';

/** An event of the run's stream with the rows that it names, which never change. */
export interface RunRecord {
  readonly event: LedgerEvent;
  /** The row that `attempt-settled` names. */
  readonly settlement?: Settlement | undefined;
  /** The message that `mail-sent` names. */
  readonly mail?: { readonly message: MailMessage; readonly body: string } | undefined;
}

interface OpenAttempt {
  readonly task: string;
  readonly agent: string;
  readonly kind: 'turn' | 'check';
  readonly runtime: string;
  readonly insteadOf?: string;
  /** Epoch of the engine that claimed it. */
  readonly epoch: number | null;
  readonly spawned: boolean;
}

/** The state after the records so far, from which the next record is projected. */
export interface RunProjection {
  /** Name of the run; empty until it is defined. */
  readonly name: string;
  /** undefined: the run is not defined yet. */
  readonly board: Board | undefined;
  readonly limits: Limits | undefined;
  /** undefined: the run is not defined yet. */
  readonly definition: RunDefinition | undefined;
  /** Claimed and not settled, by id. */
  readonly open: ReadonlyMap<string, OpenAttempt>;
  /** An application's own. */
  readonly playbooks: Playbooks;
  /** undefined: the run has no stages, or is not defined yet. */
  readonly stagesOf: StagesOf | undefined;
  readonly stages: readonly ShownStage[];
  /** The last `run-resumed`. It lifts a pause like a person's command, and people do not see it as one. */
  readonly resumedAt: number;
}

/** Before the first record. */
export function beginProjection(playbooks: Playbooks): RunProjection {
  return {
    ...{ name: '', board: undefined, limits: undefined, definition: undefined, open: new Map(), resumedAt: 0 },
    ...{ playbooks, stagesOf: undefined, stages: [] },
  };
}

interface Projected {
  readonly state: RunProjection;
  readonly events: readonly RunEvent[];
}

const claimedSchema = z.object({
  attemptId: z.string(),
  taskId: z.string(),
  kind: z.enum(['turn', 'check']),
  agent: z.string(),
  runtime: z.string(),
});
const attemptSchema = z.object({ attemptId: z.string() });

/**
 * Uses records alone, so a view (terminal, `--json`, pane) that opens late or after a crash gets the same events. The ledger lacks
 * only the output of live turns, the start and end of each segment, where it sends traces, and warnings about this machine.
 */
export function projectRun(state: RunProjection, record: RunRecord): Projected {
  const { event } = record;
  switch (event.type) {
    case RUN_EVENTS.defined:
      return defines(state, event);
    case RUN_EVENTS.limitsRaised:
      return limitsRaised(state, baseOf(event), readEvent(event, someLimitsSchema));
    case RUN_EVENTS.resumed:
      return silent({ ...state, resumedAt: event.seq });
    case 'lease-acquired':
      return {
        state,
        events: [...state.open].flatMap(([id, one]) => (one.spawned ? [taken(event, id, one, 'attached')] : [])),
      };
    case 'attempt-claimed': {
      const { attemptId, taskId: task, ...rest } = readEvent(event, claimedSchema);
      const insteadOf = insteadOfIn(state.board, attemptId);
      const attempt = { task, ...rest, ...defined({ insteadOf }), epoch: event.epoch, spawned: false };
      return silent({ ...state, open: new Map(state.open).set(attemptId, attempt) });
    }
    case 'attempt-spawned':
      return spawned(state, event);
    case 'attempt-settled':
      return settled(state, record);
    case RUN_EVENTS.plan:
      return event.cause === null ? silent(state) : planned(state, event);
    case RUN_EVENTS.decided: {
      if (event.cause === null) return silent(state);
      const { next, why, because, until } = readEvent(event, decidedSchema);
      const decided = { type: 'decided', ...baseOf(event), next, why, ...defined({ because, until }) } as const;
      return { state, events: [decided] };
    }
    case 'mail-sent':
      // The plan of a fork shows the mail that it took over.
      return {
        state,
        events: event.cause === null || event.epoch === FORK_EPOCH ? [] : sentByEngine(record, state.board),
      };
    case RUN_EVENTS.published: {
      const { mailLeft } = readEvent(event, publishFactsSchema);
      const text = `${mailLeft ?? ''}. Look at it with \`squad mail status\`.`;
      return { state, events: mailLeft === undefined ? [] : [{ type: 'warning', ...baseOf(event), text }] };
    }
    case RUN_EVENTS.folder: {
      const text = folderText(readEvent(event, folderWrittenSchema), state.name);
      return { state, events: [{ type: 'warning', ...baseOf(event), text }] };
    }
    default:
      return silent(state);
  }
}

function silent(state: RunProjection): Projected {
  return { state, events: [] };
}

function baseOf({ at, stream }: LedgerEvent): Base {
  return { at, runId: stream };
}

function defines(state: RunProjection, event: LedgerEvent): Projected {
  const definition = readEvent(event, runDefinitionSchema);
  const { name, playbook, limits, objective } = definition;
  const agents = definition.agents.map(({ name: of, role, runtime, model, account }) => {
    return { name: of, role, runtime, ...defined({ model }), account };
  });
  return {
    state: {
      ...state,
      name,
      board: createBoard(factsOf(definition)),
      limits,
      definition,
      stagesOf: stagesOfRun(definition, state.playbooks),
    },
    events: [
      {
        type: 'run-defined',
        ...baseOf(event),
        name,
        title: objective.title,
        playbook,
        agents,
        limits,
        ...defined({ deadline: objective.deadline }),
      },
    ],
  };
}

function limitsRaised(state: RunProjection, base: Base, raise: SomeLimits | undefined): Projected {
  if (state.limits === undefined || raise === undefined) return silent(state);
  const limits = raiseLimits(state.limits, raise);
  return { state: { ...state, limits }, events: [{ type: 'limits-changed', ...base, limits }] };
}

function spawned(state: RunProjection, event: LedgerEvent): Projected {
  const { attemptId } = readEvent(event, attemptSchema);
  const attempt = state.open.get(attemptId);
  if (attempt === undefined) return silent(state);
  const open = new Map(state.open).set(attemptId, { ...attempt, spawned: true });
  const how = attempt.epoch === event.epoch ? 'started' : 'started-again';
  return { state: { ...state, open }, events: [taken(event, attemptId, attempt, how)] };
}

function taken(
  event: LedgerEvent,
  attemptId: string,
  { task, agent, kind, runtime, insteadOf }: OpenAttempt,
  how: 'started' | 'started-again' | 'attached',
): RunEvent {
  const on = { runtime, ...defined({ insteadOf }) };
  return { type: 'attempt-taken', ...baseOf(event), attemptId, task, agent, kind, ...on, how };
}

function settled(state: RunProjection, { event, settlement }: RunRecord): Projected {
  const { attemptId } = readEvent(event, attemptSchema);
  const attempt = state.open.get(attemptId);
  if (attempt === undefined || settlement === undefined) return silent(state);
  const open = new Map(state.open);
  open.delete(attemptId);
  const { task, agent, kind } = attempt;
  const { outcome, failure, durationMs, usage } = settlement.result;
  const end = { attemptId, task, agent, kind, outcome, durationMs, ...defined({ failure, usage }) };
  return { state: { ...state, open }, events: [{ type: 'attempt-ended', ...baseOf(event), ...end }] };
}

function planned(state: RunProjection, event: LedgerEvent): Projected {
  const { board: before } = state;
  if (before === undefined) return silent(state);
  const entry = readEvent(event, planEntrySchema);
  const board = foldStored(before, entry);
  const base = baseOf(event);
  const input =
    entry.entry === 'event'
      ? inputEvents(base, entry, board, state.resumedAt)
      : stallEvents(base, before, state.open.keys(), entry);
  const reload = reloadIn(entry);
  const definition = reload && state.definition ? amendRun(state.definition, reload) : state.definition;
  const raised = limitsRaised({ ...state, board, definition }, base, reload?.limits);
  const stages = state.stagesOf?.(board) ?? [];
  const planOf = (id: string): AskedPlan | undefined => planIn(raised.state, id);
  const changes = [...boardEvents(base, before, board, planOf), ...stageEvents(base, state.stages, stages)];
  return { state: { ...raised.state, stages }, events: [...input, ...raised.events, ...changes] };
}

/** undefined: the entry reloads no settings. */
function reloadIn(entry: PlanEntry): Reload | undefined {
  if (entry.entry !== 'event' || entry.event.type !== 'intervention') return undefined;
  const { intervention } = entry.event;
  return intervention.verb === 'reload' ? intervention : undefined;
}

/** The plan that this question asks about. */
function planIn({ board, definition, limits }: RunProjection, id: string): AskedPlan | undefined {
  if (board === undefined || definition === undefined || limits === undefined) return undefined;
  return planAskedBy(board, { definition, limits }, id);
}

function sentByEngine({ event, mail }: RunRecord, board: Board | undefined): RunEvent[] {
  if (mail === undefined || board === undefined) return [];
  return [mailEvent(baseOf(event), mail.message, mail.body, board)];
}
