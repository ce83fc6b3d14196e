import type { FollowRecord, FollowRound } from '../../model/forge/follow-record.ts';
import type { FollowSettings } from '../../model/forge/follow-settings.ts';

type Answered = FollowRound['comments'][number];

interface SeenCheck {
  readonly name: string;
  readonly id: string;
  readonly state: 'pending' | 'passed' | 'failed';
  readonly tries: number;
  readonly failedBefore: boolean;
  readonly canRepeat: boolean;
}

interface SeenComment extends Answered {
  readonly by: string;
  readonly at: number;
  /** squad wrote it: not an input. */
  readonly isOwn: boolean;
}

/** What was looked up. `roles` has everyone whose comment or approval is new. */
export interface SeenPull {
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  readonly head: string;
  readonly base: string;
  readonly baseHead: string;
  readonly isFork: boolean;
  readonly merge: 'clean' | 'behind' | 'conflict' | 'other';
  readonly mergesItself: boolean;
  readonly checks: readonly SeenCheck[];
  readonly comments: readonly SeenComment[];
  readonly approvals: readonly {
    readonly by: string;
    readonly says: 'approved' | 'changes';
    readonly commit: string;
  }[];
  readonly roles: Readonly<Record<string, 'owner' | 'member' | 'none'>>;
}

export interface FollowView {
  readonly now: number;
  readonly record: FollowRecord;
  readonly settings: FollowSettings & { readonly merges: boolean };
  /** How its run is. `head`: of the run branch. */
  readonly run: { readonly at: 'work' | 'done' | 'failed' | 'gone'; readonly head: string };
  readonly pull: SeenPull | 'gone';
}

export type FollowAction =
  | { readonly do: 'end'; readonly state: 'merged' | 'closed' | 'over'; readonly why: string }
  /** Only a person can say what is right: `squad pr follow` continues. */
  | { readonly do: 'hold'; readonly why: string }
  | { readonly do: 'repeat'; readonly check: SeenCheck }
  | { readonly do: 'note-flaky'; readonly check: string }
  | { readonly do: 'instruct'; readonly checks: readonly SeenCheck[]; readonly comments: readonly Answered[] }
  | { readonly do: 'catch-up'; readonly branch: string; readonly commit: string }
  | { readonly do: 'answer'; readonly comment: Answered; readonly commit: string | null }
  | { readonly do: 'close-round' }
  | { readonly do: 'ask-merge' }
  | { readonly do: 'wait'; readonly why: string; readonly soon: boolean };

const DAY_MS = 86_400_000;
/** A reviewer writes several comments one after the other. */
const SETTLE_MS = 120_000;
/** A check that never ends does not hold up comments for longer. */
const PATIENCE_MS = 30 * 60_000;
/** A check that was asked to run again has begun by then. */
const REPEAT_MS = 10 * 60_000;
/** Of one round. */
export const MOST_INPUTS = 25;

/** The one thing to do next about a followed pull request. */
export function decideFollow(view: FollowView): FollowAction {
  const { record, run, pull } = view;
  return (
    ended(view) ?? (pull === 'gone' ? GONE : (inRound(view, pull) ?? moved(record, run, pull) ?? inputs(view, pull)))
  );
}

const GONE: FollowAction = { do: 'hold', why: 'the pull request, its repository, or the right to see them is gone' };

function ended({ now, record, settings, pull }: FollowView): FollowAction | undefined {
  if (pull !== 'gone' && pull.state !== 'open')
    return { do: 'end', state: pull.state, why: `the pull request is ${pull.state}` };
  // Its round is finished and answered first.
  if (record.round !== undefined || now <= record.since + settings.days * DAY_MS) return undefined;
  return { do: 'end', state: 'over', why: `it was followed for ${settings.days} days` };
}

/** While the run works on what was asked for, and until each comment has its answer. */
function inRound({ record, run, now }: FollowView, pull: SeenPull): FollowAction | undefined {
  const { round } = record;
  if (run.at === 'work') return { do: 'wait', why: 'its run works', soon: true };
  if (run.at === 'gone') return { do: 'end', state: 'over', why: 'its run was removed' };
  if (run.at === 'failed') return { do: 'hold', why: 'its run has failed' };
  if (round === undefined) return undefined;
  if (pull.head !== run.head) {
    if (now < round.at + PATIENCE_MS) return { do: 'wait', why: 'the forge does not have the push yet', soon: true };
    return { do: 'hold', why: `its branch is not at what the run delivered, ${run.head.slice(0, 12)}` };
  }
  const open = round.comments.find(({ id }) => !record.handled.includes(id));
  if (open === undefined) return { do: 'close-round' };
  return { do: 'answer', comment: open, commit: run.head === round.head ? null : run.head };
}

