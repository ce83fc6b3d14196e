import { describe, expect, it } from 'vitest';
import type { Delivery, Reply } from '../../../src/model/people/reply.ts';
import {
  afterPost,
  nextPost,
  type DueReply,
  type Elsewhere,
  type PostResult,
} from '../../../src/rules/people/next-post.ts';
import { HOUR_MS, takeMessage, type TakeView } from '../../../src/rules/people/take-message.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const reply = (text = 'hello', more: Partial<Reply> = {}): Reply => ({
  channel: 'c',
  place: 'p',
  sender: 's',
  text,
  at: NOW,
  ...more,
});
const longest = 20;

/** Plays replies against a channel that answers as it is asked to, until nothing is left to do. */
function play(
  replies: readonly Reply[],
  answers: (post: { place: string; text: string }) => PostResult,
  elsewhere: Elsewhere = {},
) {
  const due = replies.map((one, index): DueReply => ({ id: `r${index}`, reply: one }));
  const posted: string[] = [];
  const ended: Delivery[] = [];
  let now = NOW;
  for (let left = 1000; due.length > 0 && left > 0; left -= 1) {
    const next = nextPost({ now, due, longest });
    if (next.do === 'wait') {
      now = next.until ?? Infinity;
      continue;
    }
    const result = answers(next.post);
    if (result.did === 'posted') posted.push(`${next.post.place}: ${next.post.text}`);
    const [first] = due;
    if (first === undefined) break;
    const delivery = afterPost({ reply: first.reply, delivery: next.begun }, result, { now, longest, ...elsewhere });
    if (delivery.state === 'due') due[0] = { ...first, delivery };
    else {
      ended.push(delivery);
      due.shift();
    }
  }
  return { posted, ended, tookMs: now - NOW };
}

describe('the delivery of replies', () => {
  it('posts in order, and long texts in parts', () => {
    const { posted, ended } = play([reply('one'), reply('two words and some more'), reply('three')], () => ({
      did: 'posted',
    }));
    expect(posted).toEqual(['p: one', 'p: two words and some', 'p: more', 'p: three']);
    expect(ended.map(({ state, parts }) => [state, parts])).toEqual([
      ['posted', 1],
      ['posted', 2],
      ['posted', 1],
    ]);
  });

  it('waits between tries, longer each time, and as long as the channel says', () => {
    let tries = 0;
    const later = play([reply('one'), reply('two')], () =>
      (tries += 1) <= 3 ? { did: 'later', why: '500' } : { did: 'posted' },
    );
    expect(later).toMatchObject({ posted: ['p: one', 'p: two'], tookMs: 1000 + 2000 + 4000 });
    tries = 0;
    const asked = play([reply()], () =>
      (tries += 1) === 1 ? { did: 'later', why: '429', afterMs: 65_000 } : { did: 'posted' },
    );
    expect(asked.tookMs).toBe(65_000);
  });

  it('gives up after four hours, and continues with the next', () => {
    const { posted, ended, tookMs } = play([reply('poison'), reply('two')], ({ text }) =>
      text === 'poison' ? { did: 'later', why: '500' } : { did: 'posted' },
    );
    expect(posted).toEqual(['p: two']);
    expect(ended.map(({ state }) => state)).toEqual(['refused', 'posted']);
    expect(tookMs / HOUR_MS).toBeGreaterThan(3);
    expect(tookMs / HOUR_MS).toBeLessThan(4.5);
  });

  it.each<[string, string[], Elsewhere, string | undefined]>([
    ['the sender directly', ['p'], { direct: 'd', report: 'r' }, 'd'],
    ['the report place', ['p', 'd'], { direct: 'd', report: 'r' }, 'r'],
    ['the report place, where there is no other', ['p'], { report: 'r' }, 'r'],
    ['nowhere', ['p', 'd', 'r'], { direct: 'd', report: 'r' }, undefined],
    ['nowhere but its own place', ['p'], { report: 'p' }, undefined],
  ])('a reply whose place is gone goes to %s, and says so', (_who, gone, elsewhere, place) => {
    const { posted, ended } = play(
      [reply('hi')],
      (post) => (gone.includes(post.place) ? { did: 'refused', why: '404', gone: true } : { did: 'posted' }),
      elsewhere,
    );
    expect(posted.map((one) => one.split(':')[0])).toEqual(posted.map(() => place));
    if (place === undefined) expect(ended).toMatchObject([{ state: 'refused', why: 'that place is gone' }]);
    else expect(posted.join(' ')).toContain('(This was for p: ');
    if (place !== undefined) expect(ended).toMatchObject([{ state: 'posted', instead: place }]);
  });

  it('has one nonce for each part and place, the same for each try', () => {
    const nonce = (delivery: Partial<Delivery>, id = 'r1') => {
      const next = nextPost({
        now: NOW,
        longest,
        due: [{ id, reply: reply('x'.repeat(50)), delivery: { state: 'due', tries: 0, parts: 0, ...delivery } }],
      });
      return next.do === 'post' ? next.post.nonce : '';
    };
    expect(nonce({})).toBe(nonce({ tries: 3, triedAt: NOW }));
    expect(new Set([nonce({}), nonce({ parts: 1 }), nonce({ instead: 'd' }), nonce({}, 'r2')]).size).toBe(4);
    expect(nonce({})).toMatch(/^[0-9a-f]{24}$/);
  });

  it('says when a part was first tried, from the second try on', () => {
    const due = [{ id: 'r', reply: reply() }];
    const first = nextPost({ now: NOW, due, longest });
    expect(first).toMatchObject({ begun: { triedAt: NOW }, post: { triedAt: undefined } });
    const again = nextPost({
      now: NOW + 5,
      longest,
      due: [{ id: 'r', reply: reply(), delivery: { state: 'due', tries: 0, parts: 0, triedAt: NOW } }],
    });
    expect(again).toMatchObject({ begun: { triedAt: NOW }, post: { triedAt: NOW } });
  });

  it('does not wait for hours after a clock was set back', () => {
    const delivery = { state: 'due' as const, tries: 1, parts: 0, retryAt: NOW + 20 * HOUR_MS };
    expect(nextPost({ now: NOW, longest, due: [{ id: 'r', reply: reply(), delivery }] }).do).toBe('post');
  });
});

