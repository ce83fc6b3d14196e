import { describe, expect, it } from 'vitest';
import type { SessionRef } from '../../../src/model/session-ref.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import { turnResultSchema } from '../../../src/model/turn-result.ts';
import type { Verdict } from '../../../src/runtimes/shared/cli-adapter.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { resultOf, resultWithoutProcess, type EndedTurn } from '../../../src/runtimes/shared/turn-verdict.ts';
import type { HostEnding } from '../../../src/runtimes/shared/watchdog.ts';

const usage = (inputTokens: number, outputTokens = 0) => ({ inputTokens, cachedInputTokens: 0, outputTokens });
const session: SessionRef = {
  runtime: 'scripted',
  id: 'session-1',
  home: '/home',
  workspace: '/old',
  counters: usage(100, 20),
  instructionsHash: instructionsHash('rules'),
};
const request: TurnRequest = {
  turnId: 'turn-1',
  workspace: { path: '/new' },
  prompt: 'go',
  instructions: 'rules',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};
const schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] };
const wanted: TurnRequest = { ...request, outputSchema: schema, outputIsOptional: true };
const exited = { type: 'exited', code: 0, signal: null } as const;
const cancelled: HostEnding = {
  why: 'failure',
  outcome: 'cancelled',
  failure: { kind: 'cancelled', message: 'stop', mayHaveActed: true },
};
const crash = { kind: 'crashed', message: 'exit 1', mayHaveActed: true } as const;

function turn(verdict: Partial<Verdict> = {}, more: Partial<EndedTurn> = {}): EndedTurn {
  return {
    runtime: 'scripted',
    request,
    home: '/home',
    verdict: { text: 'done', denials: [], sessionId: 'session-1', ...verdict },
    ending: exited,
    hostEnding: undefined,
    terminal: true,
    acted: true,
    neverSeenAlive: false,
    survivors: [],
    stderrTail: '',
    startedAt: 5,
    durationMs: 7,
    ...more,
  };
}
const silent = { acted: false };
const resumed = { request: { ...request, session } };
const unfinished = { terminal: false };
const vanished = { type: 'vanished' } as const;

describe('resultOf: the order of trust', () => {
  it.each<[string, EndedTurn, string]>([
    ['proven completion', turn(), 'completed'],
    ['survivors beat proven completion', turn({}, { survivors: [7] }), 'failed not-stopped'],
    ['survivors beat a cancel', turn({}, { survivors: [7], hostEnding: cancelled }), 'failed not-stopped'],
    ['an agent that never ran', turn({}, { ending: { type: 'never-started' } }), 'failed never-started'],
    [
      'never ran beats a cancel',
      turn({}, { ending: { type: 'never-started' }, hostEnding: cancelled }),
      'failed never-started',
    ],
    ['proven completion beats a cancel that came late', turn({}, { hostEnding: cancelled }), 'completed'],
    [
      'a cancel beats the failure that it caused',
      turn({ failure: crash }, { hostEnding: cancelled }),
      'cancelled cancelled',
    ],
    ['after the result the verdict stands', turn({}, { hostEnding: { why: 'after-result' } }), 'completed'],
    [
      'after the result a failure stands too',
      turn({ failure: crash }, { hostEnding: { why: 'after-result' } }),
      'failed crashed',
    ],
    ['proven completion beats a wrapper’s wall', turn({}, { ending: { ...exited, endedBy: 'wall' } }), 'completed'],
    [
      'wall by the wrapper',
      turn({ failure: crash }, { ...unfinished, ending: { ...exited, endedBy: 'wall' } }),
      'timed-out wall-timeout',
    ],
    [
      'wall by a wrapper that was killed',
      turn({ failure: crash }, { ...unfinished, ending: { ...vanished, endedBy: 'wall' } }),
      'timed-out wall-timeout',
    ],
    [
      'flood by the wrapper',
      turn({ failure: crash }, { ...unfinished, ending: { ...exited, endedBy: 'flood' } }),
      'failed output-flood',
    ],
    ['vanished before our eyes', turn({ failure: crash }, { ...unfinished, ending: vanished }), 'failed crashed'],
    [
      'vanished unseen',
      turn({ failure: crash }, { ...unfinished, ending: vanished, neverSeenAlive: true }),
      'failed lost',
    ],
    ['the last word outlives its process', turn({}, { ending: vanished, neverSeenAlive: true }), 'completed'],
    [
      'a failing last word too',
      turn({ failure: { ...crash, kind: 'auth' } }, { ending: vanished, neverSeenAlive: true }),
      'failed auth',
    ],
    [
      'the runtime’s own failure',
      turn({ failure: { ...crash, kind: 'bad-request' } }, unfinished),
      'failed bad-request',
    ],
    ['a resumed session', turn({}, resumed), 'completed'],
    ['another session than asked for', turn({ sessionId: 'other' }, resumed), 'failed session-not-found'],
    [
      'another session beats the failure it ends with',
      turn({ sessionId: 'other', failure: crash }, resumed),
      'failed session-not-found',
    ],
    ['a session that was not announced', turn({ sessionId: undefined }, resumed), 'completed'],
    [
      'an answer that keeps its schema',
      turn({ structured: { score: 1 } }, { request: { ...request, outputSchema: schema } }),
      'completed',
    ],
    [
      'an answer that breaks its schema',
      turn({ structured: { score: 'x' } }, { request: { ...request, outputSchema: schema } }),
      'failed bad-output',
    ],
    ['no answer', turn({ text: ' \n' }), 'failed bad-output'],
    ['an answer without a form that it does not owe', turn({}, { request: wanted }), 'completed'],
    ['one that breaks it', turn({ structured: { score: 'x' }, text: '' }, { request: wanted }), 'completed'],
    ['neither words nor a form that it does not owe', turn({ text: '' }, { request: wanted }), 'failed bad-output'],
    ['no structured answer', turn({}, { request: { ...request, outputSchema: schema } }), 'failed bad-output'],
    [
      'a failure beats the missing answer',
      turn({ failure: { ...crash, kind: 'billing' } }, { request: { ...request, outputSchema: schema } }),
      'failed billing',
    ],
  ])('%s', (_, ended, expected) => {
    const result = turnResultSchema.parse(resultOf(ended));
    expect([result.outcome, result.failure?.kind].filter((word) => word !== undefined).join(' ')).toBe(expected);
    expect(result.outcome === 'completed').toBe(result.failure === undefined);
  });

  it('names what survived', () => {
    expect(resultOf(turn({}, { survivors: [7, 8] })).failure?.message).toContain('pid 7, 8');
  });
});

