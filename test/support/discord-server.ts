import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BOT, DiscordGateway, type Said } from './discord-gateway.ts';

export { BOT } from './discord-gateway.ts';

export const TOKEN = 'MTI5ODM3NDY1MDEyMzQ1Njc4OQ.GcAnaR.y-canary-of-the-discord-bot-0123456789';
export const GUILD = '1298374650123456701';
export const ROOM = '1298374650123456789';
export const ALICE = '1198374650123456789';
export const MALLORY = '1198374650123456790';

/** Kinds of channels. */
const [TEXT, DIRECT, THREAD] = [0, 1, 11];
const EPOCH = 1_420_070_400_000n;

interface Room {
  readonly id: string;
  readonly type: number;
  readonly guild_id?: string | undefined;
  readonly parent_id?: string;
  readonly owner_id?: string;
  readonly name?: string;
  readonly recipient?: string;
  readonly messages: Said[];
  /** The error that it answers with, as status and code. */
  error?: readonly [number, number];
}

/** `cut`: before anything is done; `cut-after`: when it is done. `limit`: 429. */
export type Fault = 'limit' | 'error' | 'cut' | 'cut-after';

export interface DiscordOptions {
  readonly heartbeatMs?: number;
  /** How long a nonce is remembered. */
  readonly nonceMs?: number;
  readonly limitSeconds?: number;
  /** Its clock. */
  readonly now?: () => number;
}

/** A Discord on loopback: REST with its faults, and the gateway. */
export class DiscordServer {
  readonly rooms = new Map<string, Room>();
  readonly files = new Map<string, (response: ServerResponse) => void>();
  /** Method and path of each request, oldest first. */
  readonly requests: string[] = [];
  /** The bodies of posts. */
  readonly bodies: unknown[] = [];
  readonly gateway: DiscordGateway;
  /** Asked before each request that nothing else fails. */
  atRandom: () => Fault | undefined = () => undefined;
  /** Nothing reaches it, and nothing comes from it, while people write there. */
  set isAway(isAway: boolean) {
    this.away = isAway;
    this.gateway.isAway = isAway;
    if (!isAway) return;
    this.gateway.cut();
    this.server.closeAllConnections();
  }

  private away = false;
  /** Its refusals repeat the token. */
  repeatsToken = false;
  private readonly server: Server;
  private readonly nonces = new Map<string, { readonly at: number; readonly message: Said }>();
  private faults: { readonly fault: Fault; readonly on: RegExp; left: number }[] = [];
  private last = 0n;
  private readonly options: Required<DiscordOptions>;

  private constructor(options: DiscordOptions) {
    this.options = { heartbeatMs: 2_000, nonceMs: 180_000, limitSeconds: 0.2, now: Date.now, ...options };
    this.addRoom({ id: ROOM, type: TEXT, guild_id: GUILD, name: 'team' });
    this.server = createServer((request, response) => void this.serve(request, response));
    this.gateway = new DiscordGateway(this.server, TOKEN, {
      heartbeatMs: this.options.heartbeatMs,
      url: () => this.origin.replace('http', 'ws'),
      nextId: () => this.nextId(),
    });
  }

  static async open(options: DiscordOptions = {}, port = 0): Promise<DiscordServer> {
    const server = new DiscordServer(options);
    server.server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get api(): string {
    return `${this.origin}/api`;
  }

  async close(): Promise<void> {
    this.gateway.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => void this.server.close(resolve));
  }

  /** An id later than all before it. */
  nextId(): string {
    const now = (BigInt(Math.floor(this.options.now())) - EPOCH) << 22n;
    this.last = now > this.last ? now : this.last + 1n;
    return String(this.last);
  }

  addRoom(room: Omit<Room, 'messages'>): Room {
    const whole = { ...room, messages: [] };
    this.rooms.set(room.id, whole);
    return whole;
  }

  /** The room of a person's direct messages. */
  directOf(person: string): Room {
    const found = [...this.rooms.values()].find(({ recipient }) => recipient === person);
    return found ?? this.addRoom({ id: this.nextId(), type: DIRECT, recipient: person });
  }

  /** Someone writes. `mention`: calls the bot. */
  say(
    text: string,
    {
      room = ROOM,
      by = ALICE,
      mention = true,
      isUnheard = false,
      ...more
    }: Partial<Omit<Said, 'author'>> & {
      readonly room?: string;
      readonly by?: string;
      readonly mention?: boolean;
      readonly isBot?: boolean;
      /** The gateway loses it. */
      readonly isUnheard?: boolean;
    } = {},
  ): Said {
    const { isBot, ...fields } = more;
    return this.put(
      this.rooms.get(room)!,
      {
        author: { id: by, username: `user-${by.slice(-3)}`, ...(isBot === true ? { bot: true } : {}) },
        content: mention ? `<@${BOT}> ${text}` : text,
        mentions: mention ? [{ id: BOT }] : [],
        ...fields,
      },
      isUnheard,
    );
  }

  edit(message: Said, content: string): void {
    message.content = content;
    this.gateway.dispatch('MESSAGE_UPDATE', message);
  }

  delete(message: Said): void {
    const { messages } = this.rooms.get(message.channel_id)!;
    messages.splice(messages.indexOf(message), 1);
    this.gateway.dispatch('MESSAGE_DELETE', { id: message.id, channel_id: message.channel_id });
  }

  /** What the bot said in a room, oldest first. */
  posts(room = ROOM): string[] {
    return (this.rooms.get(room)?.messages ?? [])
      .filter(({ author }) => author.id === BOT)
      .map(({ content }) => content);
  }

  allPosts(): Said[] {
    return [...this.rooms.values()].flatMap(({ messages }) => messages.filter(({ author }) => author.id === BOT));
  }