function moved(record: FollowRecord, run: FollowView['run'], pull: SeenPull): FollowAction | undefined {
  if (pull.isFork) return { do: 'hold', why: 'it comes from a fork, and squad pushes to the repository itself alone' };
  if (pull.head === record.head && run.head === record.head) return undefined;
  const now = pull.head === record.head ? `here: ${run.head.slice(0, 12)}` : `there: ${pull.head.slice(0, 12)}`;
  return { do: 'hold', why: `its branch was moved by another than squad (${now})` };
}

function inputs(view: FollowView, pull: SeenPull): FollowAction {
  const { record, settings, now } = view;
  const key = (check: SeenCheck): string => `${check.name}@${pull.head}`;
  const flaky = pull.checks.find(
    (one) =>
      one.state === 'passed' &&
      one.failedBefore &&
      !record.flaky.some(({ check, commit }) => check === one.name && commit === pull.head),
  );
  if (flaky !== undefined) return { do: 'note-flaky', check: flaky.name };
  const repeatedAt = (one: SeenCheck): number | undefined =>
    record.repeated.find(({ check }) => check === key(one))?.at;
  const failed = pull.checks.filter(({ state }) => state === 'failed');
  const first = failed.find((one) => one.tries === 1 && one.canRepeat && repeatedAt(one) === undefined);
  if (first !== undefined) return { do: 'repeat', check: first };
  const isAgain = (one: SeenCheck): boolean => one.tries === 1 && now < (repeatedAt(one) ?? -REPEAT_MS) + REPEAT_MS;
  const pending = pull.checks.filter((one) => one.state === 'pending' || (one.state === 'failed' && isAgain(one)));
  const checks = failed.filter((one) => !isAgain(one) && !record.asked.includes(key(one)));
  const comments = pull.comments.filter((one) => isInput(view, pull, one));
  const [newest, oldest] = [Math.max(...comments.map(({ at }) => at)), Math.min(...comments.map(({ at }) => at))];
  if (checks.length + comments.length > 0) {
    if (comments.length > 0 && now < newest + SETTLE_MS && now < oldest + PATIENCE_MS)
      return { do: 'wait', why: 'a person may still be writing', soon: true };
    if (pending.length > 0 && (comments.length === 0 || now < oldest + PATIENCE_MS))
      return { do: 'wait', why: 'checks are running', soon: false };
    if (record.rounds >= settings.rounds)
      return { do: 'end', state: 'over', why: `it had ${settings.rounds} rounds, and still needs work` };
    return instruct(checks, comments);
  }
  if (pending.length > 0) return { do: 'wait', why: 'checks are running', soon: false };
  return settled(view, pull, failed.length > 0);
}

function instruct(checks: readonly SeenCheck[], comments: readonly SeenComment[]): FollowAction {
  const some = checks.slice(0, MOST_INPUTS);
  return {
    do: 'instruct',
    checks: some,
    comments: comments.slice(0, MOST_INPUTS - some.length).map(({ id, on, thread }) => ({ id, on, thread })),
  };
}

function isInput({ record, settings }: FollowView, { roles }: SeenPull, { id, by, isOwn }: SeenComment): boolean {
  return !isOwn && !record.handled.includes(id) && settings.by.some((role) => role === roles[by]);
}

/** Nothing is left to do for an agent. */
function settled({ record, settings }: FollowView, pull: SeenPull, isRed: boolean): FollowAction {
  const { head, merge } = pull;
  if ((merge === 'behind' || merge === 'conflict') && !record.caughtUp.includes(`${head}+${pull.baseHead}`))
    return { do: 'catch-up', branch: pull.base, commit: pull.baseHead };
  const allowed = pull.approvals.filter(({ by }) => settings.by.some((role) => role === pull.roles[by]));
  const approved = allowed.some(({ says, commit }) => says === 'approved' && commit === head);
  const refused = allowed.some(({ says }) => says === 'changes');
  const asks = settings.merges && approved && !refused && !isRed && !pull.isDraft && merge !== 'conflict';
  if (asks && !pull.mergesItself && record.mergeAsked !== head) return { do: 'ask-merge' };
  return { do: 'wait', why: isRed ? 'checks fail, and its agent changed nothing' : 'it waits for people', soon: false };
}

const SOON_MS = 60_000;
const [LEAST_MS, LONGEST_MS] = [120_000, 10 * 60_000];

/** When to look again: less often, the longer nothing has changed. At three requests for a look these are 30 an hour at most. */
export function nextLook(now: number, changed: number, soon: boolean): number {
  return now + (soon ? SOON_MS : Math.min(Math.max((now - changed) / 2, LEAST_MS), LONGEST_MS));
}
