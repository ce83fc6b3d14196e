import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSecret } from '../model/secret.ts';
import { isSquadError } from '../model/errors.ts';
import { followWorkspace, openWorkspace, type Place } from '../squad/open-run.ts';
import { findClient } from '../substrate/process/loopback-client.ts';
import { startAgentServer, type AgentServer } from './agent-server.ts';
import { decideRequests } from './decide-request.ts';
import { KNOWN_ORIGINS, STUDIO_PAGE } from './guard.ts';
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
    const nameOf = (id: string): string | undefined => readThread(workspace, id)?.run.name;
    const decide = decideRequests({ ...options, secret, origins, nameOf, findClient });
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
