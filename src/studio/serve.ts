import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isSquadError, SquadError } from '../model/errors.ts';
import { makeSecret } from '../model/secret.ts';
import { followWorkspace, openWorkspace, type Place } from '../squad/open-workspace.ts';
import { findClient } from '../substrate/system/process/loopback-client.ts';
import { readProcess } from '../substrate/system/process/process-table.ts';
import { parseJson } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { type AgentServer, startAgentServer } from './agent-server.ts';
import { decideRequests } from './door.ts';
import { answerInstead, type Asked, type Instead, KNOWN_ORIGINS, STUDIO_PAGE, studioGuard } from './guard.ts';
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
  /** Clients connect here. It holds the secret, so it is in no file and in no other process. */
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
    const instead = (asked: Asked): Instead | undefined => answerInstead(asked, nameOf);
    const decide = decideRequests({
      secret,
      guarded: studioGuard(origins),
      tunnel: options.tunnel,
      findClient,
      instead,
    });
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

/** Read by other commands. Never holds the secret, because agents can read files of this user. */
const noteSchema = z.object({ pid: z.int(), port: z.int(), repository: z.string() });
type Note = z.infer<typeof noteSchema>;

const NOTE = 'server.json';

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

async function noteServer(folder: string, note: Note): Promise<void> {
  await writeFile(join(folder, NOTE), JSON.stringify(note), { mode: 0o600 });
}

/** The error of a port that is taken, where another `squad studio` of this user has it; undefined: none of them has. */
async function servedOn(parent: string, port: number, cause: unknown): Promise<SquadError | undefined> {
  const names = await readdir(parent).catch(() => []);
  const notes = await Promise.all(names.map(async (name) => readNote(join(parent, name, NOTE))));
  const note = notes.find((one) => one?.port === port && readProcess(one.pid) !== undefined);
  if (note === undefined) return undefined;
  const place = plainLine(note.repository, 300);
  return new SquadError({
    code: 'port-busy',
    message: `squad studio serves ${place} on port ${port} already, as process ${note.pid}`,
    next: `Its address has a secret, which only the terminal that started it shows. Take it from there, end that one with \`kill ${note.pid}\`, or take another port: \`squad studio --port ${port + 1}\`.`,
    cause,
  });
}

async function readNote(path: string): Promise<Note | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return noteSchema.safeParse(parseJson(text)).data;
}
