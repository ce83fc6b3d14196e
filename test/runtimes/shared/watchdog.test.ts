import { describe, expect, it } from 'vitest';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS } from '../../../src/model/turn-request.ts';
import { MOST_REMEMBERED } from '../../../src/runtimes/shared/translation.ts';
import {
  AFTER_RESULT_MS,
  MOST_LINES,
  decideWatchdog,
  firstPulse,
  pulseAfter,
  type Pulse,
} from '../../../src/runtimes/shared/watchdog.ts';

const limits = { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 1000, retryMs: 400 };
const started = (id: string): TurnReport => ({
  type: 'tool-started',
  id,
  tool: 'run',
  kind: 'execute',
  input: null,
});
const ended = (id: string): TurnReport => ({ type: 'tool-ended', id, ok: true, denied: false });
const retry = (message = '429'): TurnReport => ({ type: 'retry-scheduled', failure: 'rate-limited', message });
const text: TurnReport = { type: 'text', text: 'hello', delta: true };

const NOW = Date.parse('2026-11-20T10:00:00Z');

/** The pulse after these reports, one a 100 ms from 100 on. */
function pulseOf(...reports: TurnReport[]): Pulse {
  return reports.reduce((pulse, report, index) => pulseAfter(pulse, report, (index + 1) * 100, NOW), firstPulse(0));
}

describe('pulseAfter', () => {
  it.each<[string, TurnReport[], Partial<Pulse>]>([
    ['a session is no act', [{ type: 'session-announced', id: 's', resumed: false, mcp: [] }], { acted: false }],
    ['a notice is no act', [{ type: 'notice', text: 'x' }], { acted: false }],
    ['a retry is no act', [retry()], { acted: false }],
    ['text is an act without a tool', [text], { acted: true }],
    ['thinking is an act', [{ type: 'thinking', text: 'x' }], { acted: true }],
    ['changed files are an act', [{ type: 'files-changed', changes: [] }], { acted: true }],
    ['an open tool', [started('a')], { acted: true, openTools: new Set(['a']) }],
    ['two tools, one over', [started('a'), started('b'), ended('a')], { openTools: new Set(['b']) }],
    ['the same tool twice is one', [started('a'), started('a'), ended('a')], { openTools: new Set() }],
    ['the end of an unknown tool', [ended('x')], { openTools: new Set(), acted: true }],
    [
      'retries count from the first, with the last reason',
      [retry('one'), retry('two')],
      { retrying: { since: 100, kind: 'rate-limited', message: 'two' } },
    ],
    ['text ends the retries', [retry(), text], { retrying: undefined }],
    ['a tool ends the retries', [retry(), started('a')], { retrying: undefined }],
    [
      'a notice does not end the retries',
      [retry('x'), { type: 'notice', text: 'x' }],
      { retrying: { since: 100, kind: 'rate-limited', message: 'x' } },
    ],
    [
      'retries after work count anew',
      [retry(), text, retry('x')],
      {
        retrying: { since: 300, kind: 'rate-limited', message: 'x' },
      },
    ],
    ['the silence of a tool is over with it', [started('a'), ended('a')], { lastLife: 200 }],
  ])('%s', (_, reports, expected) => {
    expect(pulseOf(...reports)).toMatchObject(expected);
  });

  it('changes nothing of the pulse it is given', () => {
    const before = pulseOf(started('a'));
    pulseAfter(before, ended('a'), 500, NOW);
    pulseAfter(before, started('b'), 500, NOW);
    expect([...before.openTools]).toEqual(['a']);
  });
});

describe('a program that opens tools for ever', () => {
  it('is followed in bounded memory, and the idle clock still stands still', () => {
    let pulse = firstPulse(0);
    for (let tool = 0; tool < 100_000; tool += 1) pulse = pulseAfter(pulse, started(String(tool)), 0, NOW);
    expect(pulse.openTools.size).toBe(MOST_REMEMBERED);
    const time = { monotonic: DEFAULT_TURN_LIMITS.idleMs + 1, ranMs: 0 };
    expect(decideWatchdog(pulse, DEFAULT_TURN_LIMITS, time)).toBeUndefined();
  });
});

