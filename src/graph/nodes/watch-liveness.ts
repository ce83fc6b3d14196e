import type { Board } from '../../model/plan/board.ts';
import { plainJson } from '../../text/json.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { decideLiveness, type Activity, type TurnKind } from '../../rules/liveness.ts';
import { liveRequests, type LiveRequest } from '../../rules/work-requests.ts';
import type { NodeContext } from './node-context.ts';
import { planAttemptId } from '../ports.ts';

/**
 * Times of the monotonic clock, so that neither a sleeping machine nor a changed clock counts as a stall. After a crash, each wait starts
 * from zero.
 */
interface Sighting {
  spawnedAt: number | null;
  /** The runtime's last sign of life, by the wall clock. Only a change of it counts. */
  sign: number;
  signAt: number | null;
  stalledAt: number | null;
  /** The sign that the stall was counted from. */
  quietSince: number | null;
}

const unseen = (): Sighting => ({ spawnedAt: null, sign: 0, signAt: null, stalledAt: null, quietSince: null });

function activityOf(
  { spawnedAt, signAt, stalledAt, quietSince }: Sighting,
  stalls: number,
): Omit<Activity, 'firstToolAt'> {
  return { spawnedAt, lastSignAt: signAt, stalledAt, quietSince, stalls };
}

/** Makes the look at live turns, which notes stalls as inputs and returns whether it noted something. */
export function watchLiveness({ ports }: NodeContext): (board: Board) => boolean {
  const sightings = new Map<string, Sighting>();

  const sightingOf = (id: string): Sighting => {
    const known = sightings.get(id) ?? unseen();
    sightings.set(id, known);
    return known;
  };

  const seen = (live: LiveRequest, board: Board): WorkEvent | undefined => {
    const { attempt, state, request } = live;
    const id = planAttemptId(ports, attempt);
    const activity = ports.attempts.activity(id);
    if (activity === undefined || state.stop !== null) return undefined;
    const now = ports.clock.monotonic();
    const sighting = sightingOf(id);
    if (sighting.spawnedAt === null && (ports.ledger.attempt(id)?.process ?? null) !== null) sighting.spawnedAt = now;
    if (activity.lastSignOfLifeAt !== sighting.sign) sighting.signAt = now;
    sighting.sign = activity.lastSignOfLifeAt;
    sighting.stalledAt = state.stall === null ? null : (sighting.stalledAt ?? now);
    const decision = decideLiveness(
      { ...activityOf(sighting, request.used.stalls), firstToolAt: activity.firstToolAt ?? null },
      kindOf(live, board),
      now,
      { ms: gateSeconds(ports, state.agent) * 1000, fallbacks: board.facts.limits.stallFallbacks },
    );
    switch (decision.do) {
      case 'stall':
        sighting.quietSince = decision.since;
        return { type: 'wall-raised', attempt, why: decision.why };
      case 'clear-stall':
        return { type: 'wall-cleared', attempt, why: decision.why };
      case 'fall-back':
        return { type: 'wall-fallback', attempt, fallback: decision.fallback };
      case 'nothing':
        return undefined;
    }
  };

  const forgetEnded = (requests: readonly LiveRequest[]): void => {
    const live = new Set(requests.map(({ attempt }) => planAttemptId(ports, attempt)));
    for (const id of sightings.keys()) if (!live.has(id)) sightings.delete(id);
  };

  return (board) => {
    const requests = liveRequests(board);
    if (sightings.size > 2 * requests.length) forgetEnded(requests);
    const news = requests.flatMap((live) => {
      const event = seen(live, board);
      return event === undefined ? [] : [{ task: live.task, event }];
    });
    for (const one of news) ports.ledger.note(ports.lease, RUN_EVENTS.work, plainJson(one));
    return news.length > 0;
  };
}

function gateSeconds({ limits, definition }: NodeContext['ports'], agent: string): number {
  return definition.agents.find(({ name }) => name === agent)?.limits?.firstToolSeconds ?? limits.firstToolSeconds;
}

function kindOf({ task, review }: LiveRequest, board: Board): TurnKind {
  if (review !== null) return 'review';
  return board.tasks.get(task)?.task.workspace === 'none' ? 'author-without-files' : 'author';
}
