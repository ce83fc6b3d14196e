import { costText } from '../../model/amount.ts';
import type { IntakeSettings } from '../../model/forge/settings.ts';
import { fenceFor, quoteBlock } from '../../text/fence.ts';
import { plainLine, shortText } from '../../text/plain-text.ts';

const MOST_HEADLINE = 500;
const MOST_QUESTION = 4_000;
const MOST_OPTIONS = 20;

/** The run of an issue, as it is now. */
export interface IssueRun {
  readonly name: string;
  readonly state: 'open' | 'over';
  /** It waits for a person, besides for answers: why, in words of squad's own. */
  readonly held?: string | undefined;
  /** It was over before. */
  readonly isAgain?: boolean;
  readonly questions: readonly { readonly id: string; readonly text: string; readonly options: readonly string[] }[];
  readonly end?:
    | {
        readonly outcome: 'done' | 'failed' | 'cancelled';
        readonly headline: string;
        readonly cost: Parameters<typeof costText>[0];
        /** The address of its pull request. */
        readonly pr?: string | undefined;
        readonly branch?: string | undefined;
      }
    | undefined;
}

/** A text of agents in a comment. Within a fence it names no person, closes no issue and loads no picture. */
function quoted(text: string, most: number): string {
  return quoteBlock(shortText(text, most));
}

/** One line as code, which nothing in it can end. */
export function asCode(text: string): string {
  const line = plainLine(text, 300);
  const fence = line.includes('`') ? fenceFor(line) : '`';
  const pad = line.includes('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** The one comment about a run, which is edited in its place. */
export function statusText({ name, state, held, isAgain = false, questions, end }: IssueRun): string {
  const run = asCode(name);
  if (state === 'over') {
    if (end === undefined) return `squad: the run ${run} is over.`;
    const { outcome, headline, cost, pr, branch } = end;
    const link = pr === undefined ? [] : [`Pull request: ${pr}`];
    const work = pr !== undefined || branch === undefined ? [] : [`Its work is on the branch ${asCode(branch)}.`];
    return [
      `squad: the run ${run} is **${outcome}**.`,
      quoted(headline, MOST_HEADLINE),
      ...[`Cost: ${cost.costUsd === null ? 'unknown' : costText(cost)}`, ...link, ...work],
    ].join('\n\n');
  }
  if (held !== undefined) return `squad: the run ${run} waits: ${held}`;
  if (questions.length > 0) return `squad: the run ${run} waits for an answer: see the question below.`;
  return `squad works on this issue${isAgain ? ' again' : ''}: the run ${run}.`;
}

const WHO: Readonly<Record<IntakeSettings['by'][number], string>> = {
  owner: 'people who may change the settings of this repository',
  member: 'people who may push to this repository',
};

function whoText(by: IntakeSettings['by']): string {
  return WHO[by.includes('member') ? 'member' : 'owner'];
}

/** `number`: by which it is answered. */
export function questionText(
  { name }: Pick<IssueRun, 'name'>,
  { number, text, options }: { readonly number: number; readonly text: string; readonly options: readonly string[] },
  by: IntakeSettings['by'],
): string {
  const some = options.slice(0, MOST_OPTIONS);
  const [example = 'your answer'] = some;
  return [
    `squad: the run ${asCode(name)} asks (question ${number}):`,
    quoted(text, MOST_QUESTION),
    ...(some.length === 0 ? [] : [`Options: ${some.map(asCode).join(', ')}`]),
    `Answer with a comment that begins with ${asCode(`/squad q${number}`)}, such as ${asCode(`/squad q${number} ${example}`)}. ` +
      `Answers of ${whoText(by)} count.`,
  ].join('\n\n');
}

/** Says why a label started nothing. */
export function leftText(
  left: 'not-allowed' | 'edited' | 'not-started',
  by: IntakeSettings['by'],
  label: string,
): string {
  const set = `set the label ${asCode(label)} again`;
  switch (left) {
    case 'not-allowed':
      return `squad does not take this issue: the label was set by a person who may not. It counts if ${whoText(by)} ${set}.`;
    case 'edited':
      return `squad does not take this issue: its text was changed after the label was set. Read it, take the label away, and ${set}.`;
    case 'not-started':
      return `squad could not start a run for this issue. Its service says why on its own machine. Then take the label away, and ${set}.`;
    default:
      return left satisfies never;
  }
}

export const WITHDRAWN = {
  label: 'the label was taken away. Set it again, and it continues; the person who runs squad can cancel it.',
  closed: 'the issue is closed. Open it again, and it continues; the person who runs squad can cancel it.',
  gone: 'the issue cannot be read any more.',
} as const;
