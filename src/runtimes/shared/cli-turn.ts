import { errorText } from '../../model/errors.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import { isStorageError } from '../../model/storage-error.ts';
import { turnRequestSchema, type TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import { failpoint } from '../../substrate/failpoint.ts';
import type { HeldTurn } from '../../substrate/ports/processes.ts';
import {
  PORT_VERSION,
  type AgentRuntime,
  type AttachContext,
  type Turn,
  type TurnContext,
} from '../port/agent-runtime.ts';
import { refuse, type CliAdapter, type CliCommand, type Refusal } from './cli-adapter.ts';
import { conclude, type Concluding } from './conclude-turn.ts';
import { readLaunch, writeLaunchFiles } from './launch-files.ts';
import { liveTurn, type TurnControl } from './live-turn.ts';
import { resultWithoutProcess, schemaProblem } from './turn-verdict.ts';
import { watchTurn, type WatchPorts } from './turn-watch.ts';

/** Makes a runtime of a command-line adapter: it owns the process, the watchdogs and the one result. */
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
    await writeLaunchFiles(command, context.directory);
    failpoint('turn.files-written');
    const held = await spawnHeld(ports, request, command, context.directory, startedAt.at);
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
  startedAt: number,
): Promise<HeldTurn> {
  return ports.processes.spawnTurn({
    directory,
    command: command.binary,
    args: command.args,
    cwd: workspace.path,
    env: command.env,
    marker: turnId,
    stdin: command.stdin,
    deadline: startedAt + limits.wallMs,
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
    // No record says how long it ran, so this trusts the wall clock, unless that was set back since.
    const ranMs = Math.max(0, ports.clock.now() - spawnedAt);
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
