import { stateLabel, type IssueRecord, type IssueState } from '../../model/forge/issue-record.ts';
import type { IntakeSettings } from '../../model/forge/settings.ts';
import { inIssueOrder } from './issue-order.ts';
import { statusText, WITHDRAWN, type IssueRun } from './issue-posts.ts';

interface ListedNow {
  readonly number: number;
  readonly labels: readonly string[];
  readonly changed: string;
}

export interface IntakeView {
  readonly settings: IntakeSettings;
  /** The open issues with the label, as the forge listed them last. */
  readonly listed: readonly ListedNow[];
  /** By number. */
  readonly records: ReadonlyMap<number, IssueRecord>;
  /** By id; absent: it is not submitted yet. */
  readonly runs: ReadonlyMap<string, IssueRun>;
  /** A cap of the day holds back new runs. */
  readonly isCapped: boolean;
  /** Keys of what was tried in this step: each is tried once. */
  readonly tried: ReadonlySet<string>;
}

/** Each is safe to repeat. `number`: of the issue. */
export type IntakeDecision =
  | { readonly do: 'wait' }
  /** Starts the run whose text is on record. */
  | { readonly do: 'submit'; readonly number: number }
  /** Looks who set the label, and takes the issue or leaves it. */
  | { readonly do: 'look'; readonly number: number; readonly changed: string }
  | { readonly do: 'say-left'; readonly number: number }
  | { readonly do: 'say'; readonly number: number; readonly text: string }
  | { readonly do: 'label'; readonly number: number; readonly state: IssueState; readonly remove: readonly string[] }
  | { readonly do: 'ask'; readonly number: number; readonly question: IssueRun['questions'][number] }
  | { readonly do: 'hear'; readonly number: number; readonly open: readonly string[] }
  /** Looks why its issue is not listed, or whether it is back: pauses or resumes the run. */
  | { readonly do: 'check'; readonly number: number }
  | { readonly do: 'close'; readonly number: number }
  /** Its run was over, and works again. */
  | { readonly do: 'reopen'; readonly number: number };

export function keyOf(decision: IntakeDecision): string {
  if (decision.do === 'wait') return decision.do;
  return `${decision.do}/${decision.number}${decision.do === 'ask' ? `/${decision.question.id}` : ''}`;
}

/** The one thing that is next. Runs that are there come before new ones. */
export function decideIntake(view: IntakeView): IntakeDecision {
  const { records, tried } = view;
  const all = [...records.values()].toSorted((a, b) => a.number - b.number);
  const about = all.filter(({ gone }) => gone !== true).flatMap((record) => aboutRecord(view, record));
  return [...about, ...newOnes(view, all)].find((one) => !tried.has(keyOf(one))) ?? { do: 'wait' };
}

function aboutRecord(view: IntakeView, record: IssueRecord): IntakeDecision[] {
  const { number, run, text, over, left, comment } = record;
  if (left !== undefined) return comment === undefined ? [{ do: 'say-left', number }] : [];
  if (text !== undefined && run === undefined) return view.isCapped ? [] : [{ do: 'submit', number }];
  const now = run === undefined ? undefined : view.runs.get(run.id);
  if (run === undefined) return [];
  if (over === true) return now?.state === 'open' ? [{ do: 'reopen', number }] : [];
  // A run that was removed has nothing more to say.
  if (now === undefined) return [{ do: 'close', number }];
  return now.state === 'open' ? whileOpen(view, record, now) : atEnd(record, now);
}

function whileOpen({ listed }: IntakeView, record: IssueRecord, run: IssueRun): IntakeDecision[] {
  const { number, withdrawn, asked, reopened = false } = record;
  const isListed = listed.some((issue) => issue.number === number);
  const isAsked = (id: string): boolean => asked.some(({ question }) => question === id);
  const open = run.questions.filter(({ id }) => isAsked(id)).map(({ id }) => id);
  const held = withdrawn === undefined ? run.held : WITHDRAWN[withdrawn];
  const state = held !== undefined || run.questions.length > 0 ? 'waiting' : 'running';
  return [
    ...(reopened || isListed === (withdrawn === undefined) ? [] : [{ do: 'check' as const, number }]),
    ...say(record, statusText({ ...run, held, isAgain: reopened })),
    ...run.questions
      .filter(({ id }) => !isAsked(id))
      .map((question): IntakeDecision => ({ do: 'ask', number, question })),
    ...label(record, state),
    ...(open.length === 0 ? [] : [{ do: 'hear' as const, number, open }]),
  ];
}

function atEnd(record: IssueRecord, run: IssueRun): IntakeDecision[] {
  const { number } = record;
  // How a run ended is not known if another version of squad ended it.
  const state = run.end === undefined ? record.label : run.end.outcome === 'done' ? 'done' : 'failed';
  const todo = [...say(record, statusText(run)), ...(state === undefined ? [] : label(record, state))];
  return todo.length === 0 ? [{ do: 'close', number }] : todo;
}

function say({ number, comment }: IssueRecord, text: string): IntakeDecision[] {
  return comment?.says === text ? [] : [{ do: 'say', number, text }];
}

function label({ number, label: shown }: IssueRecord, state: IssueState): IntakeDecision[] {
  if (shown === state) return [];
  const others = (['running', 'waiting', 'done', 'failed'] as const).filter((one) => one !== state);
  return [{ do: 'label', number, state, remove: others.map(stateLabel) }];
}

/** As many as there is room for, the most urgent first. */
function newOnes(
  { settings, listed, records, runs, isCapped }: IntakeView,
  all: readonly IssueRecord[],
): IntakeDecision[] {
  const isAtWork = ({ run, text }: IssueRecord): boolean =>
    run === undefined ? text !== undefined : runs.get(run.id)?.state === 'open';
  if (isCapped || all.filter(isAtWork).length >= settings.max) return [];
  const isNew = ({ number, changed }: ListedNow): boolean => {
    const record = records.get(number);
    if (record === undefined) return true;
    return !isAtWork(record) && (record.over === true || record.left !== undefined) && record.seen !== changed;
  };
  return inIssueOrder(listed.filter(isNew)).map(({ number, changed }) => ({ do: 'look', number, changed }));
}
