import { defined } from '../text/defined.ts';
import { assertNever } from '../model/assert-never.ts';
import type { Failure } from '../model/failure.ts';
import type { Json } from '../text/json.ts';
import { mailQuestionId } from '../model/mail/effects.ts';
import { lookOf, type Look } from '../model/plan/look.ts';
import type { WorkEffect } from '../model/plan/effect.ts';
import {
  fallbackFor,
  type AgentRequest,
  type RequestState,
  type Prompt,
  type Used,
  type StallFallback,
  type WorkEvent,
} from '../model/plan/work.ts';
import { decideRetry, type Retry, type RetryCaps } from './retry.ts';

type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;
type Started = Extract<WorkEvent, { type: 'attempt-started' }>;
type Live = Extract<RequestState, { at: 'live' }>;

export interface RequestRules {
  /** Part of its timers' ids: the task, or the task and the reviewer's role. */
  readonly name: string;
  readonly caps: RetryCaps;
  /** Fallbacks after a stall, in order. */
  readonly stallFallbacks: readonly StallFallback[];
  readonly now: number;
  /** Whether this message still waits for an answer. */
  readonly isOpen: (message: string) => boolean;
  /** The problem of the output beyond its schema; undefined: none. */
  readonly check: (output: Json | undefined, look: Look | undefined) => string | undefined;
}

export interface RequestStep {
  readonly request: AgentRequest;
  readonly effects: readonly WorkEffect[];
  /** Only with the state `answered`. */
  readonly output?: Json;
  /** Only with the state `failed`: the last fallback after a stall. */
  readonly way?: Extract<StallFallback, 'skip' | 'fail'>;
}

/** Turns of one request that may end with a question. After that, their work is judged as it is. */
const MOST_ASKS = 10;

const NOTHING_USED: Used = { retries: 0, infrastructure: 0, transient: 0, repairs: 0, waits: 0, stalls: 0, asks: 0 };

export function newRequest(prompt: Prompt, thread: AgentRequest['thread'] = null): AgentRequest {
  return { state: { at: 'queued' }, prompt, session: 'same', reset: false, thread, used: NOTHING_USED };
}

/** Asks the same agent again for a new reason, in its session unless the operator switched its runtime. */
export function askAgain(before: AgentRequest, prompt: Prompt): AgentRequest {
  // A look at earlier work says nothing about the new work.
  const { look: _, ...request } = before;
  return { ...request, state: { at: 'queued' }, prompt, used: { ...request.used, repairs: 0 } };
}

export function startRequest({ look, ...request }: AgentRequest, event: Started): AgentRequest {
  const { attempt, agent, account, insteadOf, session } = event;
  const state: Live = {
    ...{ at: 'live', attempt, agent, account, session, stop: null, stall: null },
    ...defined({ insteadOf }),
  };
  // A new session has not seen the work that another one looked at.
  const kept = request.thread?.key === session ? defined({ look }) : {};
  return { ...request, ...kept, state, session: 'same', thread: threadOf(event) };
}

/** The session of an attempt. */
export function threadOf({ agent, account, insteadOf, session }: Started): NonNullable<AgentRequest['thread']> {
  return { key: session, agent, ...(insteadOf === undefined ? {} : { on: account }) };
}

/** A completed turn counts even if it was to be stopped: finished work is never discarded. */
export function settleRequest(before: AgentRequest, live: Live, event: Settled, rules: RequestRules): RequestStep {
  const look = lookOf(before.look, event.look);
  const request = look === undefined ? before : { ...before, look };
  if (event.outcome !== 'completed') return afterFailure(request, live, failureOf(event, live), rules);
  const used = { ...request.used, infrastructure: 0, transient: 0, waits: 0 };
  const { awaits = [] } = event;
  // Before its output is checked, because an agent that asks has no answer yet.
  if (awaits.length > 0 && used.asks < MOST_ASKS) {
    return waitForAnswer({ ...request, reset: false, used }, awaits.find(rules.isOpen));
  }
  const wrong = rules.check(event.output, look);
  if (wrong !== undefined) {
    return afterFailure(request, live, { kind: 'bad-output', message: wrong, mayHaveActed: true }, rules);
  }
  return {
    request: { ...request, state: { at: 'answered' }, reset: false, used },
    effects: [],
    ...defined({ output: event.output }),
  };
}

/** Feedback stays the reason of the next prompt. `asked` is undefined if the answer is already there. */
function waitForAnswer(request: AgentRequest, asked: string | undefined): RequestStep {
  const prompt: Prompt = request.prompt.why === 'feedback' ? request.prompt : { why: 'answered' };
  const used = { ...request.used, asks: request.used.asks + 1 };
  const state: RequestState =
    asked === undefined ? { at: 'queued' } : { at: 'blocked', question: mailQuestionId(asked) };
  return { request: { ...request, state, prompt, used }, effects: [] };
}

export function setStall(request: AgentRequest, live: Live, why: string | null): AgentRequest {
  const stalls = request.used.stalls + (why === null ? 0 : 1);
  return { ...request, state: { ...live, stall: why }, used: { ...request.used, stalls } };
}

