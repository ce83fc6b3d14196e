import { join } from 'node:path';
import { createSupervisor, type Supervisor } from './attempts/supervisor.ts';
import { createChecks } from './checks/run-checks.ts';
import type { Composition, Host } from './compose.ts';
import type { GraphPorts } from '../graph/ports.ts';
import { createWakeSignal } from '../graph/wake-signal.ts';
import { armoryFactsOf } from '../model/armory-facts.ts';
import { attemptScope } from '../model/attempt-id.ts';
import type { Playbook } from '../model/plan.ts';
import { makesFolder } from '../playbooks/registry.ts';
import { publishWork } from './sinks/sinks.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import type { Board } from '../model/plan/board.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { RunDefinition } from '../model/run.ts';
import type { Limits } from '../model/limits.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { TurnResult } from '../model/turn-result.ts';
import { createCopies, followPlaces, prepareTurn, startsInTime } from './prepare-turn.ts';
import { createOperations, type Operations } from './operations/operations.ts';
import { allocateWorkspace } from './operations/publish-run.ts';
import { letThroughBy } from '../model/let-through.ts';
import { openRunEvents } from '../view/run-events.ts';
import type { Forge } from '../substrate/ports/forge.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';
import { createArmory, equipmentPlaces, type EquipmentPlaces, type TurnArmory } from './armory.ts';
import { createFolderPorts, type FolderPorts } from './folder-ports.ts';
import { createTurnMail, mailPolicyOf, mailWords, type TurnMail } from './turn-mail.ts';
import { createSegmentControl, type SegmentControl } from './run-control.ts';
import type { PlaceWatch } from './lost-place.ts';
import type { RunFiles } from './sinks/run-files.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { armoryFolder, copiesFolder, portsFile } from '../substrate/system/files/run-files.ts';
import { plainJson } from '../text/json.ts';
import type { OperationPorts, Several } from './operations/operation-ports.ts';
import { programsOf } from './programs-of.ts';
import { createFaultFinder } from './task-fault.ts';
import type { RunResources } from './run-resources.ts';
import { createRuntimes } from './runtimes.ts';
import type { Tracer } from './tracing/tracer.ts';
import { workClockOf, type SegmentClock } from './watch-run.ts';

export interface SegmentPorts extends Pick<
  Composition,
  'clock' | 'processes' | 'runtime' | 'runtimes' | 'checkRuntime' | 'redactor' | 'mailServer' | 'taskCage'
> {
  readonly host: Host;
  readonly workspaces: Workspaces;
  readonly forge: Forge;
  /** Absent: the run works on one repository. */
  readonly several?: Several | undefined;
  readonly playbook: Playbook<unknown>;
  onEvent(event: RunEvent): void;
  /** Absent: no one asked for traces. */
  readonly tracer?: Tracer | undefined;
  /** Absent: the run has no files for people. */
  readonly files?: Pick<RunFiles, 'changed'>;
  /** See `EnginePorts`. */
  beforeDelivery?(): Promise<void>;
}

export interface SegmentOf {
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly limits: Limits;
  /** The event that defined the run. */
  readonly inputRef: number;
  /** See `GraphPorts`; absent: the run waits as long as it takes. */
  readonly patienceMs?: number | undefined;
  /** See `DriveOptions`; absent: no person answers questions. */
  readonly attended?: AbortSignal | undefined;
  /** An engine drove the run before. */
  readonly resumed: boolean;
  /** Sequence number of the last event before this segment. */
  readonly since: number;
  /** Absent: no one moves or deletes its stores. */
  readonly watch?: PlaceWatch;
}

/** The parts of one engine's work on a run. */
export interface WiredRun {
  readonly graphPorts: GraphPorts;
  readonly control: SegmentControl;
  readonly supervisor: Supervisor;
  readonly operations: Operations;
  readonly workClock: SegmentClock;
  /** Reports the run's events since the last call. */
  readonly showNews: () => void;
  /** The newest board; undefined before the first step. */
  board(): Board | undefined;
}