describe('decideWatchdog', () => {
  const quiet = firstPulse(0);
  const retrying: Pulse = { ...quiet, retrying: { since: 0, kind: 'overloaded', message: 'HTTP 529' } };
  const open: Pulse = { ...quiet, openTools: new Set(['a']), acted: true };
  const done: Pulse = { ...quiet, terminalAt: 0 };
  const loud: Pulse = { ...quiet, lines: MOST_LINES };
  const kind = (pulse: Pulse, monotonic: number, ranMs = 0) => {
    const end = decideWatchdog(pulse, limits, { monotonic, ranMs });
    return end?.why === 'failure' ? `${end.outcome} ${end.failure.kind}` : end?.why;
  };

  it.each<[string, Pulse, number, number, string | undefined]>([
    ['nothing is due', quiet, 999, 59_999, undefined],
    ['idle, to the ms', quiet, 1000, 0, 'timed-out stalled'],
    ['idle stands still while a tool is open', open, 1_000_000, 0, undefined],
    ['one of two tools is enough', pulseOf(started('a'), started('b'), ended('a')), 1_000_000, 0, undefined],
    ['the wall counts while a tool is open', open, 0, 60_000, 'timed-out wall-timeout'],
    ['retries within their budget', retrying, 399, 0, undefined],
    ['retries beyond their budget fail as what they fail with', retrying, 400, 0, 'failed overloaded'],
    ['a reset that comes while the retries may last', pulseOf(retry('Retry-After: 0.4')), 499, 0, undefined],
    ['a reset that comes later is not waited for', pulseOf(retry('Retry-After: 1')), 100, 0, 'failed rate-limited'],
    ['a finished turn has its grace', done, AFTER_RESULT_MS - 1, 0, undefined],
    ['after the grace the verdict stands', done, AFTER_RESULT_MS, 0, 'after-result'],
    ['a finished turn is not idle', { ...done, terminalAt: 5000 }, 20_000, 0, undefined],
    ['a finished turn has no wall', done, 100, 70_000, undefined],
    ['a finished turn does not retry', { ...retrying, terminalAt: 0 }, 1000, 0, undefined],
    ['a session that was not to be opened', { ...open, strayed: true }, 0, 0, 'failed session-not-found'],
    ['such a session after its result', { ...done, strayed: true }, 0, 0, 'failed session-not-found'],
    ['lines up to their limit', { ...loud, lines: MOST_LINES - 1 }, 0, 0, undefined],
    ['more lines are a flood', loud, 0, 0, 'failed output-flood'],
    ['a flood after the last word is one too', { ...loud, terminalAt: 0 }, 0, 0, 'failed output-flood'],
    ['the wall comes before retries and idleness', retrying, 5000, 60_000, 'timed-out wall-timeout'],
    ['retries come before idleness', retrying, 5000, 0, 'failed overloaded'],
  ])('%s', (_, pulse, monotonic, ranMs, expected) => {
    expect(kind(pulse, monotonic, ranMs)).toBe(expected);
  });

  it.each([
    ['at once', 'Please try again in 2 hours.', 100, 'Please try again in 2 hours.', NOW + 7_200_000],
    ['late', 'Please try again in 0.3 s.', 500, 'still failing after 400 ms of retries: Please', NOW + 300],
    ['late, without a reset', 'Slow down.', 500, 'still failing after 400 ms of retries: Slow', undefined],
  ])('keeps the reset that the last retry names: %s', (_, words, monotonic, message, retryAt) => {
    const end = decideWatchdog(pulseOf(retry(words)), limits, { monotonic, ranMs: 0 });
    expect(end).toMatchObject({ failure: { kind: 'rate-limited', message: expect.stringContaining(message) } });
    expect(end?.why === 'failure' ? end.failure.retryAt : 'none').toBe(retryAt);
  });

  it.each([
    [quiet, false],
    [pulseOf(text), true],
  ])('says whether something may have happened', (pulse, mayHaveActed) => {
    const end = decideWatchdog(pulse, limits, { monotonic: 9999, ranMs: 0 });
    expect(end).toMatchObject({ failure: { kind: 'stalled', mayHaveActed, message: 'no sign of life for 1000 ms' } });
  });
});