/** Marks the turn to be stopped. Its settlement decides what follows. */
export function stopRequest(request: AgentRequest, live: Live, fallback: StallFallback): AgentRequest {
  return live.stop === null ? { ...request, state: { ...live, stop: fallback } } : request;
}

function failureOf(event: Settled, live: Live): Failure {
  const failure = event.failure ?? { kind: 'protocol', message: 'the turn ended without a reason', mayHaveActed: true };
  if (live.stop === null || failure.kind !== 'cancelled') return failure;
  return { ...failure, kind: 'stalled', message: live.stall ?? failure.message };
}

function afterFailure(request: AgentRequest, live: Live, failure: Failure, rules: RequestRules): RequestStep {
  // A runtime ended the turn for silence.
  const silent = failure.kind === 'stalled' && live.stop === null;
  const stalls = request.used.stalls + (silent ? 1 : 0);
  const way = live.stop ?? (silent ? fallbackFor(rules.stallFallbacks, stalls) : null);
  const left: AgentRequest = {
    ...request,
    used: { ...request.used, stalls },
    // The folder is still as it was, so the next attempt has to reset it.
    reset: request.reset && !failure.mayHaveActed,
  };
  if (way === 'fail' || way === 'skip') {
    const why = `${failure.kind}: ${failure.message}`;
    return { request: { ...left, state: { at: 'failed', cause: 'attempts', why } }, effects: [], way };
  }
  const retry = decideRetry(failure, left.used, rules.caps, rules.now, live.attempt);
  const step = afterRetry(left, live, failure, retry, rules);
  if (way !== 'workspace-reset' || retry.do === 'fail') return step;
  const prompt: Prompt = request.prompt.why === 'feedback' ? request.prompt : { why: 'start' };
  return { ...step, request: { ...step.request, session: 'new', reset: true, prompt } };
}

function afterRetry(
  request: AgentRequest,
  live: Live,
  failure: Failure,
  retry: Retry,
  rules: RequestRules,
): RequestStep {
  switch (retry.do) {
    case 'fail': {
      const why = `${failure.kind}: ${failure.message}`;
      return { request: { ...request, state: { at: 'failed', cause: retry.cause, why } }, effects: [] };
    }
    case 'ask': {
      // The setup concerns the repository, so all tasks share one question.
      const text = setupQuestion(failure.message);
      return {
        request: {
          ...request,
          state: { at: 'blocked', question: SETUP_QUESTION },
          prompt: promptAfter(request, failure, 'same'),
        },
        effects: [{ effect: 'ask', id: SETUP_QUESTION, text, options: [...ENGINE_OPTIONS] }],
      };
    }
    case 'lock-out': {
      // The problem is the account's, so a stand-in may continue at once.
      const { account, agent } = live;
      const prompt = promptAfter(request, failure, failure.mayHaveActed ? 'continue' : 'same');
      return {
        request: { ...request, state: { at: 'queued' }, prompt },
        effects: [{ effect: 'lock-out', account, agent, kind: retry.kind, why: failure.message }],
      };
    }
    case 'wait-for-account': {
      // The account waits, not the request. The first turn after the limit is the probe.
      const prompt = promptAfter(request, failure, failure.mayHaveActed ? 'continue' : 'same');
      const used = { ...request.used, waits: request.used.waits + 1 };
      return {
        request: { ...request, state: { at: 'queued' }, prompt, used },
        effects: [{ effect: 'limit-account', account: live.account, until: retry.until }],
      };
    }
    case 'retry': {
      const state: RequestState = retry.at > rules.now ? { at: 'waiting', until: retry.at } : { at: 'queued' };
      const prompt = promptAfter(request, failure, retry.prompt);
      const used =
        retry.burns === 'nothing' ? request.used : { ...request.used, [retry.burns]: request.used[retry.burns] + 1 };
      return {
        // After a switch of the runtime, the old session stays unused.
        request: { ...request, state, prompt, session: request.session === 'new' ? 'new' : retry.session, used },
        effects:
          state.at === 'waiting' ? [{ effect: 'set-timer', id: `engine/retry/${rules.name}`, at: state.until }] : [],
      };
    }
    default:
      return assertNever(retry);
  }
}

/** `message`: which command failed, and how. */
export function setupQuestion(message: string): string {
  return `${message.trimEnd()}\nIf you change a command in squad.yaml, run \`squad resume --reload\`.`;
}

/** One question for the whole run, because the same commands set up all of its folders. */
export const SETUP_QUESTION = 'engine/setup-failed';

/** Answers to a problem that only a person can fix. */
export const ENGINE_OPTIONS = ['try again', 'give up'] as const;

/** Keeps the feedback that a turn that was cut short was about. */
function promptAfter(request: AgentRequest, failure: Failure, kind: 'same' | 'continue' | 'repair'): Prompt {
  if (kind === 'repair') return { why: 'repair', text: failure.message };
  if (kind === 'same' || request.prompt.why === 'feedback' || request.prompt.why === 'repair') return request.prompt;
  return { why: 'continue', text: failure.message };
}
