import type { Answered, FollowRecord } from '../../model/forge/follow-record.ts';
import type { FollowSettings } from '../../model/forge/follow-settings.ts';
import { mayDecide } from './judge-issue.ts';

interface SeenCheck {
  readonly name: string;
  readonly id: string;
  readonly state: 'pending' | 'passed' | 'failed';
  readonly canRepeat: boolean;
}

interface SeenComment extends Answered {
  readonly by: string;
  readonly at: number;
}

/** A pull request as it was looked up. `roles` has all whose comments and approvals are here. */
export interface SeenPull {
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  readonly head: string;
  readonly base: string;
  readonly baseHead: string;
  readonly isFork: boolean;
  readonly merge: 'behind' | 'conflict' | 'other';
  readonly mergesItself: boolean;
  readonly checks: readonly SeenCheck[];
  /** Those that are not handled, and not squad's own. */
  readonly comments: readonly SeenComment[];
  readonly approvals: readonly {
    readonly by: string;
    readonly says: 'approved' | 'changes';
    readonly commit: string;
  }[];
  readonly roles: ReadonlyMap<string, 'owner' | 'member' | 'none'>;
}

export interface FollowView {
  readonly now: number;
  readonly record: FollowRecord;
  readonly settings: FollowSettings & { readonly merges: boolean };
  /** How its run is. `head`: of what it delivered. */
  readonly run: { readonly at: 'work' | 'done' | 'failed' | 'gone'; readonly head: string };
  readonly pull: SeenPull | 'gone';
}

export type FollowAction =
  | { readonly do: 'end'; readonly state: 'merged' | 'closed' | 'over'; readonly why: string }
  /** Only a person can say what is right. Once it is as before, it is followed again. */
  | { readonly do: 'hold'; readonly why: string }
  | { readonly do: 'repeat'; readonly check: SeenCheck }
  | { readonly do: 'note-flaky'; readonly check: SeenCheck }
  /** Begins a round: for its run, and then for those who wrote. */
  | { readonly do: 'plan'; readonly checks: readonly SeenCheck[]; readonly comments: readonly SeenComment[] }
  | { readonly do: 'catch-up'; readonly branch: string; readonly commit: string }
  /** Gives the round to the run. */
  | { readonly do: 'rework' }
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
/** In one round. */
const MOST_INPUTS = 25;

/** The one thing to do next about a followed pull request. */
export function decideFollow(view: FollowView): FollowAction {
  const { record, run, pull } = view;
  return (
    ended(view) ??
    (pull === 'gone' ? GONE : (stopped(pull) ?? inRound(view, pull) ?? moved(record, run, pull) ?? inputs(view, pull)))
  );
}

const GONE: FollowAction = { do: 'hold', why: 'the pull request, its repository, or the right to see them is gone' };
const FORK: FollowAction = {
  do: 'hold',
  why: 'it comes from a fork, and squad pushes to the repository itself alone',
};

function ended({ now, record, settings, run, pull }: FollowView): FollowAction | undefined {
  if (pull !== 'gone' && pull.state !== 'open')
    return { do: 'end', state: pull.state, why: `the pull request is ${pull.state}` };
  if (run.at === 'gone') return { do: 'end', state: 'over', why: 'its run was removed' };
  // Its round is finished and answered first.
  if (record.round !== undefined || now <= record.since + settings.days * DAY_MS) return undefined;
  return { do: 'end', state: 'over', why: `it was followed for ${settings.days} days` };
}

function stopped({ isFork }: SeenPull): FollowAction | undefined {
  return isFork ? FORK : undefined;
}

/** While the run works on what was asked for, and until each comment has its answer. */
function inRound({ record, run, now }: FollowView, pull: SeenPull): FollowAction | undefined {
  const { round } = record;
  if (round !== undefined && !round.asked) return { do: 'rework' };
  if (run.at === 'work') return { do: 'wait', why: 'its run works', soon: false };
  if (run.at === 'failed') return { do: 'hold', why: 'its run has not done what was asked for' };
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
  if (pull.head === record.head && run.head === record.head) return undefined;
  const now = pull.head === record.head ? `here: ${run.head.slice(0, 12)}` : `there: ${pull.head.slice(0, 12)}`;
  return { do: 'hold', why: `its branch was moved by another than squad (${now})` };
}

