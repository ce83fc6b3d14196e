import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { parseJson } from '../../text/json.ts';
import type { Line } from './schema.ts';
import { messageSchema, type Ready } from './schema.ts';

/** The application's end of the connection to the process that stands for its agent. */
export interface StandIn {
  readonly servers: Ready['servers'];
  /** The turn is to end: it was cancelled, or the process is gone. */
  readonly signal: AbortSignal;
  print(line: Line): void;
  callTool(server: string, tool: string, input: unknown): Promise<string>;
  /** The last word: the process prints nothing more and exits with this. */
  end(code: number): void;
}

/** Where the stand-in of one turn reports. */
export interface StandInServer {
  open(): Promise<{ readonly port: number; readonly token: string }>;
  close(): void;
}

/** Other programs of this machine can reach the port, too: only the stand-in has the token. */
const HELLO_MS = 60_000;

export function createStandInServer(onStandIn: (standIn: StandIn) => void): StandInServer {
  const token = randomBytes(24).toString('base64url');
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let isTaken = false;
  const take = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    talkTo(socket, token, (standIn) => {
      if (isTaken) return socket.destroy();
      isTaken = true;
      server?.close();
      return onStandIn(standIn);
    });
  };
  return {
    open: async () => {
      const opened = createServer(take);
      server = opened;
      await new Promise<void>((resolve, reject) => {
        opened.once('error', reject).listen(0, '127.0.0.1', resolve);
      });
      return { port: (opened.address() as AddressInfo).port, token };
    },
    close: () => {
      server?.close();
      if (!isTaken) for (const socket of sockets) socket.destroy();
    },
  };
}

function talkTo(socket: Socket, token: string, onReady: (standIn: StandIn) => void): void {
  const gone = new AbortController();
  const end = (why: string): void => {
    gone.abort(new Error(why));
    for (const { reject } of calls.values()) reject(new Error(why));
    calls.clear();
  };
  const calls = new Map<number, { resolve: (text: string) => void; reject: (error: Error) => void }>();
  let last = 0;
  let isReady = false;
  const send = (message: object): void => {
    if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
  };
  const late = setTimeout(() => socket.destroy(), HELLO_MS).unref();
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(late);
    end('the turn has ended');
  });
  onLines(socket, (text) => {
    const message = messageSchema.safeParse(parseJson(text)).data;
    if (!isReady && (message?.type !== 'ready' || message.token !== token)) return void socket.destroy();
    if (message?.type === 'cancel') return end('squad ended the turn');
    if (message?.type === 'answer') {
      const call = calls.get(message.id);
      calls.delete(message.id);
      const said = message.error ?? textOf(message.result?.content ?? []);
      if (message.error !== undefined || message.result?.isError === true) call?.reject(new Error(said));
      else call?.resolve(said);
      return undefined;
    }
    if (message?.type !== 'ready' || isReady) return undefined;
    isReady = true;
    clearTimeout(late);
    return onReady({
      servers: message.servers,
      signal: gone.signal,
      print: (line) => send({ type: 'line', line: JSON.stringify(line) }),
      callTool: async (server, tool, input) => {
        gone.signal.throwIfAborted();
        last += 1;
        const id = last;
        const called = new Promise<string>((resolve, reject) => calls.set(id, { resolve, reject }));
        send({ type: 'call', id, server, tool, arguments: input });
        return called;
      },
      end: (code) => send({ type: 'end', code }),
    });
  });
}

/** A line of the stand-in. A program that is none of squad's sends no more than this before it is cut off. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** Lines end at a line feed only: readline also splits at characters that JSON leaves as they are. */
function onLines(socket: Socket, take: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...others] = text.split('\n');
    rest += first;
    if (rest.length > MOST_CHARACTERS) return void socket.destroy();
    for (const line of others) {
      take(rest);
      rest = line;
    }
    return undefined;
  });
}

function textOf(content: readonly unknown[]): string {
  const texts = content.map((part) => (part as { text?: unknown } | null)?.text);
  return texts.filter((text) => typeof text === 'string').join('\n');
}
