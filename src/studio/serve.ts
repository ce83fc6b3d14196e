import type { IncomingMessage } from 'node:http';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSecret } from '../model/secret.ts';
import { isSquadError } from '../model/errors.ts';
import { followWorkspace, openWorkspace, type Place } from '../squad/open-run.ts';
import { findClient, type Client } from '../substrate/process/loopback-client.ts';
import { startAgentServer, type AgentServer } from './agent-server.ts';
import type { Decide } from './front-door.ts';
import {
  answerInstead,
  KNOWN_ORIGINS,
  plainTarget,
  refusalOf,
  STUDIO_PAGE,
  targetBehind,
  type Instead,
} from './guard.ts';
import { makeFolder, noteServer, servedOn } from './server-folders.ts';
import { readThread } from './read-thread.ts';

export interface ServeOptions {
  readonly port: number;
  /** Pages besides that of Studio that may speak to the server. */
  readonly origins: readonly string[];
  /** Clients whose process cannot be seen here may use it, such as the server of a tunnel. */
  readonly tunnel: boolean;
  readonly onProblem: (line: string) => void;
}

export interface Served {
  /** What clients connect to. Who knows it can use the server: it is in no file, and in no other process. */
  readonly url: string;
  /** Where people look at it; the page comes from the internet. */
  readonly studio: string;
  close(): Promise<void>;
}

/** Serves the runs of the repository at or above the place's working directory, until it is closed. No run depends on it. */
export async function serveStudio(place: Place, options: ServeOptions): Promise<Served> {
  const { port, onProblem } = options;
  const workspace = followWorkspace(await openWorkspace(place));
  const { createStudioView } = await import('./view.ts');
  const graph = await createStudioView(place);
  const folders = join(place.host.stateDirectory, 'studio');
  const folder = await makeFolder(folders, place.host.pid);
  const secret = makeSecret();
  const origins = [...KNOWN_ORIGINS, ...options.origins];
  let server: AgentServer | undefined;
  const close = async (): Promise<void> => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const decide = decideWith({ ...options, secret, origins }, (id) => readThread(workspace, id)?.run.name);
    server = await startAgentServer({ folder, port, graph, decide, origins, onProblem });
    await noteServer(folder, { pid: place.host.pid, port: server.port, repository: workspace.repository.root });
  } catch (error) {
    await close();
    throw (
      (isSquadError(error) && error.code === 'port-busy' ? await servedOn(folders, port, error) : undefined) ?? error
    );
  }
  const url = `http://127.0.0.1:${server.port}/${secret}`;
  return { url, studio: `${STUDIO_PAGE}?baseUrl=${url}`, close };
}

interface Door {
  readonly secret: string;
  readonly origins: readonly string[];
  readonly tunnel: boolean;
}

/** The guard of every request, with what the machine says about who sent it. It tells nothing to one without the secret. */
function decideWith({ secret, origins, tunnel }: Door, nameOf: (threadId: string) => string | undefined): Decide {
  const clients = new WeakMap<object, Client>();
  return async (request: IncomingMessage) => {
    const { method = '', url = '', rawHeaders, socket } = request;
    const behind = targetBehind(secret, url);
    if (behind === undefined) return NOTHING_HERE;
    const asked = { method, target: plainTarget(behind), rawHeaders };
    const refusal = refusalOf(asked, origins);
    if (refusal !== undefined) return { status: 403, text: refusal };
    const client = clients.get(socket) ?? findClient(socket);
    clients.set(socket, client);
    if (client !== 'own' && !(tunnel && client === 'unseen')) return { status: 403, text: NOT_YOU[client] };
    const instead = answerInstead(asked, nameOf);
    const { origin } = request.headers;
    if (instead === undefined) return { target: asked.target };
    return origin === undefined ? instead : { ...instead, readBy: origin };
  };
}

const NOTHING_HERE: Instead = { status: 404, text: 'Not Found' };

const NOT_YOU: Readonly<Record<Exclude<Client, 'own'>, string>> = {
  agent: 'An agent of squad may not speak to squad studio, which starts and steers agents.',
  'other-user': 'squad studio answers to the user who started it only.',
  unseen:
    'squad studio could not see a process of yours that asks. For a tunnel, end it and start `squad studio --tunnel`.',
  gone: 'squad studio could not find out which process asks.',
};
