import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, isSquadError, type SquadError } from '../../model/errors.ts';
import { diskError, isStorageError, storageError } from '../../model/storage-error.ts';
import type { Failure } from '../../model/failure.ts';
import { turnRequestSchema, type TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { failpoint } from '../../substrate/failpoint.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { TurnEnding } from '../../substrate/ports/processes.ts';
import {
  PORT_VERSION,
  type AgentRuntime,
  type AttachContext,
  type Turn,
  type TurnContext,
} from '../port/agent-runtime.ts';
import type { CliAdapter, CliCommand } from './cli-adapter.ts';
import { readLaunch, removeSecrets, writeLaunchFiles } from './launch-files.ts';
import { schemaProblem } from './output-check.ts';
import { resultOf, resultWithoutProcess } from './turn-verdict.ts';
import { checkUsage } from './usage-check.ts';
import { watchTurn, type Started, type TurnWatch, type WatchedEnd, type WatchPorts } from './turn-watch.ts';
import type { HostEnding } from './watchdog.ts';

const STDERR_FOR_VERDICT = 16 * 1024;
const STDERR_FOR_PEOPLE = 4 * 1024;

/** Turns a command-line adapter into a runtime: it owns the process, the watchdogs and the one result. */
export function createCliRuntime<Facts, State>(adapter: CliAdapter<Facts, State>, ports: WatchPorts): AgentRuntime {
  return {
    portVersion: PORT_VERSION,
    name: adapter.name,
    probe: () => adapter.probe(),
    dispose: (session) => adapter.dispose(session),
    start: (request, context) => startTurn(adapter, ports, request, context),
    attach: (request, context) => attachTurn(adapter, ports, request, context),
  };
}

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
    const deadline = startedAt.at + request.limits.wallMs;
    await writeLaunchFiles(command, context.directory);
    failpoint('turn.files-written');
    const held = await ports.processes.spawnTurn({
      directory: context.directory,
      command: command.binary,
      args: command.args,
      cwd: request.workspace.path,
      env: command.env,
      marker: request.turnId,
      stdin: command.stdin,
      deadline,
      maxOutputBytes: request.limits.maxOutputBytes,
    });
    try {
      await context.onSpawned(held.identity, startedAt.at);
    } catch (error) {
      await held.abandon();
      if (isStorageError(error)) throw error;
      return resultWithoutProcess('failed', neverStarted(`its identity was not committed: ${errorText(error)}`));
    }
    const early = control.cancelled();
    if (early !== undefined) {
      await held.abandon();
      return resultWithoutProcess('cancelled', { ...early, mayHaveActed: false });
    }
    control.letGo(request.turnId);
    await held.go();
    const { identity } = held;
    return follow(adapter, ports, control, {
      request,
      context,
      identity,
      home: command.home,
      startedAt,
      seenFromStart: true,
      seenAlive: true,
    });
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
    control.letGo(request.turnId);
    const home = (await readLaunch(directory))?.home;
    const seenAlive = await ports.processes.isAlive(identity);
    // For how long another engine saw it run is not on record: the wall clock says it, unless that was set back since.
    const ranMs = Math.max(0, ports.clock.now() - spawnedAt);
    const startedAt = { at: spawnedAt, monotonic: ports.clock.monotonic() - ranMs };
    const turn = { request, context, identity, home, startedAt, seenFromStart: false, seenAlive };
    return follow(adapter, ports, control, turn);
  });
}

/** From a process that was let go to its result. undefined: detached before that. */
async function follow<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  control: TurnControl,
  turn: Omit<Concluding<State>, 'watch' | 'end'> & { readonly identity: ProcessIdentity },
): Promise<TurnResult | undefined> {
  const { request, context, identity, startedAt } = turn;
  const watch = watchTurn(adapter, ports, { request, directory: context.directory, identity, startedAt }, (event) =>
    context.onEvent?.(event),
  );
  control.watching(watch);
  const end = await watch.ended;
  return end && conclude(adapter, ports, { ...turn, watch, end });
}

async function prepare<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  request: TurnRequest,
  directory: string,
): Promise<CliCommand | { type: 'refusal'; failure: Failure }> {
  const refuse = (setting: string, message: string): { type: 'refusal'; failure: Failure } => ({
    type: 'refusal',
    failure: { kind: 'bad-request', setting, message, mayHaveActed: false },
  });
  const issue = turnRequestSchema.safeParse(request).error?.issues[0];
  if (issue !== undefined) return refuse(issue.path.join('.'), `the request breaks the port's rules: ${issue.message}`);
  const problem = request.outputSchema === undefined ? undefined : schemaProblem(request.outputSchema);
  if (problem !== undefined) return refuse('outputSchema', `the output schema cannot be checked: ${problem}`);
  return adapter.command(request, await adapter.lookUp(request, directory));
}

interface Concluding<State> {
  readonly request: TurnRequest;
  readonly context: Pick<TurnContext, 'directory' | 'onEvent'>;
  readonly home: string | undefined;
  readonly startedAt: Started;
  /** By this engine, to its end: how long it ran is measured, not reckoned. */
  readonly seenFromStart: boolean;
  readonly watch: TurnWatch<State>;
  readonly end: WatchedEnd<State>;
  readonly seenAlive: boolean;
}