describe('resultOf: what it brings along', () => {
  it.each<[string, EndedTurn, object | undefined]>([
    ['counters of a first turn', turn({ counters: usage(50, 5) }), usage(50, 5)],
    ['counters less the session’s', turn({ counters: usage(150, 25) }, resumed), usage(50, 5)],
    ['counters that were reset', turn({ counters: usage(30, 5) }, resumed), usage(30, 5)],
    ['a turn’s own use as it is', turn({ usage: usage(3), counters: usage(150) }, resumed), usage(3)],
    [
      'counters of a session that was not asked for',
      turn({ sessionId: 'other', counters: usage(150, 25) }, resumed),
      usage(150, 25),
    ],
    ['nothing known', turn({}, resumed), undefined],
  ])('usage: %s', (_, ended, expected) => {
    const result = resultOf(ended);
    expect(result.usage).toEqual(expected);
    expect('usage' in result).toBe(expected !== undefined);
  });

  it.each<[string, EndedTurn, object | undefined]>([
    ['a new one', turn({ counters: usage(9) }), { ...session, workspace: '/new', counters: usage(9) }],
    ['a resumed one moves along and keeps its counters', turn({}, resumed), { ...session, workspace: '/new' }],
    [
      'a resumed one counts on',
      turn({ counters: usage(150) }, resumed),
      { ...session, workspace: '/new', counters: usage(150) },
    ],
    ['one that was not opened stays as it was', turn({ sessionId: 'other', counters: usage(1) }, resumed), session],
    ['none', turn({ sessionId: undefined }), undefined],
    ['of a first turn that failed before anything was said: none', turn({ failure: crash }, silent), undefined],
    [
      'the same of one that ended as cancelled',
      turn({ failure: crash }, { ...silent, ...unfinished, hostEnding: cancelled }),
      undefined,
    ],
    [
      'of a first turn that failed after it was at work',
      turn({ failure: crash }),
      { ...session, workspace: '/new', counters: undefined },
    ],
    [
      'of a later turn that failed at once: it is as it was',
      turn({ failure: crash }, { ...silent, ...resumed }),
      { ...session, workspace: '/new' },
    ],
  ])('session: %s', (_, ended, expected) => {
    expect(resultOf(ended).session).toEqual(expected);
  });

  it.each<[string, EndedTurn['ending'], object | undefined]>([
    ['a code', { type: 'exited', code: 3, signal: null }, { code: 3, signal: null }],
    ['a signal', { type: 'exited', code: 143, signal: 'SIGTERM' }, { code: null, signal: 'SIGTERM' }],
    ['nothing', vanished, undefined],
  ])('exit: %s', (_, ending, expected) => {
    expect(resultOf(turn({}, { ending })).exit).toEqual(expected);
  });

  it('gives a structured answer only when it was asked for and the turn completed', () => {
    const asked = { request: { ...request, outputSchema: schema } };
    expect(resultOf(turn({ structured: { score: 1 } }, asked)).structured).toEqual({ score: 1 });
    expect(resultOf(turn({ structured: { score: 1 } })).structured).toBeUndefined();
    expect(resultOf(turn({ structured: { score: 1 }, failure: crash }, asked)).structured).toBeUndefined();
  });

  it('keeps denials of a turn that says done', () => {
    const denials = [
      { tool: 'run', message: 'no' },
      { tool: 'edit', message: undefined },
    ];
    expect(resultOf(turn({ denials })).denials).toEqual([{ tool: 'run', message: 'no' }, { tool: 'edit' }]);
  });

  it('is plain without a process', () => {
    const result = resultWithoutProcess('refused', { ...crash, kind: 'setting-unsupported' });
    expect(turnResultSchema.parse(result)).toEqual(result);
  });
});
