import type { Agreed, Begun, ComingRun, Looked, PackedRuns } from './move-messages.ts';
import type { MovePlace } from '../../model/moved-mark.ts';

/** A repository from which runs go, or to which they come: on this machine, or on another one by way of ssh. */
export interface MovingSide {
  /** How the other side's mark names it. */
  readonly url: string | undefined;
  /** `coming`: the runs that are to come here. Changes nothing. */
  look(coming?: readonly ComingRun[]): Promise<Looked>;
  /**
   * Ends the engine, marks the runs so that none starts, and packs them. `now`: ends their turns too, and does not wait for them. A failure
   * leaves the runs as they were.
   */
  pack(move: string, other: MovePlace, now: boolean): Promise<PackedRuns>;
  /** The path, on this machine, of the pack that `pack` made. */
  fetch(move: string): Promise<string>;
  /** Lets the runs go: from here on they belong to the other side. Throws where the move is not the one that is marked. */
  commit(move: string, other: MovePlace): Promise<void>;
  /** The runs stay. Does nothing once they are let go. */
  goBack(move: string): Promise<void>;
  /** Removes the pack, which is kept until the other side is known to have all. */
  done(move: string): Promise<void>;
  /** Takes the runs over, marked so that no engine starts. Returns the id of the state here. */
  take(move: string, other: MovePlace, pack: string, agreed: readonly Agreed[]): Promise<string>;
  /** Undoes `take`. */
  discard(move: string): Promise<void>;
  /** The runs are here: releases them, and continues one in the background. Safe to repeat. */
  begin(move: string, run: string | undefined): Promise<Begun>;
}
