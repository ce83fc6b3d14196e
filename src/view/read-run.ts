import { z } from 'zod';
import { interventionOf } from '../rules/read-input.ts';
import { factsOf } from '../rules/run-facts.ts';
import type { Attempt, Settlement } from '../model/attempt.ts';
import type { Spending } from '../model/spending.ts';
import { isSquadError, usageError, type SquadError } from '../model/errors.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import { folderWrittenSchema, type FolderWritten } from '../model/folder-written.ts';
import { planEntrySchema } from '../model/plan/entry.ts';
import { amendRun, decidedSchema, publishFactsSchema, RUN_EVENTS, runDefinitionSchema } from '../model/run.ts';
import { placedAt, type PublishFacts, type RunDefinition } from '../model/run.ts';
import { FOLDER, PLAYED } from '../model/playbook-name.ts';
import { raiseLimits, someLimitsSchema, type Limits, type SomeLimits } from '../model/limits.ts';
import type { Playbooks } from '../model/plan.ts';
import type { ShownStage } from '../model/shown-stage.ts';
import { noRunYet, unknownRun } from '../model/unknown-name.ts';
import type { AttemptFilter, Ledger, LeaseSegment, RunRow, Totals } from '../substrate/ports/ledger.ts';
import { isDriven, type LockedBy } from './driven.ts';
import { waitsForRun } from './queue-rules.ts';
import { openQuestions, type OpenQuestion } from './open-questions.ts';
import { stagesOfRun } from './stages.ts';
import { waitsOf, type RunWait } from './run-waits.ts';
import { predictBoard, readEvent, replayPlan, type OperatorRequest, type Replay } from './replay-plan.ts';

export interface AttemptReading {
  readonly attempt: Attempt;
  /** undefined: not settled. */
  readonly settlement: Settlement | undefined;
}

/** `branch` is absent: the run makes none. */
const allocatedSchema = z.object({ branch: z.string().optional(), base: z.string() });

export const forkParentSchema = z.strictObject({ runId: z.string(), name: z.string(), seq: z.int() });
export type ForkParent = z.infer<typeof forkParentSchema>;

/** One run, folded from the ledger. */
export interface RunReading extends Replay {
  readonly row: RunRow;
  /** The run that it is a fork of, and the input up to which it took that run's decisions; null: it is no fork. */
  readonly parent: ForkParent | null;
  /** The definition as frozen at the start, with the amendments of reloads since. */
  readonly definition: RunDefinition;
  /** The definition's limits, with those raised since. */
  readonly limits: Limits;
  /** In their order; empty: the playbook has none. */
  readonly stages: readonly ShownStage[];
  readonly totals: Totals;
  /** The use that counts against limits. */
  readonly spending: Spending;
  /** Oldest first. */
  readonly segments: readonly LeaseSegment[];
  /** An engine is running it now. */
  readonly driven: boolean;
  /** The last decision of the current engine. A wait that changes nothing is not recorded. */
  readonly decided: z.infer<typeof decidedSchema> | undefined;
  /** When the run waited for a time or a person or stopped, and why; `until`: the next decision, null if there was none. */
  readonly waits: readonly RunWait[];
  /** undefined: no workspace was allocated yet. */
  readonly workspace: z.infer<typeof allocatedSchema> | undefined;
  /** Why no engine takes it from the queue: it could not start, or a person `dropped` it. undefined: one does. */
  readonly refused: z.infer<typeof refusedSchema> | undefined;
  /** Why it cannot begin yet with the result of another run. undefined: it can, or an engine has had it. */
  readonly before?: string | undefined;
  /** undefined: the run is not over. A result from before a person reopened the run does not count. */
  readonly published: PublishFacts | undefined;
  /** The folders that its sinks write, as its last engine left them; without problems while it is driven. */
  readonly written: readonly FolderWritten[];
  readonly questions: readonly OpenQuestion[];
  /** All commands of people, oldest first. */
  readonly interventions: readonly OperatorRequest[];
  /** Those that no engine has applied yet. */
  readonly pendingRequests: readonly OperatorRequest[];
}

/** The only source of status and report. */
export interface RunHistory extends RunReading {
  /** In claim order; checks too. */
  readonly attempts: readonly AttemptReading[];
  /**
   * Name of the newest run that has done tasks of this folder since: a person cannot open this run again, because it knows nothing
   * of that work. undefined: there is none.
   */
  readonly playedBy?: string | undefined;
}