/** Reports the events of the run since the last call. */
function newsOf(ports: SegmentPorts, ledger: Ledger, { runId, epoch }: Lease): () => void {
  const view = openRunEvents(ledger, runId, { epoch, playbooks: { [ports.playbook.name]: () => ports.playbook } });
  return () => {
    for (const event of view.look()) ports.onEvent(event);
  };
}

function warningsOf(ports: SegmentPorts, { runId }: Lease): (text: string) => void {
  return (text) => ports.onEvent({ type: 'warning', at: ports.clock.now(), runId, text });
}

/** Puts together what the graph works with. Starts nothing. */
export function wireRun(
  ports: SegmentPorts,
  resources: RunResources,
  of: Omit<SegmentOf, 'inputRef' | 'resumed'>,
): WiredRun {
  const { ledger, directory, turnLine } = resources;
  const { lease, definition, since } = of;
  const { clock, processes, workspaces, forge } = ports;
  const work = join(workspacePlaces(ports.host, directory).runsDirectory, definition.name);
  // The policy is frozen: a newer version of the playbook does not change it.
  ledger.mail.open(lease, ledger.mail.policy(lease.runId) ?? mailPolicyOf(definition, ports.playbook));
  const wakeSignal = createWakeSignal(clock);
  const workClock = workClockOf(clock, ledger.segments(lease.runId));
  const redactor = ports.redactor(letThroughBy(definition));
  const showNews = newsOf(ports, ledger, lease);
  let latest: Board | undefined;
  const turnMail = wireTurnMail(ports, resources, of, redactor);
  const folderPorts = createFolderPorts({ file: portsFile(directory, lease.runId), onTaken: warningsOf(ports, lease) });
  const { places, armory } = wireArmory(ports, resources, of, turnMail);
  // These refer to each other: a turn needs a workspace, that needs setup checks, and checks are attempts too.
  const supervisor = createSupervisor(
    {
      ledger,
      processes,
      redactor,
      runtime: createRuntimes(ports, definition),
      turnsDirectory: join(directory, 'turns'),
      prepare: startsInTime({ ledger, clock, runId: lease.runId, board: () => latest }, async (attempt, request) =>
        prepareTurn({ ...operations.ports, folderPorts, armory }, attempt, followPlaces(request, ports.host, work)),
      ),
      beforeSpawn: async (attempt, folder) => {
        await places.make(attempt.id);
        await turnMail.beforeSpawn(attempt, folder);
      },
      ...hooksOf(ports, resources, { mail: turnMail, places, folderPorts }, showNews, () => wakeSignal.raise()),
      fault: async (error) => fault(error),
      onBroken: (_attemptId, error) => control.fail(error),
    },
    lease,
  );
  const scope = attemptScope(definition.name, lease.runId);
  const checks = createChecks({ ledger, supervisor, clock, variables: definition.env }, lease, scope);
  const control = createSegmentControl({ ledger, lease, processes, clock, supervisor, checks, wakeSignal, since });
  const fault = createFaultFinder({ workspaces, definition, watch: of.watch, isLeaving: () => control.leaving() });
  const copies = createCopies(copiesFolder(directory, lease.runId), definition.copied);
  const operations = createOperations(
    { ledger, lease, definition, workspaces, checks, copies, forge, fault, ...ownPorts(ports, lease, scope) },
    clock,
    operationHooks(supervisor, control, () => wakeSignal.raise()),
  );
  const onApplied = (board: Board): void => {
    latest = board;
    showNews();
    ports.files?.changed(board);
  };
  const driven = { attempts: supervisor, operations, wakeSignal, workClock, turnLine, control, onApplied };
  const publisher = wirePublisher(ports, operations, redactor);
  const graphPorts = { ...runPorts(ports, ledger, of), ...driven, publisher };
  return { graphPorts, control, supervisor, operations, workClock, showNews, board: () => latest };
}

/** The run, as the nodes of the graph know it. */
function runPorts(
  { clock, playbook, tracer }: SegmentPorts,
  ledger: Ledger,
  of: Omit<SegmentOf, 'inputRef' | 'resumed'>,
) {
  const { lease, definition, limits, patienceMs = null } = of;
  const attended = (): boolean => of.attended?.aborted === false;
  return { clock, ledger, lease, definition, limits, playbook, patienceMs, attended, tracer };
}

