import type { CreateWebSocketManagerOptions, SessionInfo, WebSocketManager } from '@discordjs/ws';
import { errorText } from '../../../model/errors.ts';
import { plainLine } from '../../../text/plain-text.ts';
import type { ListenPorts } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Failure } from './answer.ts';
import type { DiscordApi } from './api.ts';
import type { Heard } from './incoming.ts';
import type { Library } from './library.ts';

/** Guild messages, direct messages, and what is in them. Without the list of servers, channels and members. */
const INTENTS = (1 << 9) | (1 << 12) | (1 << 15);
/** Between tries of a connection: the library itself tries twice a second, for ever. */
const FIRST_WAIT_MS = 1_000;
const MOST_WAIT_MS = 60_000;
/** After a refusal that only a person can end. */
const REFUSED_MS = 300_000;
/** A short loss that resumes is no news. */
const QUIET_FAILURES = 2;
/** To close a connection that no longer answers. */
const CLOSE_MS = 2_000;

export interface GatewayPorts {
  readonly library: Library;
  readonly api: Pick<DiscordApi, 'gateway'>;
  readonly token: string;
  /** The name of its variable. */
  readonly variable: string;
  readonly clock: Clock;
  readonly state: ListenPorts['state'];
  /** A new session: what was written before it did not come this way. */
  readonly began: (self: string) => void;
  readonly message: (message: Heard) => void;
}

/** Says what people should do about a refusal. */
function refusal(reason: string, variable: string): string {
  if (/Authentication|token/.test(reason)) {
    return `Discord refuses the token in ${variable}: copy it again from the page "Bot" of the application, and start squad again`;
  }
  if (reason.includes('disallowed intents')) {
    return 'Discord refuses to send what messages say: switch on "Message Content Intent" on the page "Bot" of the application';
  }
  return `Discord refuses the connection: ${reason}`;
}

/** Keeps a session with Discord until `stopped`. Never throws for what Discord does. */
export async function keepConnected(ports: GatewayPorts, stopped: AbortSignal): Promise<void> {
  const { clock, variable } = ports;
  const state = changes(ports.state);
  for (let failures = 0; !stopped.aborted; failures += 1) {
    const { isRefused, why } = await connect({ ...ports, state }, stopped, () => {
      failures = 0;
    });
    if (stopped.aborted) return;
    if (isRefused) state('lost', refusal(why, variable));
    else if (failures >= QUIET_FAILURES) state('lost', why);
    await clock.sleep(isRefused ? REFUSED_MS : waitAfter(failures), stopped);
  }
}

/** Only what has changed is news. */
function changes(state: ListenPorts['state']): ListenPorts['state'] {
  let last: string | undefined;
  return (now, why) => {
    if (last === `${now} ${why}`) return;
    last = `${now} ${why}`;
    state(now, why);
  };
}

function waitAfter(failures: number): number {
  return Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
}

interface End {
  readonly isRefused: boolean;
  readonly why: string;
}

/** One manager of the library, which resumes by itself. Resolves when it cannot, or has to stop. */
async function connect(ports: GatewayPorts, stopped: AbortSignal, worked: () => void): Promise<End> {
  const { library, clock } = ports;
  const { manager, sessions } = createManager(ports, stopped);
  return new Promise<End>((resolve) => {
    const end = (found: End): void => {
      sessions.isOver = true;
      stopped.removeEventListener('abort', stop);
      const closed = Promise.resolve(manager.destroy()).catch(() => undefined);
      void Promise.race([closed, clock.sleep(CLOSE_MS)]).then(() => resolve(found));
    };
    const stop = (): void => end({ isRefused: false, why: 'stopped' });
    stopped.addEventListener('abort', stop, { once: true });
    const { Error: ERROR, Ready, Resumed, Hello } = library.WebSocketShardEvents;
    manager.on(ERROR, (error) => end({ isRefused: true, why: errorText(error) }));
    for (const works of [Ready, Resumed] as const) {
      manager.on(works, () => {
        sessions.failures = 0;
        ports.state('connected');
        worked();
      });
    }
    manager.on(Hello, () => void (sessions.isDown = false));
    void manager.connect().catch((error: unknown) => {
      const { did, why, isToken } = error instanceof NoGateway ? error.failure : noSession(error);
      end({ isRefused: did === 'refused' || isToken === true, why });
    });
  });
}

function createManager(ports: GatewayPorts, stopped: AbortSignal): { manager: WebSocketManager; sessions: Sessions } {
  const { library, token, began, message, state } = ports;
  const sessions: Sessions = { info: null, failures: 0, isDown: false, isOver: false };
  const manager = new library.WebSocketManager({
    ...{ token, rest: restOf(ports), intents: INTENTS },
    retrieveSessionInfo: async () => sessionOf(sessions, ports, stopped),
    updateSessionInfo: (_shard, info) => void (sessions.info = info),
  });
  const { Closed, SocketError, Dispatch } = library.WebSocketShardEvents;
  manager.on(SocketError, () => undefined);
  manager.on(Closed, (code) => {
    sessions.failures += 1;
    sessions.isDown = true;
    if (sessions.failures === QUIET_FAILURES + 1) state('lost', `Discord has closed the connection (${code})`);
  });
  manager.on(Dispatch, (event) => {
    const { t, d }: { readonly t: string; readonly d: unknown } = event;
    if (t === 'MESSAGE_CREATE') message(d as Heard);
    if (t === 'READY') began((d as { user: { id: string } }).user.id);
  });
  return { manager, sessions };
}

class NoGateway extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.why);
    this.failure = failure;
  }
}

/** The library asks Discord for one thing only, and takes any object that does it: its own client would be 20 MB more in memory. */
function restOf({ api }: GatewayPorts): CreateWebSocketManagerOptions['rest'] {
  const rest = {
    get: async () => {
      const found = await api.gateway();
      if ('value' in found) return found.value;
      throw new NoGateway(found);
    },
  };
  return rest as unknown as CreateWebSocketManagerOptions['rest'];
}

/** All sessions of a day are used up, for one. */
function noSession(error: unknown): Failure {
  return { did: 'later', why: `Discord gives no session: ${plainLine(errorText(error))}` };
}

interface Sessions {
  info: SessionInfo | null;
  /** Connections in a row that were lost before they were of use. */
  failures: number;
  /** There is none at the moment. */
  isDown: boolean;
  isOver: boolean;
}

/** The library asks for the session before it connects: the one place where it can be made to wait, or to stop for good. */
async function sessionOf(
  sessions: Sessions,
  { clock }: GatewayPorts,
  stopped: AbortSignal,
): Promise<SessionInfo | null> {
  if (sessions.isDown && sessions.failures > QUIET_FAILURES) await clock.sleep(waitAfter(sessions.failures), stopped);
  return sessions.isOver || stopped.aborted ? new Promise(() => undefined) : sessions.info;
}
