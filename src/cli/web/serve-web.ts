import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { errorText, isSquadError, SquadError, usageError } from '../../model/errors.ts';
import { makeSecret } from '../../model/secret.ts';
import { errorCode } from '../../model/storage-error.ts';
import { openRun } from '../../squad/open-run.ts';
import { decideRequests } from '../../studio/door.ts';
import { keepDoor } from '../../studio/front-door.ts';
import { findClient } from '../../substrate/system/process/loopback-client.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import { defined } from '../../text/defined.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { act, isAct } from './acts.ts';
import { Feed, type Watched } from './feed.ts';
import { PAGE_STYLE } from '../../view/report/page-style.ts';
import { documentOf, problemPage } from './page.ts';
import { type Route, routeOf } from './routes.ts';
import type { ShownRepository, Repositories } from './repositories.ts';
import { watchDiff } from './watch-diff.ts';
import { watchRun } from './watch-run.ts';
import { watchRuns } from './watch-runs.ts';
import { turnIn, watchTurn } from './watch-turn.ts';

const COMMAND = 'squad watch --web';
/** Larger than any plan that squad takes. */
const MOST_BYTES = 512 * 1024;
/** A browser that reads no more than this behind is left, and asks again. */
const MOST_BEHIND = 8 * 1024 * 1024;
const MOST_CONNECTIONS = 256;

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export interface WebOptions {
  readonly port: number;
  /** Clients whose process cannot be seen here may use it, such as the server of a tunnel. */
  readonly tunnel: boolean;
  readonly clock: Clock;
  readonly onProblem: (line: string) => void;
}

