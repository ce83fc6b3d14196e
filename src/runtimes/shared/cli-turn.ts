import { errorText, isSquadError, type SquadError } from '../../model/errors.ts';
import type { Failure } from '../../model/failure.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import { diskError, isStorageError, storageError } from '../../model/storage-error.ts';
import { type TurnRequest, turnRequestSchema } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import type { WaitingTurn } from '../../substrate/ports/processes.ts';
import {
  type AgentRuntime,
  type AttachContext,
  PORT_VERSION,
  type Turn,
  type TurnContext,
} from '../port/agent-runtime.ts';
import { defined } from '../../text/defined.ts';
import { type CliAdapter, type CliCommand, type Refusal, refuse } from './cli-adapter.ts';
import { conclude, type Concluding } from './conclude-turn.ts';
import { readLaunch, writeLaunchFiles } from './launch-files.ts';
import { resultWithoutProcess, schemaProblem } from './turn-verdict.ts';
import { type TurnWatch, type WatchPorts, watchTurn } from './turn-watch.ts';

/** Makes a runtime of a command-line adapter: it owns the process, the watchdogs and the one result. */
export function createCliRuntime<Facts, State>(adapter: CliAdapter<Facts, State>, ports: WatchPorts): AgentRuntime {
  return {
    portVersion: PORT_VERSION,
    name: adapter.name,
    ...defined({ description: adapter.description }),
    probe: () => adapter.probe(),
    refusal: async (request) => {
      const command = await prepare(adapter, request, NO_TURN);
      return command.type === 'refusal' ? command.failure : undefined;
    },
    start: (request, context) => startTurn(adapter, ports, request, context),
    attach: (request, context) => attachTurn(adapter, ports, request, context),
  };
}

/** Stands for a turn's folder in a command that is never run. */
const NO_TURN = '/turn';

function startTurn<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  request: TurnRequest,
  context: TurnContext,
): Turn {
  return liveTurn(ports, context.directory, async (control) => {
    const command = await prepare(adapter, request, context.directory);
    if (command.type === 'refusal') return resultWithoutProcess('refused', command.failure);
    const startedAt = { at: ports.clock.now(), monotonic: ports.clock.monotonic() };
    await writeLaunchFiles(command, context.directory);
    failpoint('turn.files-written');
    const held = await spawnHeld(ports, request, command, context.directory);
    const { identity } = held;
    try {
      await context.onSpawned(identity, startedAt.at);
    } catch (error) {
      await held.abandon();
      if (isStorageError(error)) throw error;
      const message = `the agent never ran: its identity was not committed: ${errorText(error)}`;
      return resultWithoutProcess('failed', { kind: 'never-started', message, mayHaveActed: false });
    }
    const cancelled = control.cancelled();
    if (cancelled !== undefined) {
      await held.abandon();
      return resultWithoutProcess('cancelled', { ...cancelled, mayHaveActed: false });
    }
    control.release(request.turnId);
    await held.go();
    const turn = { request, context, identity, home: command.home, startedAt, seenFromStart: true, seenAlive: true };
    return follow(adapter, ports, control, turn);
  });
}

function spawnHeld(
  ports: WatchPorts,
  { turnId, workspace, limits }: TurnRequest,
  command: CliCommand,
  directory: string,
): Promise<WaitingTurn> {
  return ports.processes.spawnTurn({
    directory,
    command: command.binary,
    args: command.args,
    cwd: workspace.path,
    env: command.env,
    marker: turnId,
    stdin: command.stdin,
    wallMs: limits.wallMs,
    maxOutputBytes: limits.maxOutputBytes,
    ...(command.keepsUser === true ? { keepsUser: true } : {}),
  });
}

function attachTurn<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  request: TurnRequest,
  context: AttachContext,
): Turn {
  return liveTurn(ports, context.directory, async (control) => {
    const { directory, identity, spawnedAt } = context;
    control.release(request.turnId);
    const home = (await readLaunch(directory))?.home;
    const seenAlive = await ports.processes.isAlive(identity);
    // Only of a process that is gone, whose limits do not matter any more, the time of day has to say how long it ran.
    const ranMs = (await ports.processes.ageMs(identity)) ?? Math.max(0, ports.clock.now() - spawnedAt);
    const startedAt = { at: spawnedAt, monotonic: ports.clock.monotonic() - ranMs };
    const turn = { request, context, identity, home, startedAt, seenFromStart: false, seenAlive };
    return follow(adapter, ports, control, turn);
  });
}

