import type { Board, TaskState } from '../../model/plan/board.ts';
import { reasons } from '../../text/reasons.ts';
import { failedReviewsOf, judgedStagesOf } from './failed-reviews.ts';

type BoardPart = Pick<Board, 'facts' | 'tasks' | 'records' | 'gate'>;

/** Most of it that the reason of a failed run repeats. The rest is in its report. */
const MOST = 300;

/**
 * What went wrong first in a run that failed at something that came later: a stalled agent's task was skipped, or the merged work
 * failed a check or its judges, and what should have repaired that failed in its turn. undefined: `why` says it already.
 */
export function firstCauseOf(board: BoardPart, why: string): string | undefined {
  const said = reasons(why);
  const causes = [...skipsOf(board), ...refusalsOf(board)].toSorted((one, other) => one.at - other.at);
  const [first] = [...causes.map(({ text }) => text), ...rejectionsOf(board)].map((text) => reasons(beginningOf(text)));
  return first === undefined || said.includes(first) ? undefined : first;
}

/** Work that no person left out; undefined: it was not skipped so. */
export function stallSkip({ task, work: { phase } }: TaskState): string | undefined {
  if (phase.at !== 'ended' || phase.as !== 'skipped' || phase.cause === null) return undefined;
  return `${task.id} was skipped because its agent stalled: ${phase.why}`;
}

interface Known {
  readonly at: number;
  readonly text: string;
}

function skipsOf({ tasks }: BoardPart): Known[] {
  return [...tasks.values()].flatMap((state) => {
    const text = stallSkip(state);
    return text === undefined ? [] : [{ at: state.at.ended ?? 0, text }];
  });
}

/** The run was proposed as done, and no later proposal was better. */
function refusalsOf({ gate: { problems } }: BoardPart): Known[] {
  return (problems?.texts ?? []).map((text) => ({ at: problems?.at ?? 0, text }));
}

/** The last verdicts of stages that judge the whole, where work follows their rejection. */
function rejectionsOf(board: BoardPart): string[] {
  const final = new Set(failedReviewsOf(board).map(({ stage }) => stage));
  return judgedStagesOf(board).flatMap(({ stage, rounds }) => {
    const last = rounds.at(-1);
    if (last === undefined || last.approved || final.has(stage)) return [];
    return [`${stage} rejected the work:\n${last.text}`];
  });
}

/** The first line, and what it leads to. */
function beginningOf(text: string): string {
  const [first = '', ...more] = text.trim().split('\n');
  const line = first.endsWith(':') ? [first, ...more].join('\n') : first;
  return line.length <= MOST ? line : `${line.slice(0, MOST - 1).toWellFormed()}…`;
}
