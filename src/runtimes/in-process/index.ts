import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuntimeDescription } from '../../model/runtime-description.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import type { AgentRuntime, Turn, TurnContext } from '../port/agent-runtime.ts';
import { signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { createCliRuntime } from '../shared/cli-turn.ts';
import { readNotes } from '../shared/repository-notes.ts';
import { chosenSessionId } from '../shared/session.ts';
import type { InProcessAgent } from './agent.ts';
import { command, environmentOf, promptOf, type InProcessFacts } from './command.ts';
import { createStandInServer } from './stand-in-server.ts';
import { drive, type DrivenTurn } from './drive.ts';
import { begin, conclude, translate, type InProcessState } from './translate.ts';

const STAND_IN = fileURLToPath(new URL('./stand-in.mjs', import.meta.url));
/** Keeps the stand-in small. */
const STAND_IN_FLAGS = ['--max-semi-space-size=1', '--optimize-for-size'];

/** How long an agent may work on once its turn has been ended: then it is taken for one that does not stop. */
const STOPS_MS = 2000;

/** An agent of the application, and what squad has to know of it. */
export interface InProcessOptions {
  readonly agent: InProcessAgent;
  /** Whether the agent has a session of this id. Absent: it keeps none, and each turn begins anew. */
  readonly hasThread?: ((threadId: string) => boolean | Promise<boolean>) | undefined;
  /** The agent takes a model by its name. */
  readonly takesModel?: boolean | undefined;
  /** The reported use includes the cost in USD. */
  readonly reportsCost?: boolean | undefined;
}

export interface InProcessPorts {
  readonly processes: Processes;
  readonly clock: Clock;
  readonly node: string;
}

/** Agents of turns that have not ended, by the turn. They are the same for each engine of this process. */
const working = new Map<string, Promise<void>>();

/**
 * The agent works in this process. For each turn a small process stands for it: whatever ends that one (a cancel, a limit, the next engine)
 * aborts the agent's signal. It ends with this process, and the turn is then lost.
 */
export function createInProcessRuntime(
  name: string,
  options: InProcessOptions,
  settings: RuntimeSettings,
  ports: InProcessPorts,
): AgentRuntime {
  const without = createCliRuntime(adapterOf(name, options, settings, ports, undefined), ports);
  return {
    ...without,
    start: (request, context) => start(name, options, settings, ports, request, context),
    attach: (request, context) => stopped(without.attach(request, context), request),
  };
}

function start(
  name: string,
  options: InProcessOptions,
  settings: RuntimeSettings,
  ports: InProcessPorts,
  request: TurnRequest,
  context: TurnContext,
): Turn {
  const { turnId, session } = request;
  const { agent, hasThread } = options;
  let notes: InProcessFacts['notes'] = [];
  const server = createStandInServer((standIn) => {
    const turn: DrivenTurn = {
      ...{ request, agent, hasThread, threadId: session?.id ?? chosenSessionId(name, turnId) },
      prompt: promptOf(request, notes),
      environment: { ...environmentOf(request, settings), SQUAD_TURN_ID: turnId },
    };
    const work = drive(turn, standIn).finally(() => working.delete(turnId));
    working.set(turnId, work);
  });
  const looked: LookUp = async () => {
    notes = session === undefined ? await readNotes(request.workspace.path) : [];
    return { server: await server.open(), notes };
  };
  const runtime = createCliRuntime(adapterOf(name, options, settings, ports, looked), ports);
  const turn = runtime.start(request, context);
  turn.result.finally(() => server.close()).catch(() => undefined);
  return stopped(turn, request);
}

type LookUp = () => Promise<Pick<InProcessFacts, 'server' | 'notes'>>;

function adapterOf(
  name: string,
  { takesModel = false, reportsCost = false }: InProcessOptions,
  settings: RuntimeSettings,
  { node }: InProcessPorts,
  lookUp: LookUp = () => Promise.resolve({ server: { port: 0, token: '' }, notes: [] }),
): CliAdapter<InProcessFacts, InProcessState> {
  const description: RuntimeDescription = { onlyByName: true, reportsCost, inApplication: true };
  const standIn: InProcessFacts['standIn'] = [node, ...STAND_IN_FLAGS, STAND_IN];
  return {
    ...{ name, description, command, translate, conclude },
    lookUp: async (_request, directory) => ({ name, directory, settings, standIn, takesModel, ...(await lookUp()) }),
    begin: (request) => begin(name, request),
    isTerminal: ({ end }) => end !== undefined,
    // The application hears of SIGTERM and aborts its agent; the stand-in ends once the agent has stopped.
    ladder: signals(4000, 'SIGTERM', 'SIGKILL'),
    probe: () =>
      Promise.resolve({
        ...{ ok: true, binary: node, login: 'ok' as const, sandbox: 'none' as const, problems: [] },
      }),
  };
}

/** The turn of an agent of this process is not over before the agent has stopped. */
function stopped(turn: Turn, request: TurnRequest): Turn {
  const result = ended(turn.result, request);
  result.catch(() => undefined);
  return {
    ...turn,
    result,
    cancel: async (reason) => {
      await turn.cancel(reason);
      return result;
    },
  };
}

async function ended(turn: Promise<TurnResult>, { turnId, workspace }: TurnRequest): Promise<TurnResult> {
  const result = await turn;
  const late = new AbortController();
  const wait = sleep(STOPS_MS, true, { signal: late.signal }).catch(() => false);
  const isWorking = await Promise.race([wait, Promise.resolve(working.get(turnId)).then(() => false)]);
  late.abort();
  if (!isWorking) return result;
  const message = `the agent does not stop although its signal is aborted, and may still change ${workspace.path}`;
  const { structured: _, ...rest } = result;
  return { ...rest, outcome: 'failed', failure: { kind: 'not-stopped', message, mayHaveActed: true } };
}