describe('a message that comes in', () => {
  const view = (more: Partial<TakeView> = {}, message: Partial<TakeView['message']> = {}): TakeView => ({
    ...{ isKnown: false, isSender: true, messagesPerHour: 2, taken: [] },
    ...more,
    message: { isToUs: true, text: 'status', at: NOW, attachments: [], ...message },
  });

  it.each<[string, TakeView, object]>([
    ['is taken', view(), { do: 'take' }],
    ['is taken once', view({ isKnown: true }), { do: 'leave', why: 'known' }],
    ['is not read where it is for others', view({}, { isToUs: false }), { do: 'leave', why: 'others' }],
    [
      'of a stranger is silence',
      view({ isSender: false }, { text: 'x'.repeat(70_000) }),
      { do: 'leave', why: 'stranger' },
    ],
    ['is taken up to the number', view({ taken: [NOW - 5] }), { do: 'take' }],
    ['is taken again after an hour', view({ taken: [NOW - HOUR_MS, NOW - HOUR_MS - 5] }), { do: 'take' }],
    [
      'above it is refused silently after a notice',
      view({ taken: [NOW - 5, NOW - 4], noticedAt: NOW - 3 }),
      { do: 'refuse', says: '' },
    ],
    ['of 64 KiB is taken', view({}, { text: 'x'.repeat(64 * 1024) }), { do: 'take' }],
  ])('%s', (_what, given, expected) => expect(takeMessage(given)).toEqual(expected));

  it.each<[string, TakeView, RegExp]>([
    ['above the number', view({ taken: [NOW - 5, NOW - 4] }), /^You sent more than 2 messages within an hour/],
    [
      'above it, an hour after the notice',
      view({ taken: [NOW - 5, NOW - 4], noticedAt: NOW - HOUR_MS }),
      /^You sent more/,
    ],
    ['of 64 KiB and a byte', view({}, { text: `${'é'.repeat(32 * 1024)}.` }), /its text is longer than 64 KiB/],
    ['of too many files', view({}, { attachments: Array.from({ length: 21 }, () => 0) }), /it has 21 files, and 20/],
  ])('is refused with a word: %s', (_what, given, says) => {
    expect(takeMessage(given)).toMatchObject({ do: 'refuse', says: expect.stringMatching(says) as unknown });
  });
});