/** Leaves out the events of turns, which are the larger part of a ledger. */
const READ_EVENTS = [
  RUN_EVENTS.plan,
  RUN_EVENTS.decided,
  RUN_EVENTS.resumed,
  RUN_EVENTS.limitsRaised,
  RUN_EVENTS.workspaceAllocated,
  RUN_EVENTS.published,
  RUN_EVENTS.startRefused,
  'operator-command',
  'mail-sent',
];

/**
 * One run by id or name; undefined: the newest. `lockedBy` is the holder of the workspace's lock, or null: an unreleased lease
 * that is older than that lock belongs to a dead engine. `playbooks`: an application's own. Throws `usage` if there is no such run.
 */
export function readRun(
  ledger: Ledger,
  idOrName: string | undefined,
  lockedBy: LockedBy | null,
  playbooks: Playbooks = {},
): RunReading {
  const { row, definition } = rowOf(ledger, idOrName);
  const events = ledger.events({ stream: row.id, types: READ_EVENTS });
  const segments = ledger.segments(row.id);
  // Only what an engine decided on an input is a part of the plan.
  const planned = events.filter(({ cause, type }) => cause !== null && type === RUN_EVENTS.plan);
  const replay = replayPlan(factsOf(definition), all(planned, RUN_EVENTS.plan, planEntrySchema));
  const reopenedAt = planned[replay.reopened - 1]?.seq ?? 0;
  const decisions = events.filter(({ type }) => type === RUN_EVENTS.decided || type === RUN_EVENTS.resumed);
  const decided = decisions.at(-1);
  const driven = isDriven(segments, lockedBy);
  const interventions = events.flatMap(requestOf);
  const amendments = events.flatMap(amendmentOf);
  const pendingRequests = interventions.filter(({ seq }) => seq > row.applied);
  const foreseen = pendingRequests.length === 0 ? replay.board : predictBoard(replay.board, pendingRequests);
  return {
    row,
    parent: parentOf(ledger, row),
    definition: interventions.reduce((amended, { intervention }) => {
      return intervention.verb === 'reload' ? amendRun(amended, intervention) : amended;
    }, definition),
    ...replay,
    limits: amendments.reduce<Limits>(raiseLimits, definition.limits),
    stages: stagesOfRun(definition, playbooks)?.(replay.board) ?? [],
    totals: ledger.totals(row.id),
    spending: ledger.spending(row.id),
    segments,
    driven,
    decided: decided?.type === RUN_EVENTS.decided ? readEvent(decided, decidedSchema) : undefined,
    waits: waitsOf(decisions),
    workspace: all(events, RUN_EVENTS.workspaceAllocated, allocatedSchema).at(-1),
    refused: segments.length > 0 ? undefined : all(events, RUN_EVENTS.startRefused, refusedSchema).at(-1),
    before: segments.length > 0 ? undefined : waitsForRun(ledger, row, definition.submitted),
    published: all(
      events.filter(({ seq }) => seq > reopenedAt),
      RUN_EVENTS.published,
      publishFactsSchema,
    ).at(-1),
    written: writtenBy(ledger, row.id, definition).map((one) => (driven ? { ...one, problem: null } : one)),
    questions: openQuestions(ledger, replay.board, foreseen, events, row.applied),
    interventions,
    pendingRequests,
  };
}

/** As it is on record, whether or not an engine drives the run. The folder that a run was started on is there from the start. */
export function writtenBy(
  ledger: Pick<Ledger, 'events'>,
  runId: string,
  { folder }: Pick<RunDefinition, 'folder'>,
): FolderWritten[] {
  const started = folder === undefined ? [] : [{ sink: FOLDER, folder, problem: null }];
  const noted = all(
    ledger.events({ stream: runId, types: [RUN_EVENTS.folder] }),
    RUN_EVENTS.folder,
    folderWrittenSchema,
  );
  return [...new Map([...started, ...noted].map((one) => [one.sink, one])).values()];
}

/** Those of the folders that a run writes. */
export function incomplete({ written }: Pick<RunReading, 'written'>): FolderWritten[] {
  return written.filter(({ problem }) => problem !== null);
}

function parentOf(ledger: Pick<Ledger, 'run'>, { parent }: Pick<RunRow, 'parent'>): ForkParent | null {
  return parent === null ? null : { ...parent, name: ledger.run(parent.runId)?.name ?? parent.runId };
}

/** A submitted run that no engine ever drove. */
export function isQueued({ definition, segments }: Pick<RunReading, 'definition' | 'segments'>): boolean {
  return definition.submitted !== undefined && segments.length === 0;
}

/** A fork that no engine ever drove. */
export function isUnstarted({ parent, segments }: Pick<RunReading, 'parent' | 'segments'>): boolean {
  return parent !== null && segments.length === 0;
}

