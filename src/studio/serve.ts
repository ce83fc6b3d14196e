import type { IncomingMessage } from 'node:http';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openWorkspace, type Place } from '../squad/open-run.ts';
import { findClient, type Client } from '../substrate/process/loopback-client.ts';
import { readProcess } from '../substrate/process/process-table.ts';
import { startAgentServer, type AgentServer } from './agent-server.ts';
import type { Decide } from './front-door.ts';
import { answerInstead, KNOWN_ORIGINS, refusalOf, STUDIO_PAGE, type Instead } from './guard.ts';
import { keepThreads, type ThreadList } from './threads.ts';

export interface ServeOptions {
  readonly port: number;
  /** Pages besides that of Studio that may speak to the server. */
  readonly origins: readonly string[];
  readonly onProblem: (line: string) => void;
}

export interface Served {
  /** What clients connect to. */
  readonly url: string;
  /** Where people look at it; the page comes from the internet. */
  readonly studio: string;
  close(): Promise<void>;
}

/** Serves the runs of the repository at or above the place's working directory, until it is closed. No run depends on it. */
export async function serveStudio(place: Place, { port, origins, onProblem }: ServeOptions): Promise<Served> {
  const workspace = await openWorkspace(place);
  const { createStudioView } = await import('./view.ts');
  const graph = await createStudioView(place);
  const folder = await makeFolder(join(place.host.stateHome, 'squad', 'studio'), place.host.pid);
  const pages = [...KNOWN_ORIGINS, ...origins];
  let threads: ThreadList | undefined;
  let server: AgentServer | undefined;
  const close = async (): Promise<void> => {
    await threads?.stop();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const decide = decideWith(pages, (id) => threads?.nameOf(id));
    server = await startAgentServer({ folder, port, graph, decide, origins: pages, onProblem });
    threads = await keepThreads(workspace, server, onProblem);
  } catch (error) {
    await close();
    throw error;
  }
  const url = `http://127.0.0.1:${server.port}`;
  return { url, studio: `${STUDIO_PAGE}?baseUrl=${url}`, close };
}

/** The guard of every request, with what the machine says about who sent it. */
function decideWith(pages: readonly string[], nameOf: (threadId: string) => string | undefined): Decide {
  const clients = new WeakMap<object, Client>();
  return async (request: IncomingMessage): Promise<Instead | undefined> => {
    const { method = '', url: target = '', rawHeaders, socket } = request;
    const asked = { method, target, rawHeaders };
    const refusal = refusalOf(asked, pages);
    if (refusal !== undefined) return { status: 403, text: refusal };
    const client = clients.get(socket) ?? findClient(socket);
    clients.set(socket, client);
    if (client !== 'own') return { status: 403, text: NOT_YOU[client] };
    const instead = answerInstead(asked, nameOf);
    const { origin } = request.headers;
    return instead === undefined || origin === undefined ? instead : { ...instead, readBy: origin };
  };
}

const NOT_YOU: Readonly<Record<Exclude<Client, 'own'>, string>> = {
  agent: 'An agent of squad may not speak to squad studio, which starts and steers agents.',
  'other-user': 'squad studio answers to the user who started it only.',
  gone: 'squad studio could not find out which process asks.',
};

/** A new folder of this process. Removes those of processes that were killed. */
async function makeFolder(parent: string, pid: number): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) {
    const owner = Number.parseInt(name, 10);
    if (!Number.isInteger(owner) || readProcess(owner) !== undefined) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${pid}-`));
}
