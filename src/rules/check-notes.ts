import type { Board } from '../model/plan/board.ts';
import type { CheckChanges, CheckFacts, CheckNotes } from '../model/plan/gate.ts';

const NONE: CheckNotes = { flaky: [], changed: [] };

/** Notes from the checks of all tasks and from those of the run branch at its end. */
export function checkNotesOf({ tasks, gate }: Pick<Board, 'tasks' | 'gate'>): CheckNotes {
  return [...tasks.values()].reduce((notes, { work }) => merged(notes, work.noted), gate.noted ?? NONE);
}

/** A part of the closing word; undefined: none was flaky. */
export function flakyText({ flaky }: CheckNotes): string | undefined {
  if (flaky.length === 0) return undefined;
  return `flaky (failed and passed on the same commit): ${flaky.map((run) => `\`${run}\``).join(', ')}`;
}

/** Adds the notes to `given`, without a `noted` field if there are none. */
export function noting<T extends { readonly noted?: CheckNotes }>(given: T, more: CheckNotes): T {
  if (more.flaky.length + more.changed.length === 0) return given;
  return { ...given, noted: merged(given.noted, more) };
}

export function notesIn(ran: readonly CheckFacts[]): CheckNotes {
  return { flaky: ran.flatMap(({ run, flaky }) => (flaky === true ? [run] : [])), changed: changesOf(ran) };
}

export function changesOf(ran: readonly CheckFacts[]): CheckChanges[] {
  return ran.flatMap(({ run, changed }) => (changed === undefined ? [] : [{ run, ...changed }]));
}

/** Keeps the first note about each command. */
function merged(first: CheckNotes = NONE, next: CheckNotes = NONE): CheckNotes {
  const isNew = ({ run }: CheckChanges): boolean => !first.changed.some((one) => one.run === run);
  return {
    flaky: [...new Set([...first.flaky, ...next.flaky])],
    changed: [...first.changed, ...next.changed.filter(isNew)],
  };
}