/** As `readRun`, with every attempt and its result. */
export function readHistory(...of: Parameters<typeof readRun>): RunHistory {
  const [ledger] = of;
  const reading = readRun(...of);
  const attempts = readAttempts(ledger, { runId: reading.row.id });
  return { ...reading, attempts, playedBy: playedBy(ledger, reading) };
}

/** See `RunHistory`. */
export function playedBy(ledger: Ledger, { row, definition }: RunReading): string | undefined {
  const { folder, repository } = definition;
  if (folder === undefined) return undefined;
  const runs = ledger.runs();
  const newer = runs.slice(runs.findIndex(({ id }) => id === row.id) + 1).toReversed();
  return newer.find((one) => {
    const other = findDefinition(ledger, one);
    if (other === undefined || placedAt(other, repository.root).folder !== folder) return false;
    return (findRun(ledger, one.id, null)?.board.records.get(PLAYED)?.size ?? 0) > 0;
  })?.name;
}

/** With their results, in claim order. */
export function readAttempts(ledger: Ledger, where: AttemptFilter): AttemptReading[] {
  return ledger.attempts(where).map((attempt) => ({ attempt, settlement: ledger.settlement(attempt.id) }));
}

/** undefined: the run was never defined. */
export function findRun(
  ledger: Ledger,
  id: string,
  lockedBy: LockedBy | null,
  playbooks: Playbooks = {},
): RunReading | undefined {
  try {
    return readRun(ledger, id, lockedBy, playbooks);
  } catch (error) {
    // It was never defined: its start was cut short.
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
  }
}

/**
 * Whether the run is published and its engine ended normally: one that was killed before that has not written the report. A
 * pending request may reopen the run.
 */
export function isOver(reading: Pick<RunReading, 'published' | 'segments' | 'board' | 'pendingRequests'>): boolean {
  const { published, segments, board, pendingRequests } = reading;
  if (published === undefined || segments.at(-1)?.releasedAt === null) return false;
  return predictBoard(board, pendingRequests).finished !== null;
}

/** Refuses what only a run that has not ended can do. */
export function runIsOver(name: string): SquadError {
  return usageError(`run ${name} is over`, `See its result with \`squad report ${name}\`.`);
}

/** By id or name; undefined: the newest. Throws `usage` if there is no such run, or it was never defined. */
export function rowOf(ledger: Ledger, idOrName: string | undefined): { row: RunRow; definition: RunDefinition } {
  if (idOrName === undefined) {
    const newest = ledger.runs().findLast((row) => findDefinition(ledger, row) !== undefined);
    if (newest === undefined) throw noRunYet();
    return rowOf(ledger, newest.id);
  }
  const row = ledger.run(idOrName);
  if (row === undefined) {
    throw unknownRun(
      idOrName,
      ledger.runs().map(({ name }) => name),
    );
  }
  const definition = findDefinition(ledger, row);
  if (definition !== undefined) return { row, definition };
  const why = `${row.name} has no objective: it is a single turn, or its start was cut short`;
  throw usageError(why, `See what happened with \`squad log ${row.name}\`.`);
}

export function findDefinition(ledger: Pick<Ledger, 'events'>, row: RunRow): RunDefinition | undefined {
  const [first, based] = ledger.events({ stream: row.id, types: [RUN_EVENTS.defined, RUN_EVENTS.based], limit: 2 });
  const definition = first && all([first], RUN_EVENTS.defined, runDefinitionSchema)[0];
  if (definition === undefined || based === undefined) return definition;
  const { base } = readEvent(based, basedSchema);
  return { ...definition, repository: { ...definition.repository, base } };
}

const refusedSchema = z.object({ why: z.string(), dropped: z.literal(true).optional() });
const basedSchema = z.object({ base: z.string() });

function all<T>(events: readonly LedgerEvent[], type: string, schema: z.ZodType<T>): T[] {
  return events.filter((event) => event.type === type).map((event) => readEvent(event, schema));
}

/** Limits that this event changed. */
export function amendmentOf(event: LedgerEvent): SomeLimits[] {
  if (event.type === RUN_EVENTS.limitsRaised) return [readEvent(event, someLimitsSchema)];
  return requestOf(event).flatMap(({ intervention }) => (intervention.verb === 'reload' ? [intervention.limits] : []));
}

function requestOf({ type, seq, at, data }: LedgerEvent): OperatorRequest[] {
  const request = type === 'operator-command' ? interventionOf(data) : undefined;
  return request === undefined ? [] : [{ seq, at, ...request }];
}
