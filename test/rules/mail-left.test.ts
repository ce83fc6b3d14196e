import { describe, expect, it } from 'vitest';
import { mailLeft } from '../../src/rules/mail-left.ts';

const has = (address: string, unread: number) => ({ address, unread });

describe('what a finished run says of the mail that it leaves', () => {
  it.each([
    ['nothing', [has('A', 0)], 0, 0, undefined],
    ['a message', [has('A', 1), has('B', 0)], 0, 0, 'mail is left: 1 message unread (A 1)'],
    ['messages of several', [has('A', 1), has('B', 2)], 0, 0, 'mail is left: 3 messages unread (A 1, B 2)'],
    ['a question', [], 1, 0, 'mail is left: 1 question without an answer'],
    ['what could not be delivered', [], 0, 2, 'mail is left: 2 messages that could not be delivered'],
    [
      'all of it',
      [has('A', 2)],
      2,
      1,
      'mail is left: 2 messages unread (A 2), 2 questions without an answer, 1 message that could not be delivered',
    ],
  ] as const)('%s', (_name, members, questions, dead, expected) => {
    const unanswered = Array.from({ length: questions });
    expect(mailLeft({ members, unanswered, dead: Array.from({ length: dead }) })).toBe(expected);
  });
});
