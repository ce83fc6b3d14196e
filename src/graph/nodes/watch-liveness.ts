import type { Board } from '../../model/plan/board.ts';
import { plainJson } from '../../model/json.ts';
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

export function watchLiveness({ ports }: NodeContext): LivenessWatch {
  const spawned = new Map<string, number>();
  /** When a wall was first seen here: after a crash its grace begins anew. */
  const walls = new Map<string, number>();

  const spawnedAt = (id: string): number | null => {
    const known = spawned.get(id) ?? ports.ledger.attempt(id)?.spawnedAt ?? null;
    if (known !== null) spawned.set(id, known);
    return known;
  };

  const seen = (live: LiveErrand, board: Board): WorkEvent | undefined => {
    const { attempt, state, errand } = live;
    const id = planAttemptId(ports, attempt);
    const activity = ports.attempts.activity(id);
    if (activity === undefined || state.stop !== null) return undefined;
    const now = ports.clock.now();
    if (state.wall === null) walls.delete(id);
    else if (!walls.has(id)) walls.set(id, now);
    const decision = decideLiveness(
      {
        spawnedAt: spawnedAt(id),
        lastSignAt: activity.lastSignOfLifeAt,
        firstToolAt: activity.firstToolAt ?? null,
        walledAt: walls.get(id) ?? null,
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

  return {
    look: (board) => {
      const news = liveErrandsOf(board).flatMap((live) => {
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
