import { join } from 'node:path';
import type { Composition, Host } from './compose.ts';
import { refuseFullAsRoot } from './model/access.ts';
import type { Attempt } from './model/attempt.ts';
import { SquadError } from './model/errors.ts';
import type { FailureKind } from './model/failure.ts';
import type { TurnEvent } from './model/turn-event.ts';
import { turnRequestSchema, type TurnRequest } from './model/turn-request.ts';
import type { TurnResult } from './model/turn-result.ts';
import type { AgentRuntime, TurnActivity } from './runtimes/port/agent-runtime.ts';
import { createSupervisor, type Supervisor } from './attempts/supervisor.ts';
import type { AttemptStart } from './attempts/start-attempt.ts';
import { uuid7 } from './substrate/clock/ids.ts';
import { createGitWorkspaces } from './substrate/git/git-workspaces.ts';
import { inspectRepository } from './substrate/git/inspect-repository.ts';
import { openRepository } from './substrate/git/repository.ts';
import { holderHere, holderName, lockWorkspace, openLedger, prepareWorkspace } from './substrate/ledger/index.ts';
import type { Lease, Ledger } from './substrate/ports/ledger.ts';
import type { RepositoryWarning } from './substrate/ports/workspaces.ts';

/** Endings that say nothing about the work: the same task is tried again, in the same session and tree. */
const TRIED_AGAIN: readonly FailureKind[] = ['lost', 'never-started', 'crashed'];

export interface SingleTurnPorts extends Composition {
  readonly host: Host;
  /** Which runtime plays the attempts that name it. */
  readonly runtimeFor: (name: string) => AgentRuntime | undefined;
  /** Variables of the environment that it is given by name: their values are written down nowhere. */
  readonly letThrough?: readonly string[];
  /** Something about the repository that does not stop the turn and that a person should know. */
  onWarning?(warning: RepositoryWarning): void;
  onEvent?(where: AttemptPlace, event: TurnEvent): void;
  onStarted?(where: AttemptPlace, how: AttemptStart): void;
}

export interface AttemptPlace {
  readonly runId: string;
  readonly attemptId: string;
}

export interface SingleTurnSpec {
  readonly runtime: string;
  readonly retries: number;
  /** The rest of the request is made here. */
  readonly request: Omit<TurnRequest, 'turnId' | 'workspace'>;
}

export interface SingleTurnEnd {
  readonly runId: string;
  readonly attemptId: string;
  readonly workspace: string;
  readonly result: TurnResult;
}

/** A turn under way; `done` resolves with its end, after the tries that its budget allows. */
export interface RunningTurn {
  readonly done: Promise<SingleTurnEnd>;
  /** What runs may finish; no further try is started. */
  drain(): void;
  cancel(reason: string): Promise<void>;
  /** No politeness: everything of the turn is killed at once. */
  kill(): Promise<void>;
  /** undefined: between two tries. */
  activity(): TurnActivity | undefined;
}

/** One task, one agent, one turn: claimed, carried and settled by the ledger's rules, in a detached worktree of its own. */
export async function startSingleTurn(
  ports: SingleTurnPorts,
  path: string,
  spec: SingleTurnSpec,
): Promise<RunningTurn> {
  refuseFullAsRoot(spec.request.access, ports.host.isRoot, 'Use `--access edit`');
  refuseUnreadable(spec);
  const repository = await inspectRepository(ports.git, path);
  for (const warning of repository.warnings) ports.onWarning?.(warning);
  const desk = openRunResources(ports, join(repository.root, '.squad'));
  return desk.guard(async () => {
    const id = uuid7(ports.clock.now());
    const name = `turn-${id.slice(-12)}`;
    const stateDirectory = join(ports.host.stateHome, 'squad');
    const workspaces = createGitWorkspaces({ ...ports.git, clock: ports.clock, stateDirectory }, repository);
    const made = await workspaces.addWorktree({ run: name, task: 'turn', commit: repository.head });
    const workspace = { ...made.workspace, gitSettings: await workspaces.agentSettings() };
    await workspaces.close();
    desk.ledger.createRun({ id, name });
    const lease = desk.ledger.acquireLease(id, holderName(ports.host.pid));
    const redactor = ports.redactor(ports.letThrough ?? []);
    const request: TurnRequest = {
      ...spec.request,
      prompt: redactor.text(spec.request.prompt),
      instructions: redactor.text(spec.request.instructions),
      turnId: `${name}-1`,
      workspace,
    };
    const seq = desk.ledger.append(id, 'turn-requested', {
      runtime: spec.runtime,
      base: repository.head,
      retries: spec.retries,
    });
    claim(desk.ledger, lease, seq, spec.runtime, request, spec.retries);
    return desk.carry(lease, request.turnId);
  });
}

/** What is stored with the attempt must be readable by whoever takes it up, or it could never be settled. */
function refuseUnreadable(spec: SingleTurnSpec): void {
  const issue = turnRequestSchema.omit({ turnId: true, workspace: true }).safeParse(spec.request).error?.issues[0];
  if (issue === undefined) return;
  throw new SquadError({
    code: 'bad-input',
    message: `the turn's request cannot be used: ${issue.path.join('.')}: ${issue.message}`,
    next: 'Change that setting.',
  });
}

/** Takes over the unsettled turn that an engine left here: the newest, or the one named. Throws when there is none. */
export async function resumeSingleTurn(ports: SingleTurnPorts, path: string, attemptId?: string): Promise<RunningTurn> {
  const repository = await openRepository(ports.git, path);
  const desk = openRunResources(ports, join(repository.root, '.squad'));
  return desk.guard(() => {
    const attempt = unfinished(desk.ledger, attemptId);
    const lease = desk.ledger.acquireLease(attempt.runId, holderName(ports.host.pid));
    return Promise.resolve(desk.carry(lease, attempt.id));
  });
}