  fail(fault: Fault, times = 1, on = /^POST .*\/messages$/): void {
    this.faults.push({ fault, on, left: times });
  }

  private put(
    room: Room,
    message: Pick<Said, 'author' | 'content' | 'mentions'> & Partial<Said>,
    isUnheard = false,
  ): Said {
    const whole: Said = {
      ...{ id: this.nextId(), channel_id: room.id, guild_id: room.guild_id, type: 0, attachments: [] },
      timestamp: new Date(this.options.now()).toISOString(),
      ...message,
    };
    room.messages.push(whole);
    if (!isUnheard) this.gateway.dispatch('MESSAGE_CREATE', whole);
    return whole;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const file = this.files.get(url);
    if (file !== undefined) return file(response);
    if (this.away) return void request.socket.destroy();
    const line = `${method} ${url.replace(/^\/api\/v10/, '')}`;
    this.requests.push(line);
    if (request.headers.authorization !== `Bot ${this.gateway.token}`)
      return answer(response, 401, problem(0, '401: Unauthorized'));
    const fault = this.nextFault(line.replace(/\?.*/, ''));
    if (fault === 'cut') return void request.socket.destroy();
    if (fault === 'error') return answer(response, 500, {});
    if (fault === 'limit') {
      const seconds = this.options.limitSeconds;
      const headers = { 'retry-after': String(seconds), 'x-ratelimit-scope': 'user', via: '1.1 google' };
      return answer(
        response,
        429,
        { message: 'You are being rate limited.', retry_after: seconds, global: false },
        headers,
      );
    }
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
    const [status, value] = this.act(line, body);
    if (fault === 'cut-after') return void request.socket.destroy();
    answer(response, status, value);
  }

  private nextFault(line: string): Fault | undefined {
    const found = this.faults.find(({ on, left }) => left > 0 && on.test(line));
    if (found !== undefined) found.left -= 1;
    this.faults = this.faults.filter(({ left }) => left > 0);
    return found === undefined ? this.atRandom() : found.fault;
  }

  private act(line: string, body: Record<string, unknown>): [number, unknown] {
    const [, method = '', path = '', query = ''] = /^(\w+) \/([^?]*)\??(.*)$/.exec(line.replaceAll('%40', '@')) ?? [];
    const parts = path.split('/');
    if (path === 'gateway/bot') {
      const limit = { total: 1000, remaining: 1000, reset_after: 60_000, max_concurrency: 1 };
      return [200, { url: this.origin.replace('http', 'ws'), shards: 1, session_start_limit: limit }];
    }
    if (path === 'users/@me') return [200, { id: BOT, username: 'squad', bot: true }];
    if (path === 'users/@me/channels') return this.openDirect(String(body['recipient_id']));
    const room = this.rooms.get(parts[1] ?? '');
    if (parts[0] !== 'channels' || room === undefined) {
      return [404, problem(10_003, this.repeatsToken ? `Unknown Channel for ${TOKEN}` : 'Unknown Channel')];
    }
    if (room.error !== undefined) return [room.error[0], problem(room.error[1], 'refused by the test')];
    if (parts.length === 2)
      return [200, { ...room, messages: undefined, last_message_id: room.messages.at(-1)?.id ?? null }];
    if (parts[4] === 'threads') return this.openThread(room, parts[3] ?? '', String(body['name']));
    return method === 'GET' ? [200, page(room, new URLSearchParams(query))] : this.post(room, body);
  }

  private openDirect(person: string): [number, unknown] {
    const { messages, ...room } = this.directOf(person);
    return [200, { ...room, last_message_id: messages.at(-1)?.id ?? null }];
  }

  private openThread(room: Room, message: string, name: string): [number, unknown] {
    if (room.type !== TEXT) return [400, problem(50_024, 'Cannot execute action on this channel type')];
    if (this.rooms.has(message)) return [400, problem(160_004, 'A thread has already been created for this message')];
    if (!room.messages.some(({ id }) => id === message)) return [404, problem(10_008, 'Unknown Message')];
    const thread = { id: message, type: THREAD, guild_id: GUILD, parent_id: room.id, owner_id: BOT, name };
    this.addRoom(thread);
    return [201, thread];
  }

  private post(room: Room, body: Record<string, unknown>): [number, unknown] {
    const { content, nonce } = body as { content?: unknown; nonce?: string | number };
    this.bodies.push(body);
    if (typeof content !== 'string' || content.trim() === '')
      return [400, problem(50_006, 'Cannot send an empty message')];
    const isLong = content.length > 2_000;
    if (isLong || (nonce !== undefined && String(nonce).length > 25))
      return [400, problem(50_035, 'Invalid Form Body')];
    const known = this.nonces.get(String(nonce));
    if (known !== undefined && body['enforce_nonce'] === true && this.options.now() - known.at < this.options.nonceMs) {
      return [200, known.message];
    }
    const author = { id: BOT, username: 'squad', bot: true };
    const reference = body['message_reference'] as object | undefined;
    const message = this.put(room, {
      ...{ author, content: content.trim(), mentions: [], nonce: nonce === undefined ? undefined : String(nonce) },
      message_reference: reference,
    });
    if (nonce !== undefined) this.nonces.set(String(nonce), { at: this.options.now(), message });
    return [200, message];
  }
}

/** As Discord gives them: the oldest after an id, and those the newest first. Without a nonce and a server. */
function page({ messages }: Room, query: URLSearchParams): object[] {
  const limit = Number(query.get('limit') ?? 50);
  const after = query.get('after');
  const found =
    after === null ? messages.slice(-limit) : messages.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit);
  return found.toReversed().map((message) => ({ ...message, nonce: undefined, guild_id: undefined }));
}

function problem(code: number, message: string): object {
  return { code, message };
}

function answer(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
