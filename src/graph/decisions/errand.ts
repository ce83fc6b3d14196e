import { assertNever } from '../../model/assert-never.ts';
import type { Failure } from '../../model/failure.ts';
import type { Json } from '../../text/json.ts';
import { questionOf } from '../../model/mail/question-id.ts';
import type { PlanEffect } from '../../model/plan/effect.ts';
import type { Errand, ErrandState, Prompt, Used, WallFallback, WorkEvent } from '../../model/plan/work.ts';
import { decideRetry, type Retry, type RetryCaps } from './retry.ts';

type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;
type Started = Extract<WorkEvent, { type: 'attempt-started' }>;
type Live = Extract<ErrandState, { at: 'live' }>;

export interface ErrandRules {
  readonly task: string;
  /** The name for its timers: the task, or the task and the reviewer's role. */
  readonly name: string;
  readonly caps: RetryCaps;
  /** Ways out of a wall, in their order. */
  readonly walls: readonly WallFallback[];
  readonly now: number;
  /** Somebody still owes an answer to this message. */
  readonly isOpen: (message: string) => boolean;
  /** Checks what the schema cannot say; a text is what is wrong with it. */
  readonly check: (output: Json | undefined) => string | undefined;
}

export interface ErrandStep {
  readonly errand: Errand;
  readonly effects: readonly PlanEffect[];
  /** Only with the state `answered`. */
  readonly output?: Json;
  /** Only with the state `failed`: the wall's last way out. */
  readonly way?: Extract<WallFallback, 'skip' | 'fail'>;
}

/** Turns of one errand that may end with a question; after that what it has done is looked at. */
const MOST_ASKS = 10;

const NOTHING_USED: Used = { retries: 0, infrastructure: 0, transient: 0, repairs: 0, waits: 0, walls: 0, asks: 0 };

export function newErrand(prompt: Prompt, thread: Errand['thread'] = null): Errand {
  return { state: { at: 'queued' }, prompt, session: 'same', reset: false, thread, used: NOTHING_USED };
}

/** Asks the same agent once more, for a new reason; in its session, unless a person switched its runtime meanwhile. */
export function askAgain(errand: Errand, prompt: Prompt): Errand {
  return { ...errand, state: { at: 'queued' }, prompt, used: { ...errand.used, repairs: 0 } };
}

export function startErrand(errand: Errand, event: Started): Errand {
  const { attempt, agent, account, session } = event;
  const state: Live = { at: 'live', attempt, agent, account, session, stop: null, wall: null };
  return { ...errand, state, session: 'same', thread: { key: session, agent } };
}

/** Of a live errand. A completed turn counts however it was to be ended: finished work is not thrown away. */
export function settleErrand(errand: Errand, live: Live, event: Settled, rules: ErrandRules): ErrandStep {
  if (event.outcome !== 'completed') return afterFailure(errand, live, failureOf(event, live), rules);
  const used = { ...errand.used, infrastructure: 0, transient: 0, waits: 0 };
  const { awaits = [] } = event;
  // Before its form is looked at: whoever asks has no answer yet.
  if (awaits.length > 0 && used.asks < MOST_ASKS) {
    return waitForAnswer({ ...errand, reset: false, used }, awaits.find(rules.isOpen));
  }
  const wrong = rules.check(event.output);
  if (wrong !== undefined) {
    return afterFailure(errand, live, { kind: 'bad-output', message: wrong, mayHaveActed: true }, rules);
  }
  return {
    errand: { ...errand, state: { at: 'answered' }, reset: false, used },
    effects: [],
    ...(event.output === undefined ? {} : { output: event.output }),
  };
}

/** Its work is not done yet. What it was told before stands; the answer comes with its next prompt. undefined: it is there. */
function waitForAnswer(errand: Errand, asked: string | undefined): ErrandStep {
  const prompt: Prompt = errand.prompt.why === 'feedback' ? errand.prompt : { why: 'answered' };
  const used = { ...errand.used, asks: errand.used.asks + 1 };
  const state: ErrandState = asked === undefined ? { at: 'queued' } : { at: 'blocked', question: questionOf(asked) };
  return { errand: { ...errand, state, prompt, used }, effects: [] };
}

export function raiseWall(errand: Errand, live: Live, why: string | null): Errand {
  const walls = errand.used.walls + (why === null ? 0 : 1);
  return { ...errand, state: { ...live, wall: why }, used: { ...errand.used, walls } };
}

/** The turn is told to stop; what follows is decided when it is settled. */
export function stopErrand(errand: Errand, live: Live, fallback: WallFallback): ErrandStep {
  if (live.stop !== null) return { errand, effects: [] };
  const why = live.wall ?? 'no sign of work';
  return {
    errand: { ...errand, state: { ...live, stop: fallback } },
    effects: [{ effect: 'cancel-attempt', attempt: live.attempt, why }],
  };
}

function failureOf(event: Settled, live: Live): Failure {
  const failure = event.failure ?? { kind: 'protocol', message: 'the turn ended without a reason', mayHaveActed: true };
  if (live.stop === null || failure.kind !== 'cancelled') return failure;
  return { ...failure, kind: 'stalled', message: live.wall ?? failure.message };
}

