import { expect, test } from 'vitest';
import {
  answerTimeOf,
  changesPlan,
  closes,
  opensTask,
  owesAnswer,
  reportsIssues,
  taskStateAfter,
} from '../../../src/model/mail/effects.ts';
import { MAIL_KINDS, type MailAction } from '../../../src/model/mail/kind.ts';
import type { MailType } from '../../../src/model/mail/vocabulary.ts';

test.each<[MailAction, readonly string[]]>([
  ['review', ['review_feedback', 'done', 'fail']],
  ['verify', ['review_feedback', 'verified', 'fail']],
  ['assign', ['done', 'fail']],
  ['clarify', ['answer', 'fail']],
])('%s is closed by %j alone', (ask, closing) => {
  expect(MAIL_KINDS.filter((kind) => closes(ask, kind)).map(({ name }) => name)).toEqual(closing);
});

test.each<[MailType, MailAction | null, MailAction | null, string | undefined]>([
  ['ask', 'assign', null, 'open'],
  ['ask', 'assign', 'clarify', 'open'],
  ['ask', 'verify', null, 'verify_pending'],
  ['ask', 'review', null, undefined],
  ['ask', 'clarify', null, undefined],
  ['done', null, 'assign', 'done'],
  ['fail', null, 'assign', 'failed'],
  ['fail', null, null, 'failed'],
  ['fail', null, 'review', undefined],
  ['done', null, 'review', undefined],
  ['done', 'verified', 'verify', undefined],
  ['fail', null, 'clarify', undefined],
  ['report', 'review_feedback', 'review', undefined],
  ['send', 'answer', 'clarify', undefined],
])('%s %s in reply to %s makes its task %s', (type, action, about, status) => {
  expect(taskStateAfter({ type, action }, about)).toBe(status);
});

test('assignments, answers and ends change the plan; assignments open a task; other asks owe an answer', () => {
  const names = (does: (said: { type: MailType; action: MailAction | null }) => boolean): string[] =>
    MAIL_KINDS.filter(does).map(({ name }) => name);
  expect(names(changesPlan)).toEqual(['assign', 'handoff', 'answer', 'done', 'verified', 'fail']);
  expect(names(opensTask)).toEqual(['assign', 'handoff']);
  expect(names(owesAnswer)).toEqual(['review', 'clarify', 'verify']);
});

test('only an ask waits for its answer, and silence means something else for each', () => {
  const times = MAIL_KINDS.map(({ name, type, action }) => [
    name,
    type === 'ask' ? answerTimeOf(action)?.silence : undefined,
  ]);
  expect(Object.fromEntries(times)).toMatchObject({
    review: 'done',
    assign: 'failed',
    handoff: 'failed',
    clarify: 'open',
    verify: 'done',
  });
  expect(answerTimeOf('answer')).toBeUndefined();
  expect(answerTimeOf(null)).toBeUndefined();
});

test.each<[MailType, MailAction | null, object, boolean]>([
  ['report', 'review_feedback', { has_issues: true }, true],
  ['report', 'review_feedback', { has_issues: false, has_new_issues: true }, false],
  ['done', 'verified', { has_new_issues: true }, true],
  ['done', 'verified', { has_new_issues: false }, false],
  ['fail', null, {}, true],
  ['send', 'answer', { has_issues: true }, false],
])('%s %s %j says that something is wrong: %s', (type, action, body, expected) => {
  expect(reportsIssues({ type, action }, body)).toBe(expected);
});
