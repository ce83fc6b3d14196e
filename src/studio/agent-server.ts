import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import { Server } from 'node:http';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { SquadError, wrongEnvironment } from '../model/errors.ts';
import { withVariables } from '../squad/machine.ts';
import { addLine, findInstall, manifestIn } from '../substrate/system/installed.ts';
import { plainLine } from '../text/plain-text.ts';
import { type Decide, keepDoor } from './front-door.ts';
import { ownRoutes, type RoutedView } from './own-routes.ts';
import { GRAPH } from './server-list.ts';

const PACKAGE = '@langchain/langgraph-api';

export interface AgentServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface ServerOptions {
  /** Its files. It is the only one that writes there. */
  readonly folder: string;
  readonly port: number;
  readonly graph: RoutedView;
  readonly decide: Decide;
  /** Pages that may read its answers. */
  readonly origins: readonly string[];
  /** A line about what went wrong in the server. */
  readonly onProblem: (line: string) => void;
}

/** Where the module below finds what it exports: the server takes graphs and routes from files only. */
const HANDED = Symbol.for('agentsquad.studio');
const HANDED_FILE = `export const { graph, routes } = globalThis[Symbol.for('agentsquad.studio')];\n`;
/** Runs that it streams at once; others wait for their turn. */
const WORKERS = 10;

/**
 * Starts LangGraph's Agent Server in this process, on loopback. It never stops looking for work: only the end of the process ends
 * it all. Throws `wrong-environment` where the package is missing and `port-busy` where another program has the port.
 */
export async function startAgentServer(options: ServerOptions): Promise<AgentServer> {
  const { folder, graph, decide, onProblem, port } = options;
  const { startServer } = await load();
  await writeFile(join(folder, 'handed.mjs'), HANDED_FILE);
  Object.assign(globalThis, { [HANDED]: { graph, routes: ownRoutes(() => Promise.resolve(graph)) } });
  const door = keepDoorOf(port, decide);
  try {
    const { cleanup } = await startServer({
      ...{ port, host: '127.0.0.1', cwd: folder, nWorkers: WORKERS },
      graphs: { [GRAPH]: 'handed.mjs:graph' },
      http: {
        app: 'handed.mjs:routes',
        ...{ disable_assistants: false, disable_threads: false, disable_runs: false, disable_meta: false },
        // A store for memories, which no run of squad reads.
        disable_store: true,
        cors: { allow_origins: [...options.origins], expose_headers: ['content-location', 'x-pagination-total'] },
      },
    });
    const address = door.server()?.address();
    if (typeof address !== 'object' || address === null) {
      await cleanup();
      throw new Error('the server listens, and squad cannot keep its door');
    }
    await quieten(onProblem);
    return { port: address.port, close: cleanup };
  } catch (error) {
    throw portError(error, port);
  } finally {
    door.stop();
  }
}

/** The server opens its port itself. It is guarded in the moment before that. */
function keepDoorOf(port: number, decide: Decide) {
  let found: Server | undefined;
  const onListen = (message: unknown): void => {
    const { server, options } = message as { server: unknown; options: { port?: unknown } };
    if (!(server instanceof Server) || Number(options.port) !== port) return;
    keepDoor(server, decide, 'squad studio');
    found = server;
  };
  const channel = 'tracing:net.server.listen:asyncStart';
  subscribe(channel, onListen);
  return { server: () => found, stop: () => void unsubscribe(channel, onListen) };
}

async function load() {
  const expected = manifestIn().peerDependencies?.[PACKAGE] ?? '';
  const missing = (why: string) => wrongEnvironment(why, `Run ${installLine(expected)}.`);
  let found: string | undefined;
  try {
    found = manifestIn(dirname(findPackageJSON(PACKAGE, import.meta.url) ?? '')).version;
  } catch {
    throw missing(`squad studio needs ${PACKAGE}@${expected}, which is not installed beside squad`);
  }
  if (found !== expected) throw missing(`squad studio needs ${PACKAGE}@${expected}, and ${found} is installed`);
  try {
    // It reads its settings while it loads, and prints every request otherwise.
    return await withVariables(
      { LOG_LEVEL: 'error', LOG_JSON: 'true' },
      async () => import('@langchain/langgraph-api/server'),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw missing(
      `${PACKAGE} is installed without a package that it needs: ${plainLine((error as Error).message, 200)}`,
    );
  }
}

/**
 * `peerDependencies`: the version of the server that squad's own package.json asks for; `version`: the package's own.
 */
function portError(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const next = `Take another: \`squad studio --port ${port + 1}\`.`;
    return new SquadError({
      code: 'port-busy',
      message: `another program listens on port ${port}`,
      next,
      cause: error,
    });
  }
  if (code === 'EACCES')
    return wrongEnvironment(`only root may listen on port ${port}`, 'Take one above 1023: `squad studio`.');
  return error;
}

/** The SDK calls a server in the same process through this global, without a socket. */
const INSIDE = Symbol.for('langgraph_api:fetch');

function inside(): typeof fetch {
  return (globalThis as unknown as { [INSIDE]: typeof fetch })[INSIDE];
}

interface Logger {
  readonly transports: readonly { silent?: boolean }[];
  on(event: 'data', listener: (info: { level?: unknown; message?: unknown }) => void): void;
}

const LOGGER = Symbol.for('langgraph.api.sdk-logger');

/** Its log prints to the standard output, with what clients sent. */
async function quieten(onProblem: ServerOptions['onProblem']): Promise<void> {
  const { [LOGGER]: logger } = globalThis as unknown as { [LOGGER]: Logger };
  for (const transport of logger.transports) transport.silent = true;
  logger.on('data', ({ level, message }) => {
    if (level === 'error') onProblem(plainLine(String(message), 300));
  });
  // The first client that asks for its version would make it warn that it does not find the one of LangGraph.
  const { console: printer } = globalThis;
  const warn = printer.warn.bind(printer);
  printer.warn = () => undefined;
  try {
    await inside()('/info');
  } finally {
    printer.warn = warn;
  }
}

/** The command that installs the server where squad looks for it. */
export function installLine(version: string, installed = findInstall()): string {
  const line = addLine([`${PACKAGE}@${version}`], 'squad studio', installed);
  // The server asks for TypeScript 5, which it needs only for graphs in TypeScript; npm refuses it beside a newer one.
  const first = `npm pkg set 'overrides.${PACKAGE}.typescript=$typescript' && `;
  return installed.by === 'project' && hasNewTypescript(installed.folder) ? line.replace('`', `\`${first}`) : line;
}

/** A TypeScript of the project's own which the server does not ask for. */
function hasNewTypescript(folder: string): boolean {
  const { dependencies, devDependencies } = manifestIn(folder);
  if ({ ...dependencies, ...devDependencies }['typescript'] === undefined) return false;
  const { version = '' } = manifestIn(join(folder, 'node_modules', 'typescript'));
  return version !== '' && !version.startsWith('5.');
}
