import { writeAgainCommand } from '../model/folder-written.ts';
import { LIMITS } from '../model/limit-table.ts';
import type { WorkPlace } from '../model/work-place.ts';
import { phaseOf, type RunState } from '../model/run-state.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { capUseOf } from './cap-use.ts';
import { playCommandOf } from './play-command.ts';
import type { RunReading } from './read-run.ts';
import { endsAtDeadline, type RunStanding } from './run-state.ts';

/** On its branch, as it was delivered. */
const AS_DELIVERED: WorkPlace = { at: 'branch' };

/** Commands that continue the run, the most likely first; empty while an engine is running. */
export function nextCommandsOf(
  reading: RunReading,
  { state, waitingFor }: RunStanding,
  failures: readonly TaskFailure[],
  now: number,
  place: WorkPlace = AS_DELIVERED,
): string[] {
  const phase = phaseOf(state);
  if (phase === 'finished') {
    const { madeAt } = reading.published ?? {};
    const run = madeAt === undefined ? [] : [playCommandOf(madeAt, reading.definition.options)];
    const write = reading.folderProblem === null ? [] : [writeAgainCommand(reading.row.name)];
    const retry = failures.flatMap(({ next }) => next);
    return [...new Set([...write, ...retry, ...run, ...deliveredCommands(reading, state, place)])];
  }
  if (waitingFor?.for === 'answer') {
    return waitingFor.questions.map(({ id, options: [first] }) => answerCommand(id, first));
  }
  if (phase !== 'stopped') return [];
  return [resumeCommand(reading, now)];
}

function deliveredCommands(
  { row: { name }, board, published }: RunReading,
  state: RunState,
  place: WorkPlace,
): string[] {
  if (published?.branch === undefined || board.branch.head === board.facts.base) return [];
  return workCommands(name, state === 'done', place);
}

/** What `placeOfWork` looks for. */
export function workOf({ row, board }: Pick<RunReading, 'row' | 'board'>) {
  return { run: row.name, base: board.facts.base, delivered: board.branch.head };
}

/** What can be done with the work that was delivered, wherever it is now: diff, then merge, then drop. No command that is refused. */
export function workCommands(name: string, isDone: boolean, { at, before }: WorkPlace = AS_DELIVERED): string[] {
  const after = before === undefined ? '' : `${before} && `;
  switch (at) {
    case 'gone':
      return [];
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