function inputs(view: FollowView, pull: SeenPull): FollowAction {
  const { record, settings, now } = view;
  const key = (check: SeenCheck): string => `${check.name}@${pull.head}`;
  const triesOf = (one: SeenCheck) => record.repeated.find(({ check }) => check === key(one));
  const flaky = pull.checks.find(
    (one) => one.state === 'passed' && triesOf(one) !== undefined && !record.flaky.includes(key(one)),
  );
  if (flaky !== undefined) return { do: 'note-flaky', check: flaky };
  const failed = pull.checks.filter(({ state }) => state === 'failed');
  const isGiven = (one: SeenCheck): boolean => record.given.includes(key(one));
  const first = failed.find((one) => one.canRepeat && triesOf(one) === undefined && !isGiven(one));
  if (first !== undefined) return { do: 'repeat', check: first };
  const isAgain = (one: SeenCheck): boolean => {
    const tried = triesOf(one);
    return tried !== undefined && tried.id === one.id && now < tried.at + REPEAT_MS;
  };
  const isPending = pull.checks.some((one) => one.state === 'pending' || (one.state === 'failed' && isAgain(one)));
  const checks = failed.filter((one) => !isAgain(one) && !isGiven(one));
  const comments = pull.comments.filter(({ by }) => mayDecide(pull.roles.get(by), settings.by));
  if (checks.length + comments.length > 0) {
    const wait = waitFor(now, isPending, comments);
    if (wait !== undefined) return wait;
    if (record.rounds >= settings.rounds)
      return { do: 'end', state: 'over', why: `it had ${settings.rounds} rounds, and still needs work` };
    const some = checks.slice(0, MOST_INPUTS);
    return { do: 'plan', checks: some, comments: comments.slice(0, MOST_INPUTS - some.length) };
  }
  if (isPending) return { do: 'wait', why: 'checks are running', soon: false };
  return settled(view, pull, failed.length > 0);
}

/** One turn is for all that is to be done: it waits for a person who still writes, and for checks, but not without end. */
function waitFor(now: number, isPending: boolean, comments: readonly SeenComment[]): FollowAction | undefined {
  const times = comments.map(({ at }) => at);
  const [newest, oldest] = [Math.max(...times), Math.min(...times)];
  const isPatient = comments.length === 0 || now < oldest + PATIENCE_MS;
  if (comments.length > 0 && isPatient && now < newest + SETTLE_MS)
    return { do: 'wait', why: 'a person may still be writing', soon: true };
  return isPending && isPatient ? { do: 'wait', why: 'checks are running', soon: false } : undefined;
}

/** Nothing is left to do for an agent. */
function settled({ record, settings }: FollowView, pull: SeenPull, isRed: boolean): FollowAction {
  const { head, merge } = pull;
  if (merge !== 'other' && !record.caughtUp.includes(`${head}+${pull.baseHead}`))
    return { do: 'catch-up', branch: pull.base, commit: pull.baseHead };
  const allowed = pull.approvals.filter(({ by }) => mayDecide(pull.roles.get(by), settings.by));
  const isApproved = allowed.some(({ says, commit }) => says === 'approved' && commit === head);
  const isRefused = allowed.some(({ says }) => says === 'changes');
  const isReady = isApproved && !isRefused && !isRed && !pull.isDraft && merge !== 'conflict';
  if (settings.merges && isReady && !pull.mergesItself && record.mergeAsked !== head) return { do: 'ask-merge' };
  return { do: 'wait', why: isRed ? 'checks fail, and its agent changed nothing' : 'it waits for people', soon: false };
}

const SOON_MS = 60_000;
const [LEAST_MS, LONGEST_MS] = [120_000, 10 * 60_000];

/** When to look again: less often, the longer nothing has changed. A look without news is one request, so these are 30 an hour at most. */
export function nextLook(now: number, changed: number, soon: boolean): number {
  return now + (soon ? SOON_MS : Math.min(Math.max(Math.round((now - changed) / 2), LEAST_MS), LONGEST_MS));
}
