import type { Board, TaskState } from '../model/plan/board.ts';
import { reasons } from '../text/reasons.ts';
import { failedReviewsOf, judgedStagesOf } from './failed-reviews.ts';

type BoardPart = Pick<Board, 'facts' | 'tasks' | 'records' | 'gate'>;

/** Most of it that the reason of a failed run repeats. The rest is in its report. */
const MOST = 300;
/** Most problems of one moment that it names. */
const MOST_NAMED = 3;

/**
 * The first cause of a failed run, if its last failure came from it: a skipped task of a stalled agent, or failed checks or judges of
 * merged work whose repair failed too. undefined: `why` already says it.
 */
export function firstCauseOf(board: BoardPart, why: string): string | undefined {
  const said = reasons(why);
  const known = [...skipsOf(board), ...refusalOf(board)].toSorted((one, other) => one.at - other.at);
  const all =
    known.length > 0
      ? known.map(({ texts }) => texts)
      : rejectionsOf(board)
          .slice(0, 1)
          .map((one) => [one]);
  const causes = all
    .map((texts) => texts.map((text) => reasons(beginningOf(text))).filter((text) => !said.includes(text)))
    .filter((texts) => texts.length > 0);
  const most = Math.floor(MOST / Math.min(causes.flat().length, MOST_NAMED));
  return causes.length === 0 ? undefined : causes.map((texts) => listed(texts, most)).join('\nafter that: ');
}

function listed(texts: readonly string[], most: number): string {
  const named = texts.slice(0, MOST_NAMED).map((text) => cut(text, most));
  return [...named, ...(texts.length > MOST_NAMED ? [`${texts.length - MOST_NAMED} more`] : [])].join('; ');
}

/** Work that no person left out; undefined: it was not skipped so. */
export function stallSkip({ task, work: { phase } }: TaskState): string | undefined {
  if (phase.at !== 'ended' || phase.as !== 'skipped' || phase.cause === null) return undefined;
  return `${task.id} was skipped because its agent stalled: ${phase.why.replace(/^stalled: /, '')}`;
}

interface Known {
  readonly at: number;
  readonly texts: readonly string[];
}

/** All of them in their order, where the first one is. */
function skipsOf({ tasks }: BoardPart): Known[] {
  const skips = [...tasks.values()]
    .flatMap((state) => {
      const text = stallSkip(state);
      return text === undefined ? [] : [{ at: state.at.ended ?? 0, text }];
    })
    .toSorted((one, other) => one.at - other.at);
  const [first] = skips;
  return first === undefined ? [] : [{ at: first.at, texts: skips.map(({ text }) => text) }];
}

/** The run was proposed as done, and no later proposal was better. */
function refusalOf({ gate: { problems } }: BoardPart): Known[] {
  return problems === undefined ? [] : [problems];
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

/** The first line, and what it leads to: after a colon, or as a list. */
function beginningOf(text: string): string {
  const [first = '', ...more] = text.trim().split('\n');
  const line = first.endsWith(':') || more[0]?.startsWith('- ') === true ? [first, ...more].join('\n') : first;
  return cut(line, MOST);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
