import { errorText } from '../../model/errors.ts';
import type { Failure } from '../../model/failure.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import { isStorageError } from '../../model/storage-error.ts';
import { turnRequestSchema, type TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import {
  PORT_VERSION,
  type AgentRuntime,
  type AttachContext,
  type Turn,
  type TurnContext,
} from '../port/agent-runtime.ts';
import type { CliAdapter, CliCommand } from './cli-adapter.ts';
import { conclude, type Concluding } from './conclude-turn.ts';
import { readLaunch, writeLaunchFiles } from './launch-files.ts';
import { liveTurn, type TurnControl } from './live-turn.ts';
import { schemaProblem, resultWithoutProcess } from './turn-verdict.ts';
import { watchTurn, type WatchPorts } from './turn-watch.ts';
import { failpoint } from '../../substrate/failpoint.ts';

/** Turns a command-line adapter into a runtime: it owns the process, the watchdogs and the one result. */
export function createCliRuntime<Facts, State>(adapter: CliAdapter<Facts, State>, ports: WatchPorts): AgentRuntime {
  return {
    portVersion: PORT_VERSION,
    name: adapter.name,
    probe: () => adapter.probe(),
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
      ...(command.keepsUser === true ? { keepsUser: true } : {}),
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

function neverStarted(why: string): Failure {
  return { kind: 'never-started', message: `the agent never ran: ${why}`, mayHaveActed: false };
}