async function conclude<Facts, State>(
  adapter: CliAdapter<Facts, State>,
  ports: WatchPorts,
  turn: Concluding<State>,
): Promise<TurnResult> {
  failpoint('turn.ended');
  await removeSecrets(turn.context.directory);
  const { end, watch } = turn;
  const stderr = await readTail(join(turn.context.directory, 'stderr'), STDERR_FOR_VERDICT);
  const terminal = adapter.isTerminal(end.state);
  const hostEnding = watch.hostEnding();
  const now = ports.clock.now();
  const endedAt = Math.min(now, (await readEndedAt(turn.context.directory)) ?? now);
  const concluded = adapter.conclude(end.state, {
    ending: terminal ? lastWordOf(end.ending, hostEnding) : end.ending,
    stderr,
    endedByHost: hostEnding?.why === 'failure',
    now: endedAt,
  });
  const verdict = checkUsage(concluded, (text) => turn.context.onEvent?.({ type: 'notice', at: now, text }));
  return resultOf({
    runtime: adapter.name,
    request: turn.request,
    home: turn.home,
    verdict,
    ending: end.ending,
    hostEnding,
    terminal,
    acted: end.pulse.acted,
    neverSeenAlive: !turn.seenAlive,
    survivors: watch.survivors(),
    stderrTail: stderr.slice(-STDERR_FOR_PEOPLE),
    startedAt: turn.startedAt.at,
    durationMs: turn.seenFromStart
      ? Math.round(ports.clock.monotonic() - turn.startedAt.monotonic)
      : Math.max(0, endedAt - turn.startedAt.at),
  });
}

/**
 * A runtime that has said its last word is judged by that word alone when it was not the runtime that ended its process:
 * a host that ended a hanging process, a kernel that ran out of memory, or a machine that went down must not turn a
 * finished turn into a failed one.
 */
function lastWordOf(ending: TurnEnding, hostEnding: HostEnding | undefined): TurnEnding {
  const byOthers =
    hostEnding !== undefined ||
    ending.type === 'vanished' ||
    (ending.type === 'exited' && (ending.endedBy !== undefined || ending.signal === 'SIGKILL'));
  return byOthers ? { type: 'exited', code: 0, signal: null } : ending;
}

interface TurnControl {
  watching(watch: TurnWatch<unknown>): void;
  /** From here on an agent may run, known by this marker. */
  letGo(marker: string): void;
  cancelled(): Failure | undefined;
}

/** The caller's handle, which exists before the process does. `work` resolves to undefined when it was detached. */
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
    // What cannot be ended like this is swept when the turn fails of the same trouble.
    await watch.endBy({ why: 'failure', outcome: 'cancelled', failure: cancelled }).catch(() => undefined);
  };
  const control: TurnControl = {
    watching: (started) => {
      watch = started;
      if (detached) watch.detach();
      else void end();
    },
    letGo: (own) => {
      marker = own;
    },
    cancelled: () => cancelled,
  };
  const finished = work(control).catch(async (error: unknown) => {
    if (detached) return undefined;
    const machine = diskTrouble(error, directory);
    // Whatever runs is left to run: it is paid for, and an engine that has a disk again takes it up.
    if (machine !== undefined) throw machine;
    const failure = unexpected(error, marker !== undefined);
    // Whatever broke here: a turn settles only when nothing of it is alive.
    if (marker !== undefined) await ports.processes.sweep(marker).catch(() => undefined);
    return resultWithoutProcess('failed', failure);
  });
  const result = new Promise<TurnResult>((resolve, reject) => {
    finished.then((value) => value !== undefined && resolve(value), reject);
  });
  // Whoever waits for it is told; nobody may.
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

/** A disk that takes nothing more, or refuses the turn's own folder; undefined: something else. */
function diskTrouble(error: unknown, directory: string): SquadError | undefined {
  const own = error instanceof Error && 'path' in error && String(error.path).startsWith(`${directory}/`);
  // What is missing or forbidden elsewhere is a program or a setting.
  const found = own ? storageError(String(error.path), error) : diskError(directory, error);
  return isStorageError(found) ? found : undefined;
}

function neverStarted(why: string): Failure {
  return { kind: 'never-started', message: `the agent never ran: ${why}`, mayHaveActed: false };
}

function unexpected(error: unknown, mayHaveActed: boolean): Failure {
  if (isSquadError(error)) {
    return { kind: error.code === 'bad-input' ? 'bad-request' : 'cli-missing', message: error.message, mayHaveActed };
  }
  return { kind: 'protocol', message: `squad failed to drive the runtime: ${errorText(error)}`, mayHaveActed };
}

/** When the wrapper wrote the exit status, which may be hours before an engine harvests it. undefined: it never did. */
async function readEndedAt(directory: string): Promise<number | undefined> {
  const found = await stat(join(directory, 'exit')).catch(() => undefined);
  return found === undefined ? undefined : Math.floor(found.mtimeMs);
}

/** Empty when the process never came to write it. */
async function readTail(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, bytes));
    await file.read(buffer, 0, buffer.length, Math.max(0, size - bytes));
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}
