import { type WebSocket, WebSocketServer } from 'ws';
import type { Server } from 'node:http';

export const BOT = '1298374650123456700';

const MESSAGE_CONTENT = 1 << 15;

export interface Said {
  readonly id: string;
  readonly channel_id: string;
  readonly guild_id?: string | undefined;
  readonly author: { readonly id: string; readonly username: string; readonly bot?: boolean };
  content: string;
  readonly mentions: readonly { readonly id: string }[];
  readonly attachments: readonly object[];
  readonly timestamp: string;
  readonly type: number;
  readonly nonce?: string | undefined;
  readonly message_reference?: object | undefined;
  readonly webhook_id?: string;
}

interface Session {
  readonly id: string;
  readonly intents: number;
  readonly events: { readonly s: number; readonly t: string; readonly d: unknown }[];
  socket: WebSocket | undefined;
}

interface GatewayOptions {
  readonly heartbeatMs: number;
  readonly url: () => string;
  readonly nextId: () => string;
}

/** The gateway of the loopback Discord: sessions that can be resumed. */
export class DiscordGateway {
  /** The intents of each session, the oldest first. */
  readonly identified: number[] = [];
  resumed = 0;
  token: string;
  /** Whether the application may see what messages say. */
  hasContent = true;
  private readonly sockets: WebSocketServer;
  private readonly sessions = new Map<string, Session>();
  private readonly options: GatewayOptions;

  /** It ends each connection at once. */
  isAway = false;

  constructor(server: Server, token: string, options: GatewayOptions) {
    this.token = token;
    this.options = options;
    this.sockets = new WebSocketServer({ server });
    this.sockets.on('connection', (socket) => {
      if (this.isAway) socket.terminate();
      else this.greet(socket);
    });
  }

  /** Sends an event to all sessions. */
  dispatch(t: string, d: unknown): void {
    for (const session of this.sessions.values()) {
      const event = { s: session.events.length + 1, t, d: this.seenBy(session, d) };
      session.events.push(event);
      send(session.socket, { op: 0, ...event });
    }
  }

  /** Sends the last events again, with their numbers. */
  replayLast(count: number): void {
    for (const { socket, events } of this.sessions.values()) {
      for (const event of events.slice(-count)) send(socket, { op: 0, ...event });
    }
  }

  cut(): void {
    for (const { socket } of this.sessions.values()) socket?.terminate();
  }

  askToReconnect(): void {
    for (const { socket } of this.sessions.values()) send(socket, { op: 7, d: null });
  }

  /** The sessions are over: who comes back begins a new one, and misses what came meanwhile. */
  invalidate(): void {
    for (const [id, { socket }] of this.sessions) {
      this.sessions.delete(id);
      send(socket, { op: 9, d: false });
    }
  }

  /** As `invalidate`, for those who are away: they hear of it when they want to resume. */
  forget(): void {
    for (const [id, session] of this.sessions) if (session.socket?.readyState !== 1) this.sessions.delete(id);
  }

  close(): void {
    for (const socket of this.sockets.clients) socket.terminate();
  }

  private seenBy({ intents }: Session, d: unknown): unknown {
    const { content, mentions, guild_id: guild, author } = d as Partial<Said>;
    const isFree = guild === undefined || author?.id === BOT || mentions?.some(({ id }) => id === BOT) === true;
    if (content === undefined || isFree || (intents & MESSAGE_CONTENT) !== 0) return d;
    return { ...(d as Said), content: '', attachments: [] };
  }

  private greet(socket: WebSocket): void {
    send(socket, { op: 10, d: { heartbeat_interval: this.options.heartbeatMs } });
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString()) as { op: number; d: Record<string, unknown> };
      if (op === 1) send(socket, { op: 11 });
      if (op !== 2 && op !== 6) return;
      if (d['token'] !== this.token) return socket.close(4004, 'Authentication failed.');
      if (op === 2) this.identify(socket, Number(d['intents']));
      else this.resume(socket, String(d['session_id']), Number(d['seq']));
    });
  }

  private identify(socket: WebSocket, intents: number): void {
    if (!this.hasContent && (intents & MESSAGE_CONTENT) !== 0) return socket.close(4014, 'Disallowed intent(s).');
    this.identified.push(intents);
    const session: Session = { id: this.options.nextId(), intents, events: [], socket };
    this.sessions.set(session.id, session);
    const url = this.options.url();
    const ready = { v: 10, user: { id: BOT, username: 'squad', bot: true }, guilds: [], session_id: session.id };
    const event = { s: 1, t: 'READY', d: { ...ready, resume_gateway_url: url, application: { id: BOT, flags: 0 } } };
    session.events.push(event);
    send(socket, { op: 0, ...event });
  }

  private resume(socket: WebSocket, id: string, seq: number): void {
    const session = this.sessions.get(id);
    if (session === undefined) return send(socket, { op: 9, d: false });
    this.resumed += 1;
    session.socket = socket;
    for (const event of session.events.filter(({ s }) => s > seq)) send(socket, { op: 0, ...event });
    const event = { s: session.events.length + 1, t: 'RESUMED', d: {} };
    session.events.push(event);
    send(socket, { op: 0, ...event });
  }
}

function send(socket: WebSocket | undefined, payload: object): void {
  if (socket?.readyState === 1) socket.send(JSON.stringify(payload));
}