/** An attempt without its settlement; or one whose settlement asks for another try that nobody came to claim. */
function unfinished(ledger: Ledger, attemptId: string | undefined): Attempt {
  const attempts = ledger.attempts({});
  const open = attempts.filter((attempt) => attempt.status !== 'settled' || isTriedAgain(ledger, attempt));
  const attempt = attemptId === undefined ? open.at(-1) : open.find(({ id }) => id === attemptId);
  if (attempt !== undefined) return attempt;
  throw new SquadError({
    code: 'unknown-attempt',
    message:
      attemptId === undefined
        ? 'no turn of this repository is unfinished'
        : `no unfinished turn is called ${attemptId}`,
    next: 'Run `squad log` to see what happened here.',
  });
}

/** Within its budget, and its next try was not claimed yet. */
function isTriedAgain(ledger: Ledger, attempt: Attempt): boolean {
  const failure = ledger.settlement(attempt.id)?.result.failure;
  return (
    failure !== undefined &&
    TRIED_AGAIN.includes(failure.kind) &&
    attempt.number <= retriesOf(ledger, attempt.runId) &&
    ledger.attempt(nextAttemptId(attempt)) === undefined
  );
}

function nextAttemptId(attempt: Attempt): string {
  return `${attempt.id.replace(/-\d+$/, '')}-${attempt.number + 1}`;
}

function claim(
  ledger: Ledger,
  lease: Lease,
  seq: number,
  runtime: string,
  request: TurnRequest,
  retries: number,
): void {
  const cursor = ledger.run(lease.runId)?.applied ?? 0;
  const sessionKey = request.session === undefined ? {} : { sessionKey: `${runtime}:${request.session.id}` };
  const attempt = {
    id: request.turnId,
    taskId: 'turn',
    kind: 'turn' as const,
    agent: runtime,
    runtime,
    ...sessionKey,
    request: JSON.stringify(request),
  };
  const driver = `single-turn-${request.turnId}`;
  const decisions = [{ do: 'claim-attempt' as const, attempt, limits: { retries } }];
  const answer = ledger.apply({ lease, cursor, seq, driver, decisions });
  const refused = answer.claims.find((item) => !item.claimed);
  if (refused?.claimed === false) {
    throw new SquadError({ code: 'bad-input', message: `the ledger refused the turn: ${refused.reason}` });
  }
}

/** The open ledger of a repository, under its lock, until the turn is over. */
function openRunResources(ports: SingleTurnPorts, directory: string) {
  prepareWorkspace(directory);
  const lock = lockWorkspace(directory, holderHere(ports.host.pid, ports.clock.now()));
  let ledger: Ledger;
  try {
    ledger = openLedger(directory, { clock: ports.clock, lock, redactor: ports.redactor.bind(ports) });
  } catch (error) {
    lock.release();
    throw error;
  }
  const close = (): void => {
    ledger.close();
    lock.release();
  };
  const carry = (lease: Lease, first: string): RunningTurn => {
    let live = first;
    let draining = false;
    const { runId } = lease;
    const supervisor = createSupervisor(
      {
        ledger,
        processes: ports.processes,
        redactor: ports.redactor(ports.letThrough ?? []),
        runtime: ports.runtimeFor,
        turnsDirectory: join(directory, 'turns'),
        onEvent: (attemptId, event) => ports.onEvent?.({ runId, attemptId }, event),
        onStarted: (attemptId, how) => ports.onStarted?.({ runId, attemptId }, how),
      },
      lease,
    );
    const done = carryToEnd(ledger, supervisor, lease, first, (id) => {
      live = id;
      return !draining;
    }).finally(close);
    return {
      done,
      drain: () => {
        draining = true;
      },
      cancel: async (reason) => {
        draining = true;
        await supervisor.cancel(live, reason);
      },
      kill: async () => {
        draining = true;
        await ports.processes.sweep(live);
      },
      activity: () => supervisor.activity(live),
    };
  };
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      close();
      throw error;
    }
  };
  return { ledger, carry, guard };
}

async function carryToEnd(
  ledger: Ledger,
  supervisor: Supervisor,
  lease: Lease,
  first: string,
  mayGoOn: (attemptId: string) => boolean,
): Promise<SingleTurnEnd> {
  for (let attemptId = first; ;) {
    supervisor.ensure(attemptId);
    await supervisor.settled(attemptId);
    const attempt = ledger.attempt(attemptId);
    const settlement = ledger.settlement(attemptId);
    if (attempt === undefined || settlement === undefined) throw new Error(`${attemptId} has no settlement`);
    const request = turnRequestSchema.parse(JSON.parse(attempt.request));
    const end = { runId: lease.runId, attemptId, workspace: request.workspace.path, result: settlement.result };
    const next = nextAttemptId(attempt);
    if (!isTriedAgain(ledger, attempt) || !mayGoOn(next)) {
      ledger.releaseLease(lease);
      return end;
    }
    const same = settlement.result.session ?? request.session;
    const retry: TurnRequest = { ...request, turnId: next, ...(same === undefined ? {} : { session: same }) };
    claim(ledger, lease, settlement.seq, attempt.runtime, retry, retriesOf(ledger, lease.runId));
    attemptId = next;
  }
}

function retriesOf(ledger: Ledger, runId: string): number {
  const requested = ledger.events({ stream: runId }).find((event) => event.type === 'turn-requested');
  const data = requested?.data;
  return typeof data === 'object' && data !== null && !Array.isArray(data) && typeof data['retries'] === 'number'
    ? data['retries']
    : 0;
}
