import { writeAgainCommand } from '../model/folder-written.ts';
import { LIMITS } from '../model/limit-table.ts';
import type { WorkPlace } from '../model/work-place.ts';
import { phaseOf } from '../model/run-state.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { choicesOf } from '../rules/choice.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { capUseOf } from './cap-use.ts';
import type { KeptRef } from './explain-failure.ts';
import { incomplete, type RunReading } from './read-run.ts';
import { endsAtDeadline, type RunStanding } from './run-state.ts';
import type { RunView } from './run-view.ts';

/** On its branch, as it was delivered. */
const AS_DELIVERED: WorkPlace = { at: 'branch' };

/** Commands that continue a run that is not over, the most likely first; empty while an engine is running. */
export function continueCommands(reading: RunReading, { state, waitingFor }: RunStanding, now: number): string[] {
  if (waitingFor?.for === 'answer') {
    return waitingFor.questions.map(({ id, options: [first] }) => answerCommand(id, first));
  }
  return phaseOf(state) === 'stopped' ? [resumeCommand(reading, now)] : [];
}

/** Commands after the end of a run, the most likely first. */
export function afterEnd(
  name: string,
  { again, hasWork, outcome }: Pick<NonNullable<RunView['end']>, 'again' | 'hasWork' | 'outcome'>,
  place: WorkPlace = AS_DELIVERED,
): string[] {
  return [...new Set([...again, ...(hasWork ? workCommands(name, outcome === 'done', place) : [])])];
}

/** Those of them that do not depend on where the work is now. */
export function againAfterEnd(reading: RunReading, failures: readonly TaskFailure[]): string[] {
  const { next } = reading.published ?? {};
  const write = incomplete(reading).length === 0 ? [] : [writeAgainCommand(reading.row.name)];
  return [...write, ...failures.flatMap((failure) => failure.next), ...(next === undefined ? [] : [next])];
}

/** The commands that show work which is done and was not chosen, as far as it is kept. */
export function otherWork({ row, board }: Pick<RunReading, 'row' | 'board'>, kept: readonly KeptRef[]): string[] {
  return [...choicesOf(board)].flatMap(([task, { as }]) => {
    const isKept = kept.some(({ ref }) => ref.startsWith(`refs/squad/${row.name}/${task}-`));
    return as === 'not-chosen' && isKept ? [`squad diff ${row.name} ${task}`] : [];
  });
}

/** Input of `placeOfWork`; undefined: the run has not published a branch. */
export function workOf({ row, board, published }: Pick<RunReading, 'row' | 'board' | 'published'>) {
  if (published?.branch === undefined) return undefined;
  return { run: row.name, base: board.facts.base, delivered: board.branch.head };
}

/** Commands for delivered work, wherever it is now: diff, then merge, then drop. None of them is refused. */
export function workCommands(name: string, isDone: boolean, { at, before, line }: WorkPlace = AS_DELIVERED): string[] {
  const after = before === undefined ? '' : `${before} && `;
  switch (at) {
    case 'gone':
      return [];
    case 'line':
      return [line === undefined ? 'squad sprint status' : `squad merge ${shellWord(plainLine(line))}`];
    case 'reset':
      return [`squad show ${name}`];
    case 'merged':
      return [`${after}squad drop ${name}`];
    case 'branch':
    case 'moved':
      return [`squad diff ${name}`, `${after}squad merge ${name}${isDone && at === 'branch' ? '' : ' --unverified'}`];
  }
}

export function answerCommand(id: string, first: string | undefined): string {
  return `squad answer ${shellWord(plainLine(id))} ${first === undefined ? '"…"' : shellWord(plainLine(first))}`;
}

/** With the options for the limit reached and the deadline passed, because the run would only stop there again. */
export function resumeCommand(reading: RunReading, now: number): string {
  const passed = endsAtDeadline(reading, now);
  const command = `squad resume ${reading.row.name}${passed === undefined ? '' : ' --past-deadline'}`;
  if (!isAtLimit(reading)) return command;
  const reached = capUseOf(reading).filter(({ level, reached: over }) => level === 'run' && over);
  const raises = reached.map(({ limit, most }) => {
    const flag = LIMITS.find(({ key }) => key === limit)?.flag;
    return flag === undefined ? '' : ` ${flag.name} ${2 * Math.ceil(most)}`;
  });
  return `${command}${raises.join('')}`;
}

/** The last engine stopped at a limit of the run. */
export function isAtLimit({ decided }: Pick<RunReading, 'decided'>): boolean {
  return decided?.next === 'stop' && decided.because === 'limit';
}
