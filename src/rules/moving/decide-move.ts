import { movedError, whereMoved, type MovedMark } from '../../model/moved-mark.ts';
import { usageError, type SquadError } from '../../model/errors.ts';
import { noRunYet } from '../../model/unknown-name.ts';

/** One of the two repositories of a move. */
export interface MoveSide {
  /** As a person finds it. */
  readonly shown: string;
  /** The id of its state. Absent: it has none yet. */
  readonly id?: string | undefined;
  readonly hasRuns: boolean;
  readonly mark?: MovedMark | undefined;
}

/**
 * `move`: from the beginning. `go-back`: the source has not let the runs go, so that they stay, and the move begins anew. `take`: it has let
 * them go, and the target does not have them. `begin`: the target has them.
 */
type MoveStep =
  | { readonly do: 'move' }
  | { readonly do: 'go-back' }
  | { readonly do: 'take' | 'begin'; readonly move: string }
  | { readonly do: 'refuse'; readonly error: SquadError };

/** The next step of a move, from what a crash of it, or an earlier move, has left on both sides. */
export function decideMove(source: MoveSide, target: MoveSide): MoveStep {
  const { mark } = source;
  if (mark?.type === 'moving') return { do: 'go-back' };
  if (mark?.type === 'moved') return finish(mark, source, target);
  const away = mark && movedError(mark);
  if (away !== undefined) return { do: 'refuse', error: away };
  if (!source.hasRuns) return { do: 'refuse', error: noRunYet() };
  const error = refusalOf(source, target);
  return error === undefined ? { do: 'move' } : { do: 'refuse', error };
}

/** The source has let the runs go. */
function finish(mark: MovedMark, source: MoveSide, target: MoveSide): MoveStep {
  const { move, other } = mark;
  if (target.id !== undefined && target.id === other.id) {
    const has = target.mark?.move === move && (target.mark.type === 'here' || target.mark.type === 'arriving');
    if (has) return { do: 'begin', move };
    if (isOwn(source, target)) return { do: 'take', move };
  }
  const onward = target.mark && target.id === other.id ? movedError(target.mark) : undefined;
  return { do: 'refuse', error: onward ?? movedError(mark) ?? noRunYet() };
}

/** Nothing stands there, or a copy of an earlier move between the two, which no engine may use. */
function isOwn({ id }: MoveSide, { mark, hasRuns }: MoveSide): boolean {
  if (mark?.type === 'arriving' || mark?.type === 'moved') return mark.other.id === id && id !== undefined;
  return mark === undefined && !hasRuns;
}

function refusalOf(source: MoveSide, target: MoveSide): SquadError | undefined {
  if (target.mark === undefined || target.mark.type === 'here')
    return target.hasRuns
      ? usageError(
          `the repository at ${target.shown} has runs of its own`,
          'Look at them there with `squad runs`, or move into a new clone.',
        )
      : undefined;
  if (isOwn(source, target)) return undefined;
  return usageError(
    `the repository at ${target.shown} is not free: there, ${whereMoved(target.mark) ?? ''}`,
    'Bring those back first, or move into a new clone.',
  );
}
