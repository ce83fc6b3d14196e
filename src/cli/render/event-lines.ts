import type { RunEvent } from '../../model/run-event.ts';
import { isShown, levelOf, type LogLevel } from './event-level.ts';
import { renderRunEvent } from './run-lines.ts';

/** The lines of a run's events. A board shows the work itself, so that only results and problems become lines beside it. */
export function createLines(chosen: LogLevel, board: { readonly isOpen: () => boolean } | undefined) {
  let waited: string | undefined;
  /** A waiting run repeats its decision to wait after every input. */
  const isRepeated = (line: string, { type }: RunEvent): boolean => {
    if (type !== 'decided') return false;
    const same = line === waited;
    waited = line;
    return same;
  };
  const isWanted = (event: RunEvent): boolean => {
    // The end, which follows, says it.
    if (event.type === 'decided' && event.next === 'finish') return false;
    if (board?.isOpen() !== true || chosen !== 'info') return isShown(levelOf(event), chosen);
    // It stands on the board until it has an answer.
    if (event.type === 'question-asked') return false;
    return isShown(levelOf(event), 'warn') || (event.type === 'task-changed' && event.status === 'done');
  };
  return (event: RunEvent): string | undefined => {
    const line = isWanted(event) ? renderRunEvent(event) : undefined;
    return line === undefined || isRepeated(line, event) ? undefined : line;
  };
}
