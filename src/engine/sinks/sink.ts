import type { Board } from '../../model/plan/board.ts';
import type { RunState } from '../../model/run-state.ts';

/** A state of a run. `running`: an engine works on it; otherwise how its engine has ended its work. */
export interface Moment {
  readonly board: Board;
  readonly state: RunState;
}

/** Where a run leaves what people read: in a folder of its own, and in one of theirs. */
export interface Sink {
  readonly folder: string;
  /** Writes what has changed since the last call. Throws the first error, after it has written what it can. */
  write(moment: Moment): Promise<void>;
  /** Help for a person if it is not complete at the end; absent: the next engine writes it. */
  readonly next?: string;
}