function ownPorts(
  ports: SegmentPorts,
  { runId }: Lease,
  scope: string,
): Pick<OperationPorts, 'several' | 'emptyFolder' | 'pure' | 'programsOf' | 'reused' | 'warn'> {
  const said = new Set<string>();
  return {
    several: ports.several,
    emptyFolder: join(ports.host.stateDirectory, 'empty', runId),
    pure: new Set(),
    programsOf: async (command) => programsOf(ports.host, command),
    reused: ({ task, id, text }) => {
      const attempt = { attemptId: `${scope}.${id}`, task, agent: 'squad-setup' };
      ports.onEvent({ type: 'notice', at: ports.clock.now(), runId, ...attempt, text });
    },
    warn: (text) => {
      if (!said.has(text)) ports.onEvent({ type: 'warning', at: ports.clock.now(), runId, text });
      said.add(text);
    },
  };
}

function operationHooks(supervisor: Supervisor, control: SegmentControl, wake: () => void) {
  return {
    isStarting: supervisor.isStarting,
    onNoted: wake,
    onBroken: (error: unknown) => control.fail(error),
  };
}

function wireArmory(
  { host, taskCage }: SegmentPorts,
  { directory }: RunResources,
  { lease, definition }: Pick<SegmentOf, 'lease' | 'definition'>,
  mail: TurnMail,
): { readonly places: EquipmentPlaces; readonly armory: TurnArmory } {
  const places = equipmentPlaces(directory, lease.runId);
  const folders = { folder: armoryFolder(directory, lease.runId), turns: join(directory, 'turns') };
  return { places, armory: createArmory({ taskCage, host, definition, mail, placeOf: places.of, ...folders }) };
}

function wireTurnMail(
  ports: SegmentPorts,
  { directory, ledger }: RunResources,
  { lease, definition }: Pick<SegmentOf, 'lease' | 'definition'>,
  redactor: Redactor,
): TurnMail {
  return createTurnMail({
    redactor,
    words: mailWords(definition.prompts),
    clock: ports.clock,
    mailServer: (turnFile) => ports.mailServer(turnFile),
    ledger,
    lease,
    directory,
    onWarning: warningsOf(ports, lease),
  });
}

function wirePublisher(
  { beforeDelivery }: Pick<SegmentPorts, 'beforeDelivery'>,
  operations: Operations,
  redactor: Redactor,
): GraphPorts['publisher'] {
  const { ports } = operations;
  return {
    armory: () => plainJson({ agents: ports.definition.agents.map(armoryFactsOf) }),
    allocate: async () => allocateWorkspace(ports),
    publish: async (board) => {
      await Promise.all([operations.stop(), operations.endBaseline()]);
      await beforeDelivery?.();
      // The outcome quotes the answer of the remote.
      return redactor.json(await publishWork(ports, board, makesFolder(ports.definition)));
    },
  };
}

function hooksOf(
  ports: SegmentPorts,
  { ledger }: RunResources,
  own: { readonly mail: TurnMail; readonly places: EquipmentPlaces; readonly folderPorts: FolderPorts },
  showNews: () => void,
  wake: () => void,
) {
  const { mail, places, folderPorts } = own;
  return {
    onEvent: (attemptId: string, event: TurnEvent): void => {
      mail.onEvent(attemptId, event);
      ports.tracer?.turn(attemptId, event);
      const { runId = '', taskId: task = '', agent = '' } = ledger.attempt(attemptId) ?? {};
      // The turn's fields come first, so that none of them replaces the attempt's.
      ports.onEvent({ ...event, at: ports.clock.now(), runId, attemptId, task, agent });
    },
    // The clocks of what is in its prompt begin.
    onStarted: (): void => {
      showNews();
      wake();
    },
    onSettled: (attemptId: string, result: TurnResult): void => {
      mail.onSettled(attemptId, result);
      places.remove(attemptId);
      folderPorts.heard(ledger.attempt(attemptId), result);
      showNews();
      wake();
    },
  };
}