function afterFailure(errand: Errand, live: Live, failure: Failure, rules: ErrandRules): ErrandStep {
  // A turn that its runtime ended for its silence is a wall like any other.
  const silent = failure.kind === 'stalled' && live.stop === null;
  const walls = errand.used.walls + (silent ? 1 : 0);
  const way = live.stop ?? (silent ? wayOut(rules.walls, walls) : null);
  const left: Errand = {
    ...errand,
    used: { ...errand.used, walls },
    // Nothing was done in the folder: whoever comes next still has to begin with it as it should be.
    reset: errand.reset && !failure.mayHaveActed,
  };
  if (way === 'fail' || way === 'skip') {
    const why = `${failure.kind}: ${failure.message}`;
    return { errand: { ...left, state: { at: 'failed', cause: 'attempts', why } }, effects: [], way };
  }
  const retry = decideRetry(failure, left.used, rules.caps, rules.now, live.attempt);
  const step = afterRetry(left, live, failure, retry, rules);
  if (way !== 'workspace-reset' || retry.do === 'fail') return step;
  const prompt: Prompt = errand.prompt.why === 'feedback' ? errand.prompt : { why: 'start' };
  return { ...step, errand: { ...step.errand, session: 'new', reset: true, prompt } };
}

/** Of the `count`th wall. */
export function wayOut(walls: readonly WallFallback[], count: number): WallFallback {
  return walls[Math.min(Math.max(count, 1), walls.length) - 1] ?? 'fail';
}

function afterRetry(errand: Errand, live: Live, failure: Failure, retry: Retry, rules: ErrandRules): ErrandStep {
  switch (retry.do) {
    case 'fail': {
      const why = `${failure.kind}: ${failure.message}`;
      return { errand: { ...errand, state: { at: 'failed', cause: retry.cause, why } }, effects: [] };
    }
    case 'ask': {
      const { question, text } = questionAbout(failure, live);
      return {
        errand: { ...errand, state: { at: 'blocked', question }, prompt: promptAfter(errand, failure, 'same') },
        effects: [{ effect: 'ask', id: question, text, options: [...ENGINE_OPTIONS] }],
      };
    }
    case 'lock-out': {
      // The account is at fault, not the errand: a stand-in may take it over at once.
      const { account, agent } = live;
      const prompt = promptAfter(errand, failure, failure.mayHaveActed ? 'continue' : 'same');
      return {
        errand: { ...errand, state: { at: 'queued' }, prompt },
        effects: [{ effect: 'lock-out', account, agent, kind: retry.kind, why: failure.message }],
      };
    }
    case 'park': {
      // The account holds it back, not the errand: whoever is let through first is the probe for all.
      const prompt = promptAfter(errand, failure, failure.mayHaveActed ? 'continue' : 'same');
      const used = { ...errand.used, waits: errand.used.waits + 1 };
      return {
        errand: { ...errand, state: { at: 'queued' }, prompt, used },
        effects: [{ effect: 'set-timer', id: `engine/account/${live.account}`, at: retry.until }],
      };
    }
    case 'retry': {
      const state: ErrandState = retry.at > rules.now ? { at: 'parked', until: retry.at } : { at: 'queued' };
      const prompt = promptAfter(errand, failure, retry.prompt);
      const used =
        retry.burns === 'nothing' ? errand.used : { ...errand.used, [retry.burns]: errand.used[retry.burns] + 1 };
      return {
        // One that is to be left behind, because a person switched meanwhile, stays left.
        errand: { ...errand, state, prompt, session: errand.session === 'new' ? 'new' : retry.session, used },
        effects:
          state.at === 'parked' ? [{ effect: 'set-timer', id: `engine/retry/${rules.name}`, at: state.until }] : [],
      };
    }
    default:
      return assertNever(retry);
  }
}

/** A failed setup concerns the repository, so all tasks share one question. Other failures concern the account. */
function questionAbout({ kind, message }: Failure, { agent, account }: Live): { question: string; text: string } {
  if (kind !== 'setup-failed') {
    return { question: `engine/${kind}/${account}`, text: `${agent} cannot work (${kind}): ${message}` };
  }
  const change = 'If you change a command in squad.yaml, run `squad resume --reload`.';
  return { question: SETUP_QUESTION, text: `the setup failed. ${change} ${message}` };
}

/** One question for the whole run, because the same commands set up all of its folders. */
export const SETUP_QUESTION = 'engine/setup-failed';

/** What a person may answer to a fault that only a person can mend. */
export const ENGINE_OPTIONS = ['try again', 'give up'] as const;

/** A turn cut short must not forget the feedback it was about. */
function promptAfter(errand: Errand, failure: Failure, kind: 'same' | 'continue' | 'repair'): Prompt {
  if (kind === 'repair') return { why: 'repair', text: failure.message };
  if (kind === 'same' || errand.prompt.why === 'feedback' || errand.prompt.why === 'repair') return errand.prompt;
  return { why: 'continue', text: failure.message };
}
