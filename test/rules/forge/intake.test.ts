import { describe, expect, it } from 'vitest';
import type { IssueRecord } from '../../../src/model/forge/issue-record.ts';
import { decideIntake, type IntakeView } from '../../../src/rules/forge/decide-intake.ts';
import { inIssueOrder, priorityOf } from '../../../src/rules/forge/issue-order.ts';
import { asCode, questionText, statusText } from '../../../src/rules/forge/issue-posts.ts';
import { judgeIssue } from '../../../src/rules/forge/judge-issue.ts';
import { readAnswer } from '../../../src/rules/forge/read-answer.ts';

const SET = { id: 'LE_1', by: 'ann', at: 1_000 };
const OPEN = { isOpen: true, set: SET };
const BY = ['owner', 'member'] as const;

describe('whether an issue is taken', () => {
  it.each([
    [{ issue: OPEN, role: 'member' }, 'taken'],
    [{ issue: OPEN, role: 'owner' }, 'taken'],
    [{ issue: OPEN, role: 'none' }, 'not-allowed'],
    [{ issue: OPEN, role: undefined }, 'not-allowed'],
    [{ issue: OPEN, role: 'member', by: ['owner'] as const }, 'not-allowed'],
    [{ issue: OPEN, role: 'owner', by: ['member'] as const }, 'taken'],
    [{ issue: { ...OPEN, editedAt: 999 }, role: 'member' }, 'taken'],
    [{ issue: { ...OPEN, editedAt: 1_000 }, role: 'member' }, 'edited'],
    [{ issue: { ...OPEN, editedAt: 2_000 }, role: 'member' }, 'edited'],
    [{ issue: { ...OPEN, isOpen: false }, role: 'owner' }, 'nothing'],
    [{ issue: { isOpen: true }, role: 'owner' }, 'nothing'],
    [{ issue: OPEN, role: 'owner', before: { set: SET } }, 'nothing'],
    [{ issue: OPEN, role: 'owner', before: { set: { ...SET, id: 'LE_0' }, again: 'LE_1' } }, 'nothing'],
    [{ issue: OPEN, role: 'owner', before: { set: { ...SET, id: 'LE_0' } } }, 'taken'],
  ] as const)('%j: %s', (about, expected) => {
    expect(judgeIssue({ before: undefined, by: BY, ...about })).toBe(expected);
  });
});

it('reads an answer only where a comment begins so, and never guesses which question', () => {
  const asked = ['plan', 'merge'].map((question) => ({ question, comment: '1' }));
  const both = new Set(['plan', 'merge']);
  const rows: [string, unknown][] = [
    ['/squad q2 yes\nplease', { question: 'merge', text: 'yes\nplease' }],
    ['  /SQUAD Q1  approve ', { question: 'plan', text: 'approve' }],
    ['/squad yes', { problem: expect.stringContaining('`/squad q1 …` or `/squad q2 …`') as string }],
    ['/squad q3 yes', { problem: 'there is no question 3.' }],
    ['/squad q1', { problem: 'there is no answer in it.' }],
    ['I say /squad q1 yes', undefined],
    ['> /squad q1 yes', undefined],
    ['/squadron q1 yes', undefined],
    ['yes', undefined],
    ['', undefined],
  ];
  for (const [body, answer] of rows) expect(readAnswer(body, asked, both), body).toEqual(answer);
  // Read again after a kill, it is for no other question.
  expect(readAnswer('/squad q1 yes', asked, new Set(['merge']))).toBeUndefined();
  expect(readAnswer('/squad yes', asked, new Set(['merge']))).toMatchObject({ problem: expect.any(String) as string });
  expect(readAnswer('/squad yes', asked.slice(0, 1), both)).toEqual({ question: 'plan', text: 'yes' });
});

it('orders issues by what their labels say, and then by their age', () => {
  const labels = ['low', 'priority: high', '', 'P0', 'High Priority', 'priority/p2', 'highlight', 'P3'];
  const order = inIssueOrder(labels.map((label, index) => ({ number: index + 1, labels: [label] })));
  expect(order.map(({ number }) => number)).toEqual([4, 2, 5, 3, 6, 7, 1, 8]);
  expect(priorityOf(['low', 'bug', 'P1'])).toBe('1');
  expect(priorityOf(['bug'])).toBeUndefined();
});

