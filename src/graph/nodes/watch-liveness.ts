import type { Board } from '../../model/plan/board.ts';
import { plainJson } from '../../text/json.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { decideLiveness, type TurnKind } from '../decisions/liveness.ts';
import { liveErrandsOf, type LiveErrand } from './live-attempts.ts';
import type { NodeContext } from './node-context.ts';
import { planAttemptId } from '../ports.ts';

/** The first-tool gate: looks at live turns, and notes what it sees as inputs. */
export interface LivenessWatch {
  /** true: something was noted. */
  look(board: Board): boolean;
}

/**
 * When it was seen here, by the monotonic clock: a machine that slept, or a clock that was set, raises no wall. After a crash
 * every grace begins anew.
 */
interface Sighting {
  spawnedAt: number | null;
  /** As the runtime told it last, by the wall clock: only that it changes counts. */
  sign: number;
  signAt: number | null;
  walledAt: number | null;
}

export function watchLiveness({ ports }: NodeContext): LivenessWatch {
  const sightings = new Map<string, Sighting>();

  const sightingOf = (id: string): Sighting => {
    const known = sightings.get(id) ?? { spawnedAt: null, sign: 0, signAt: null, walledAt: null };
    sightings.set(id, known);
    return known;
  };

  const seen = (live: LiveErrand, board: Board): WorkEvent | undefined => {
    const { attempt, state, errand } = live;
    const id = planAttemptId(ports, attempt);
    const activity = ports.attempts.activity(id);
    if (activity === undefined || state.stop !== null) return undefined;
    const now = ports.clock.monotonic();
    const sighting = sightingOf(id);
    if (sighting.spawnedAt === null && (ports.ledger.attempt(id)?.process ?? null) !== null) sighting.spawnedAt = now;
    if (activity.lastSignOfLifeAt !== sighting.sign) sighting.signAt = now;
    sighting.sign = activity.lastSignOfLifeAt;
    sighting.walledAt = state.wall === null ? null : (sighting.walledAt ?? now);
    const decision = decideLiveness(
      {
        spawnedAt: sighting.spawnedAt,
        lastSignAt: sighting.signAt,
        firstToolAt: activity.firstToolAt ?? null,
        walledAt: sighting.walledAt,
        walls: errand.used.walls,
      },
      kindOf(live, board),
      now,
      { ms: gateSeconds(ports, state.agent) * 1000, walls: board.facts.limits.walls },
    );
    switch (decision.do) {
      case 'raise-wall':
        return { type: 'wall-raised', attempt, why: decision.why };
      case 'clear-wall':
        return { type: 'wall-cleared', attempt };
      case 'fall-back':
        return { type: 'wall-fallback', attempt, fallback: decision.fallback };
      case 'nothing':
        return undefined;
    }
  };

  const forgetEnded = (errands: readonly LiveErrand[]): void => {
    const live = new Set(errands.map(({ attempt }) => planAttemptId(ports, attempt)));
    for (const id of sightings.keys()) if (!live.has(id)) sightings.delete(id);
  };

  return {
    look: (board) => {
      const errands = liveErrandsOf(board);
      if (sightings.size > 2 * errands.length) forgetEnded(errands);
      const news = errands.flatMap((live) => {
        const event = seen(live, board);
        return event === undefined ? [] : [{ task: live.task, event }];
      });
      for (const one of news) ports.ledger.note(ports.lease, RUN_EVENTS.work, plainJson(one));
      return news.length > 0;
    },
  };
}

function gateSeconds({ limits, definition }: NodeContext['ports'], agent: string): number {
  return definition.agents.find(({ name }) => name === agent)?.limits?.firstToolSeconds ?? limits.firstToolSeconds;
}

function kindOf({ task, review }: LiveErrand, board: Board): TurnKind {
  if (review !== null) return 'review';
  return board.tasks.get(task)?.task.workspace === 'none' ? 'author-without-files' : 'author';
}
