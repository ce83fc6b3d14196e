import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../src/model/failure.ts';
import { limitNotice } from '../../../src/runtimes/shared/limit-notice.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const MADRID = "You've hit your session limit · resets 7pm (Europe/Madrid)";

describe('a limit told in the place of an answer', () => {
  it.each<[string, FailureKind, string | undefined]>([
    [MADRID, 'quota-exhausted', '2026-11-20T18:00:00.000Z'],
    [`\n${MADRID}\n`, 'quota-exhausted', '2026-11-20T18:00:00.000Z'],
    ["You've hit your limit · resets 12am (Asia/Seoul)", 'quota-exhausted', '2026-11-20T15:00:00.000Z'],
    ["You've hit your 5-hour limit · resets 3:53pm (UTC)", 'quota-exhausted', '2026-11-20T15:53:00.000Z'],
    ["You've hit your weekly limit · resets Nov 24, 9am (UTC)", 'quota-exhausted', '2026-11-24T09:00:00.000Z'],
    ["You're out of extra usage · resets 7pm (UTC)", 'quota-exhausted', '2026-11-20T19:00:00.000Z'],
    [
      '5-hour limit reached ∙ resets 7pm (UTC)\n/upgrade to increase your usage limit.',
      'quota-exhausted',
      '2026-11-20T19:00:00.000Z',
    ],
    ['Claude AI usage limit reached|1795172400', 'quota-exhausted', '2026-11-20T11:00:00.000Z'],
    [
      'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at Nov 23rd, 2026 1:04 PM UTC.',
      'quota-exhausted',
      '2026-11-23T13:04:00.000Z',
    ],
    ['Quota exceeded. Check your plan and billing details.', 'quota-exhausted', undefined],
    [
      'error: Individual quota reached. Please upgrade your subscription to increase your limits. Resets in 34m13s.',
      'quota-exhausted',
      '2026-11-20T10:34:13.000Z',
    ],
    ['API Error: Request rejected (429) · This request would exceed your rate limit', 'rate-limited', undefined],
    ['exceeded retry limit, last status: 429 Too Many Requests, request id: req_1', 'rate-limited', undefined],
    ['Rate limit reached. Please try again in 20s.', 'rate-limited', '2026-11-20T10:00:20.000Z'],
    ['API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}', 'rate-limited', undefined],
    [
      'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      'overloaded',
      undefined,
    ],
    [
      'API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a moment. If it persists, check your inference gateway (127.0.0.1:8801).',
      'overloaded',
      undefined,
    ],
    ['Selected model is at capacity. Please try a different model.', 'overloaded', undefined],
    ['Credit balance is too low', 'billing', undefined],
  ])('%j is %s until %s', (text, kind, until) => {
    const notice = limitNotice(text, NOW);
    expect(notice).toMatchObject({ kind, message: text.trim() });
    expect(notice?.retryAt === undefined ? undefined : new Date(notice.retryAt).toISOString()).toBe(until);
  });
});

describe('an answer that speaks of a limit stays an answer', () => {
  it.each([
    `The banner now reads "${MADRID}".`,
    `"${MADRID}"`,
    `\`${MADRID}\``,
    `> ${MADRID}`,
    `${MADRID}\n\nThat is the text the parser has to know; the test for it passes.`,
    `${MADRID} is parsed now.`,
    'You’ve hit your usage limit. is what the client said, and the retry works now.',
    'Rate limit exceeded is returned as a 429 now.',
    'API Error: 529 is retried now, with backoff.',
    'Quota exceeded. I raised it in config.yaml and the test passes.',
    'Rate limit exceeded. See src/limits.ts for where it is thrown.',
    'Message limit reached\nCheck src/mail.ts, which has it now.',
    'The upload limit reached its maximum.',
    'Upload limit reached. Upgrade the plan.',
    'I hit the rate limit of the registry twice, then the build went through.',
    'resets 7pm (Europe/Madrid)',
    'Done.',
    '',
    `${MADRID} ${'x'.repeat(500)}`,
  ])('%j', (text) => {
    expect(limitNotice(text, NOW)).toBeUndefined();
  });

  it('however long and odd it is, in linear time', () => {
    for (const text of ['claude '.repeat(200_000), '· '.repeat(150), `${'session '.repeat(40)}limit`]) {
      expect(limitNotice(text, NOW)).toBeUndefined();
    }
  });
});
