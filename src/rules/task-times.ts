import type { TaskState, TaskTimes } from '../model/plan/board.ts';
import type { Work } from '../model/plan/work.ts';

/** The times of a task after a step at `now`. The first start and the newest review count; an end counts until the task is opened again. */
export function timesAfter({ at, work: before }: TaskState, work: Work, now: number): TaskTimes {
  const { phase } = work;
  const isEnd = phase.at === 'ended';
  const { ended, ...begun } = at;
  const hasBegun = work.attempts > 0 || (phase.at !== 'working' && !isEnd);
  const started = begun.started ?? (hasBegun ? now : undefined);
  const judged = phase.at === 'reviewing' && before.phase.at !== 'reviewing' ? now : begun.judged;
  const end = isEnd ? (before.phase === phase ? ended : now) : undefined;
  if (started === at.started && judged === at.judged && end === ended) return at;
  return {
    added: at.added,
    ...(started === undefined ? {} : { started }),
    ...(judged === undefined ? {} : { judged }),
    ...(end === undefined ? {} : { ended: end }),
  };
}
