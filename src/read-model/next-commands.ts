import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { phaseOf } from '../model/run-state.ts';
import { LIMITS } from '../model/limits.ts';
import { capUseOf } from './cap-use.ts';
import type { RunStanding } from './run-state.ts';
import type { RunReading } from './read-run.ts';

/** Commands that continue the run, the most likely first; empty while an engine is running or if all is done. */
export function nextCommandsOf(
  reading: RunReading,
  { state, waitingFor }: RunStanding,
  failures: readonly TaskFailure[],
): string[] {
  const { row } = reading;
  const phase = phaseOf(state);
  if (phase === 'finished') return [...new Set(failures.flatMap(({ next }) => next))];
  if (waitingFor?.for === 'answer') {
    return waitingFor.questions.map(
      ({ id, options: [first] }) =>
        `squad answer ${shellWord(plainLine(id))} ${first === undefined ? '"…"' : shellWord(plainLine(first))}`,
    );
  }
  if (phase !== 'stopped') return [];
  return [`squad resume ${row.name}${raised(reading)}`];
}

/** The option that raises the limit reached, because the run would only stop there again. */
function raised(reading: RunReading): string {
  if (reading.decided?.next !== 'stop' || reading.decided.because !== 'limit') return '';
  const reached = capUseOf(reading).filter(({ level, reached: over }) => level === 'run' && over);
  return reached
    .map(({ limit, most }) => {
      const flag = LIMITS.find(({ key }) => key === limit)?.flag;
      return flag === undefined ? '' : ` ${flag.name} ${2 * Math.ceil(most)}`;
    })
    .join('');
}