/** Follows a released process to its result. undefined: detached before that. */
async function follow<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  control: TurnControl,
  turn: Omit<Concluding<State>, 'watch' | 'end'> & { readonly identity: ProcessIdentity },
): Promise<TurnResult | undefined> {
  const { request, context, identity, startedAt } = turn;
  const watched = { request, directory: context.directory, identity, startedAt };
  const watch = watchTurn(adapter, ports, watched, (event) => context.onEvent?.(event));
  control.watching(watch);
  const end = await watch.ended;
  return end && conclude(adapter, ports, { ...turn, watch, end });
}

async function prepare<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  request: TurnRequest,
  directory: string,
): Promise<CliCommand | Refusal> {
  const issue = turnRequestSchema.safeParse(request).error?.issues[0];
  if (issue !== undefined) {
    return refuse('bad-request', issue.path.join('.'), `the request breaks the port's rules: ${issue.message}`);
  }
  const problem = request.outputSchema === undefined ? undefined : schemaProblem(request.outputSchema);
  if (problem !== undefined) {
    return refuse('bad-request', 'outputSchema', `the output schema cannot be checked: ${problem}`);
  }
  return adapter.command(request, await adapter.lookUp(request, directory));
}

interface TurnControl {
  watching(watch: TurnWatch<unknown>): void;
  /** From now on an agent may run. The marker identifies its processes. */
  release(marker: string): void;
  cancelled(): Failure | undefined;
}

/** The caller's handle, which exists before the process does. `work` resolves with undefined if it was detached. */
function liveTurn(
  ports: WatchPorts,
  directory: string,
  work: (control: TurnControl) => Promise<TurnResult | undefined>,
): Turn {
  let watch: TurnWatch<unknown> | undefined;
  let cancelled: Failure | undefined;
  let detached = false;
  let marker: string | undefined;
  const bornAt = ports.clock.now();
  const end = async (): Promise<void> => {
    if (watch === undefined || cancelled === undefined) return;
    // If this fails, so does the turn, and its failure sweeps what is left.
    await watch.endBy({ why: 'failure', outcome: 'cancelled', failure: cancelled }).catch(() => undefined);
  };
  const control: TurnControl = {
    watching: (started) => {
      watch = started;
      if (detached) watch.detach();
      else void end();
    },
    release: (own) => {
      marker = own;
    },
    cancelled: () => cancelled,
  };
  const finished = work(control).catch(async (error: unknown) => {
    if (detached) return undefined;
    const disk = diskTrouble(error, directory);
    // The process keeps running: its work is paid for, and an engine whose disk works again attaches to it.
    if (disk !== undefined) throw disk;
    // A turn settles only when none of its processes is alive.
    if (marker !== undefined) await ports.processes.sweep(marker).catch(() => undefined);
    return resultWithoutProcess('failed', unexpected(error, marker !== undefined));
  });
  const result = new Promise<TurnResult>((resolve, reject) => {
    finished.then((value) => value !== undefined && resolve(value), reject);
  });
  // Prevents an unhandled rejection when no caller waits.
  result.catch(() => undefined);
  return {
    result,
    cancel: async (reason) => {
      cancelled ??= { kind: 'cancelled', message: reason, mayHaveActed: true };
      await end();
      return result;
    },
    detach: async () => {
      detached = true;
      watch?.detach();
      await finished.catch(() => undefined);
    },
    activity: () => watch?.activity() ?? { lastSignOfLifeAt: bornAt, openTools: 0 },
  };
}

/** The error if the disk is full or refuses the turn's own folder; undefined: the error has another cause. */
function diskTrouble(error: unknown, directory: string): SquadError | undefined {
  const own = error instanceof Error && 'path' in error && String(error.path).startsWith(`${directory}/`);
  // A missing or forbidden file elsewhere is a problem of a program or a setting.
  const found = own ? storageError(String(error.path), error) : diskError(directory, error);
  return isStorageError(found) ? found : undefined;
}

function unexpected(error: unknown, mayHaveActed: boolean): Failure {
  if (isSquadError(error)) {
    return { kind: error.code === 'bad-input' ? 'bad-request' : 'cli-missing', message: error.message, mayHaveActed };
  }
  return { kind: 'protocol', message: `squad failed to drive the runtime: ${errorText(error)}`, mayHaveActed };
}
