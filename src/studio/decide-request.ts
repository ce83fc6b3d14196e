import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Client } from '../substrate/system/process/loopback-client.ts';
import type { Decide } from './front-door.ts';
import { answerInstead, plainTarget, refusalOf, targetBehind, type Instead } from './guard.ts';

interface Door {
  readonly secret: string;
  readonly origins: readonly string[];
  /** Clients whose process cannot be seen here may use it. */
  readonly tunnel: boolean;
  /** The name of the run with this id. */
  readonly nameOf: (threadId: string) => string | undefined;
  /** Asks the machine which process is at the other end. Called once for each connection. */
  readonly findClient: (socket: Socket) => Client;
}

/** The guard of every request, with what the machine says about who sent it. It tells nothing to one without the secret. */
export function decideRequests({ secret, origins, tunnel, nameOf, findClient }: Door): Decide {
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
