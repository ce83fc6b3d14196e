import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { TurnRequest } from '../model/turn-request.ts';

/** Homes that squad makes for agents, below the folder of its state. */
const HOMES = `${sep}homes${sep}`;

/** The request with the home of its session where that is now: a state folder may have been moved since the session's last turn. */
export function followHome(request: TurnRequest, stateDirectory: string): TurnRequest {
  const { session } = request;
  const at = session?.home.lastIndexOf(HOMES) ?? -1;
  if (session === undefined || at === -1 || existsSync(session.home)) return request;
  const home = join(stateDirectory, session.home.slice(at));
  return existsSync(home) ? { ...request, session: { ...session, home } } : request;
}
