import { openMachine } from '../../engine/machine.ts';
import type { BacklogEntry } from '../../model/sprint/item.ts';
import { viewRequest, viewRequests, type RequestView } from '../../view/sprint/request-view.ts';
import { openWorkspace, type Place } from '../open-workspace.ts';
import { lookAtBacklog, lookAtTeam, type SeenTeam } from './read-team.ts';
import { unknownRequest } from './unknown-request.ts';

/** The requests of a repository, the newest last. */
export async function listRequests(place: Place): Promise<RequestView[]> {
  const seen = await look(place);
  return viewRequests(seen.team, isOverIn(seen));
}

/** Throws `usage` for one that is unknown. */
export async function readRequest(place: Place, id: string): Promise<RequestView> {
  return requestIn(await look(place), id);
}

/** Throws `usage` for one that is unknown. */
export function requestIn(seen: SeenTeam, id: string): RequestView {
  const found = viewRequest(seen.team, id, isOverIn(seen));
  if (found === undefined) throw unknownRequest(seen.team, id);
  return found;
}

/** The most urgent item first. */
export async function readBacklog({ host }: Place): Promise<BacklogEntry[]> {
  return lookAtBacklog(await openWorkspace({ host, composition: openMachine(host) }));
}

/** Needs no runtime, so none is loaded. */
async function look({ host }: Place): Promise<SeenTeam> {
  return lookAtTeam(await openWorkspace({ host, composition: openMachine(host) }));
}

function isOverIn({ runState }: SeenTeam): (run: string) => boolean {
  return (run) => runState(run) === 'over';
}