export interface ServedWeb {
  /** It holds the secret, so it is in no file and in no other process. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the pages of these repositories on loopback, until it is closed. No run depends on it. */
export async function serveWeb(repositories: Repositories, options: WebOptions): Promise<ServedWeb> {
  const { port, tunnel, clock, onProblem } = options;
  const secret = makeSecret();
  const feeds = new Map<string, Feed>();
  const broke = (error: unknown): void => onProblem(errorText(error));
  const feedOf = (name: string, open: () => Promise<Watched>): Feed => {
    const feed = feeds.get(name) ?? new Feed({ open, clock, onProblem: broke });
    feeds.set(name, feed);
    return feed;
  };
  const web: Web = {
    repositories,
    runs: () => feedOf('', async () => watchRuns(repositories, clock)),
    run: ({ id, workspace }, run) => feedOf(`${id}/${run}`, async () => watchRun(workspace, run)),
    diff: ({ id, workspace }, run) => feedOf(`${id}/${run}/diff`, async () => watchDiff(workspace, run)),
    turn: ({ id, workspace }, run, attempt) =>
      feedOf(`${id}/${run}/turns/${attempt}`, async () => watchTurn(workspace, run, attempt)),
    broke,
  };
  const server = createServer((request, response) => void serve(web, request, response));
  const guarded = {
    command: COMMAND,
    origins: 'own',
    foreign: `${COMMAND} takes requests of its own pages only; open the address that it printed.`,
  } as const;
  keepDoor(server, decideRequests({ secret, guarded, tunnel, findClient }), COMMAND);
  server.maxConnections = MOST_CONNECTIONS;
  const used = await listen(server, port);
  return {
    url: `http://127.0.0.1:${used}/${secret}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all([...feeds.values()].map(async (feed) => feed.close()));
    },
  };
}

interface Web {
  readonly repositories: Repositories;
  readonly runs: () => Feed;
  readonly run: (repository: ShownRepository, run: string) => Feed;
  readonly diff: (repository: ShownRepository, run: string) => Feed;
  readonly turn: (repository: ShownRepository, run: string, attempt: string) => Feed;
  readonly broke: (error: unknown) => void;
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE' && errorCode(error) !== 'EACCES') throw error;
    throw new SquadError({
      code: 'port-busy',
      message: `port ${port} cannot be used: ${errorText(error)}`,
      next: `Take another port: \`${COMMAND} --port ${port + 1}\`, or none for any free one.`,
      cause: error,
    });
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function serve(web: Web, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  const route = routeOf(method, url);
  try {
    if (route === undefined) throw usageError('nothing is at this address', 'Open the list of all runs.');
    await answer(web, route, request, response);
  } catch (error) {
    if (response.headersSent) return void response.end();
    const status = isSquadError(error) ? (route === undefined ? 404 : 422) : 500;
    if (!isSquadError(error)) web.broke(error);
    const message = plainText(errorText(error));
    const next = (isSquadError(error) ? error.next : undefined) ?? 'Run `squad doctor`.';
    if (method === 'POST') return sendJson(response, status, { error: message, next: plainText(next) });
    send(response, status, 'text/html', problemPage(message, next, homeOf(route)));
  }
}

function homeOf(route: Route | undefined): string {
  if (route?.to === 'turn') return '../../../';
  return route?.to === 'run' || route?.to === 'diff' ? '../../' : './';
}

async function answer(web: Web, route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> {
  switch (route.to) {
    case 'asset':
      return sendAsset(response, route.name);
    case 'runs':
      return sendPage(response, web.runs(), './');
    case 'runs-events':
      return sendEvents(request, response, web.runs());
    case 'run-folder':
      return void response.writeHead(308, { ...HEADERS, location: `./${encodeURIComponent(route.run)}/` }).end();
    case 'run':
      return sendPage(response, await feedAt(web, route), '../../');
    case 'diff':
      return sendPage(response, await feedAt(web, route), '../../', 'diff/events');
    case 'turn':
      return sendPage(response, await feedAt(web, route), '../../../', `${encodeURIComponent(route.attempt)}/events`);
    case 'run-events':
    case 'diff-events':
    case 'turn-events':
      return sendEvents(request, response, await feedAt(web, route));
    case 'act': {
      const repository = await repositoryOf(web, route.repository);
      if (!isAct(route.act)) throw usageError(`a page cannot ${plainLine(route.act, 40)}`, 'Use the command of squad.');
      const said = await act(repository.workspace, route.run, route.act, parseJson(await readBody(request)));
      return sendJson(response, 200, { said });
    }
    default:
      return route satisfies never;
  }
}

async function repositoryOf({ repositories }: Web, id: string): Promise<ShownRepository> {
  const repository = await repositories.find(id);
  if (repository !== undefined) return repository;
  throw usageError(`no repository ${plainLine(id, 80)} is served here`, `Start \`${COMMAND} --all\` for all of them.`);
}

type Followed = Exclude<Extract<Route, { run: string }>, { to: 'act' | 'run-folder' }>;

async function feedAt(web: Web, route: Followed): Promise<Feed> {
  const repository = await repositoryOf(web, route.repository);
  // By the run's id alone, so that all pages of a run share one reader.
  const { reading } = await openRun(repository.workspace, route.run);
  const { id } = reading.row;
  switch (route.to) {
    case 'run':
    case 'run-events':
      return web.run(repository, id);
    case 'diff':
    case 'diff-events':
      return web.diff(repository, id);
    case 'turn':
    case 'turn-events':
      return web.turn(repository, id, turnIn(reading, route.attempt).attempt.id);
    default:
      return route satisfies never;
  }
}

async function sendPage(response: ServerResponse, feed: Feed, home: string, events?: string): Promise<void> {
  const { page, version } = await feed.current();
  send(response, 200, 'text/html', documentOf(page, { home, version, ...defined({ events }) }));
}

/** Server-sent events, until the browser leaves. */
function sendEvents(request: IncomingMessage, response: ServerResponse, feed: Feed): void {
  const last = request.headers['last-event-id'];
  const since = typeof last === 'string' ? last : new URL(request.url ?? '', 'http://x').searchParams.get('since');
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  response.write('retry: 1000\n\n');
  const end = feed.subscribe(since ?? '', {
    send: (message) => {
      if (response.writableLength > MOST_BEHIND) response.destroy();
      else response.write(message);
    },
    end: () => void response.end(),
  });
  response.once('close', end);
}

function sendAsset(response: ServerResponse, name: 'page.js' | 'page.css'): void {
  const text = readFileSync(
    new URL(`./${name === 'page.js' ? 'web-page.js' : 'web-page.css'}`, import.meta.url),
    'utf8',
  );
  if (name === 'page.js') send(response, 200, 'text/javascript', text);
  else send(response, 200, 'text/css', PAGE_STYLE + text);
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  send(response, status, 'application/json', JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` }).end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) throw usageError(`the text is longer than ${MOST_BYTES} bytes`, 'Shorten it.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
