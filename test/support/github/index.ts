import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createProxy, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './certificate.ts';
import { serveGit } from './git-backend.ts';
import { addComment, issueRoutes, setLabel } from './issues.ts';
import { pullQueries } from './pull-query.ts';
import { pullRoutes } from './pulls.ts';
import { queryRoutes } from './query.ts';
import { NOT_FOUND, type Reply, type Request } from './route.ts';
import { emptyState, stamp, type GithubState, type Issue, type User } from './state.ts';

const OWNER = 'acme';
const NAME = 'app';
export const SQUAD_TOKEN = 'ghp_canary0of0the0login0of0squad0000000000';
const HOSTS = ['github.com', 'api.github.com', 'git.corp.example'];

/** `limit`: 429 with `retry-after`; `used-up`: 403 with a reset; `secondary`: 403 that says so; `cut-after`: it is done, and nobody hears of it. */
export type Fault = 'limit' | 'used-up' | 'secondary' | 'error' | 'cut' | 'cut-after' | 'logged-out';

/**
 * GitHub on loopback, for the real `gh`: an HTTPS server with a certificate of its own authority, behind a proxy that leads each of
 * GitHub's names to it. `environment` makes `gh` use both; nothing that it does can reach another machine.
 */
export class Github {
  readonly state: GithubState = emptyState(OWNER, NAME);
  /** Method and path of each request, oldest first. */
  readonly requests: string[] = [];
  /** Requests that were answered by 304. */
  unchanged = 0;
  /** Asked before each request; a request that it fails is not done, besides by `cut-after`. */
  fault: (request: Request) => Fault | undefined = () => undefined;
  /** How long a limit lasts. */
  limitSeconds = 1;
  private readonly folder = mkdtempSync(join(tmpdir(), 'squad-github-'));
  private readonly servers: Server[] = [];
  private readonly sockets = new Set<Socket>();
  private environmentOf: Record<string, string> = {};

  static async open(): Promise<Github> {
    const github = new Github();
    github.addUser({ login: 'squad-bot', permission: 'write' }, SQUAD_TOKEN);
    const { path, key, cert } = makeCertificate(github.folder, HOSTS);
    const server = createServer({ key, cert }, (request, response) => void github.serve(request, response));
    const port = await github.listen(server);
    const proxy = createProxy((_, response) => response.writeHead(403).end());
    proxy.on('connect', (request: IncomingMessage, client: Socket) => github.lead(port, request, client));
    const proxyPort = await github.listen(proxy);
    github.environmentOf = {
      HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
      HTTP_PROXY: `http://127.0.0.1:${proxyPort}`,
      SSL_CERT_FILE: path,
      GH_CONFIG_DIR: join(github.folder, 'gh'),
      GH_TOKEN: SQUAD_TOKEN,
      GH_ENTERPRISE_TOKEN: SQUAD_TOKEN,
    };
    return github;
  }

  /** For git, which knows no SSL_CERT_FILE. */
  get authority(): string {
    return this.environmentOf['SSL_CERT_FILE'] ?? '';
  }

  /** For `gh`. */
  get environment(): Record<string, string> {
    return { ...this.environmentOf };
  }

  private async listen(server: Server): Promise<number> {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  private lead(port: number, { url = '' }: IncomingMessage, client: Socket): void {
    if (!HOSTS.includes(url.replace(/:443$/, ''))) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const server = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    server.on('error', () => client.destroy());
    client.on('close', () => server.destroy());
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(this.servers.map((server) => new Promise((closed) => server.close(closed))));
    rmSync(this.folder, { recursive: true, force: true });
  }

  addUser(user: Omit<User, 'id'>, token?: string): void {
    this.state.users.set(user.login, { ...user, id: this.state.users.size + 1 });
    if (token !== undefined) this.state.tokens.set(token, user.login);
  }

  addIssue(issue: { number: number; title: string; body: string; user: string }): Issue {
    const at = stamp(this.state);
    const made: Issue = {
      ...issue,
      state: 'open',
      labels: [],
      comments: [],
      events: [],
      created_at: at,
      updated_at: at,
    };
    this.state.issues.set(issue.number, made);
    return made;
  }

  label(number: number, label: string, actor: string, on = true): void {
    const issue = this.state.issues.get(number);
    if (issue === undefined) throw new Error(`no issue ${number}`);
    this.state.labels.add(label);
    setLabel(this.state, issue, { label, actor, on });
  }

  comment(number: number, user: string, body: string): void {
    const issue = this.state.issues.get(number);
    if (issue === undefined) throw new Error(`no issue ${number}`);
    addComment(this.state, issue, user, body);
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const url = new URL(incoming.url ?? '/', 'https://api.github.com');
    const body = Buffer.concat(chunks);
    if (url.pathname.startsWith(`/${this.state.owner}/${this.state.name}.git/`))
      return serveGit(incoming, response, { bare: this.state.bare, url, body });
    const text = body.toString();
    const token = /^(?:token|bearer) (.+)$/i.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
    const request: Request = {
      method: incoming.method ?? 'GET',
      path: url.pathname.replace(/^\/(?:api\/(?:v3\/)?)?/, ''),
      query: url.searchParams,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      login: this.state.tokens.get(token) ?? '',
      headers: { range: incoming.headers.range },
    };
    this.requests.push(`${request.method} ${request.path}`);
    const fault = this.fault(request);
    if (fault === 'cut') return void incoming.socket.destroy();
    const reply = this.failed(fault) ?? this.answer(request);
    if (fault === 'cut-after') return void incoming.socket.destroy();
    this.send(response, reply, incoming.headers['if-none-match']);
  }

  private answer(request: Request): Reply {
    const { state } = this;
    if (request.login === '') return { status: 401, json: { message: 'Bad credentials' } };
    if (state.isDeleted) return NOT_FOUND;
    if (request.path === 'user') return { status: 200, json: { login: request.login } };
    if (request.path === `repos/${state.owner}/${state.name}`)
      return { status: 200, json: { full_name: `${state.owner}/${state.name}`, default_branch: 'main' } };
    for (const route of [queryRoutes, pullQueries, issueRoutes, pullRoutes]) {
      const reply = route(state, request);
      if (reply !== undefined) return reply;
    }
    return NOT_FOUND;
  }

  private failed(fault: Fault | undefined): Reply | undefined {
    const after = { 'Retry-After': String(this.limitSeconds) };
    const reset = Math.ceil(Date.now() / 1000) + this.limitSeconds;
    switch (fault) {
      case 'limit':
        return { status: 429, json: { message: 'Too many requests' }, headers: after };
      case 'used-up': {
        const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(reset) };
        return { status: 403, json: { message: 'API rate limit exceeded' }, headers };
      }
      case 'secondary':
        return { status: 403, json: { message: 'You have exceeded a secondary rate limit.' }, headers: after };
      case 'error':
        return { status: 502, json: { message: 'Bad gateway' } };
      case 'logged-out':
        return { status: 401, json: { message: 'Bad credentials' } };
      default:
        return undefined;
    }
  }

  private send(response: ServerResponse, { status, json, text, headers = {} }: Reply, known: string | undefined): void {
    const body = text ?? (json === undefined ? '' : JSON.stringify(json));
    const etag = `W/"${createHash('sha256').update(body).digest('hex')}"`;
    if (status === 200 && known === etag) {
      this.unchanged += 1;
      return void response.writeHead(304, { ETag: etag }).end();
    }
    const type = text === undefined ? 'application/json; charset=utf-8' : 'text/plain';
    response.writeHead(status, { 'Content-Type': type, ETag: etag, ...headers }).end(body);
  }
}
