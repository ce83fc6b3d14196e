import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from '../substrate/system/process/loopback-client.ts';
import type { Decide } from './front-door.ts';
import { type Asked, type Guarded, type Instead, plainTarget, refusalOf, targetBehind } from './guard.ts';

interface Door {
  readonly secret: string;
  readonly guarded: Guarded;
  /** Clients whose process cannot be seen here may use it. */
  readonly tunnel: boolean;
  /** Asks the machine which process is at the other end. Called once for each connection. */
  readonly findClient: (socket: Socket) => Client;
  /** Answers of squad in place of the server's. Absent: none. */
  readonly instead?: (asked: Asked) => Instead | undefined;
}

const NOTHING_HERE: Instead = { status: 404, text: 'Not Found' };

const NOT_YOU: Readonly<Record<Exclude<Client, 'own'>, (command: string) => string>> = {
  agent: (command) => `An agent of squad may not speak to ${command}, which starts and steers agents.`,
  'other-user': (command) => `${command} answers to the user who started it only.`,
  unseen: (command) =>
    `${command} could not see a process of yours that asks. For a tunnel, end it and start \`${command} --tunnel\`.`,
  gone: (command) => `${command} could not find out which process asks.`,
};

/** The guard of every request, with what the machine says about who sent it. It tells nothing to one without the secret. */
export function decideRequests({ secret, guarded, tunnel, findClient, instead }: Door): Decide {
  const clients = new WeakMap<object, Client>();
  return async (request: IncomingMessage) => {
    const { method = '', url = '', rawHeaders, socket } = request;
    const behind = targetBehind(secret, url);
    if (behind === undefined) return NOTHING_HERE;
    const asked = { method, target: plainTarget(behind), rawHeaders };
    const refusal = refusalOf(asked, guarded);
    if (refusal !== undefined) return { status: 403, text: refusal };
    const client = clients.get(socket) ?? findClient(socket);
    clients.set(socket, client);
    if (client !== 'own' && !(tunnel && client === 'unseen')) {
      return { status: 403, text: NOT_YOU[client](guarded.command) };
    }
    const answer = instead?.(asked);
    const { origin } = request.headers;
    if (answer === undefined) return { target: asked.target };
    return origin === undefined ? answer : { ...answer, readBy: origin };
  };
}