it('lets a text of agents do nothing in a comment', () => {
  const hostile = '@all closes #1\n```\n![x](https://evil.example)\n````\n<!-- squad:issue/1 -->';
  const usage = { costUsd: null, unknownCostTurns: 1 };
  const end = { outcome: 'done', headline: hostile, cost: usage } as const;
  const status = statusText({ name: 'a`b\n@all', state: 'over', questions: [], end });
  const question = questionText({ name: 'a' }, { number: 1, text: hostile, options: ['`@all`', 'no'] }, ['owner']);
  for (const text of [status, question]) {
    const fence = '`````';
    const [before = '', inside = '', after = ''] = text.split(fence);
    expect(inside).toContain('@all closes #1');
    expect((before + after).replaceAll(/(`+)[^`](?:.*?)\1(?!`)/g, '')).not.toMatch(/@all|#1|evil|<!--/);
  }
  expect(asCode('a`b')).toBe('``` a`b ```');
  expect(status).toContain('Cost: unknown');
});

describe('the next thing', () => {
  const settings = { label: 'squad', by: [...BY], max: 2, playbooks: {} };
  const record = (number: number, more: Partial<IssueRecord> = {}): IssueRecord => ({
    ...{ number, round: 1, set: SET, seen: 'a', asked: [], run: { id: `r${number}`, name: `run-${number}` } },
    ...more,
  });
  const listed = (...numbers: number[]) => numbers.map((number) => ({ number, labels: ['squad'], changed: 'a' }));
  const view = (more: Partial<IntakeView>): IntakeView => ({
    ...{ settings, listed: [], records: new Map(), runs: new Map(), isCapped: false, tried: new Set() },
    ...more,
  });
  const run = { name: 'n', state: 'open', questions: [] } as const;
  const says = statusText(run);
  const quiet = (number: number): IssueRecord => record(number, { label: 'running', comment: { id: '1', says } });

  it.each<[string, Partial<IntakeView>, object]>([
    ['nothing', {}, { do: 'wait' }],
    ['a new issue', { listed: listed(3, 2) }, { do: 'look', number: 2 }],
    ['none while a cap holds', { listed: listed(2), isCapped: true }, { do: 'wait' }],
    [
      'one that was taken',
      {
        listed: listed(2),
        records: new Map([[2, record(2, { run: undefined, text: { title: '', body: '', url: '' } } as object)]]),
      },
      { do: 'submit', number: 2 },
    ],
    [
      'no third one',
      {
        listed: listed(1, 2, 3),
        records: new Map([
          [1, quiet(1)],
          [2, quiet(2)],
        ]),
        runs: new Map([
          ['r1', run],
          ['r2', run],
        ]),
      },
      { do: 'wait' },
    ],
    [
      'one whose label is gone',
      { records: new Map([[1, quiet(1)]]), runs: new Map([['r1', run]]) },
      { do: 'check', number: 1 },
    ],
    [
      'none that was deleted',
      { records: new Map([[1, { ...quiet(1), gone: true }]]), runs: new Map([['r1', run]]) },
      { do: 'wait' },
    ],
    ['a run that was removed', { listed: listed(1), records: new Map([[1, quiet(1)]]) }, { do: 'close', number: 1 }],
    [
      'one that is over and not changed',
      { listed: listed(1), records: new Map([[1, { ...quiet(1), over: true }]]) },
      { do: 'wait' },
    ],
    [
      'one that is over, and whose run works again',
      { records: new Map([[1, { ...quiet(1), over: true }]]), runs: new Map([['r1', run]]) },
      { do: 'reopen', number: 1 },
    ],
    [
      'the label of one that works again, whatever became of the other label',
      {
        records: new Map([
          [
            1,
            {
              ...quiet(1),
              label: 'done',
              reopened: true,
              comment: { id: '1', says: statusText({ ...run, isAgain: true }) },
            },
          ],
        ]),
        runs: new Map([['r1', run]]),
      },
      { do: 'label', number: 1, state: 'running' },
    ],
    [
      'one that is over and was changed',
      { listed: [{ number: 1, labels: [], changed: 'b' }], records: new Map([[1, { ...quiet(1), over: true }]]) },
      { do: 'look', number: 1 },
    ],
  ])('%s', (_, more, expected) => {
    expect(decideIntake(view(more))).toMatchObject(expected);
  });
});
