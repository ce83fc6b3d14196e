import { describe, expect, it } from 'vitest';
import {
  disagreesWithAll,
  readReport,
  reportLines,
  wordsOf,
  type AuthorReport,
} from '../../src/model/plan/author-report.ts';
import { missingIn } from '../../src/text/missing-in.ts';
import { HOSTILE_MAIL } from '../fixtures/hostile-mail.ts';

const REPORT: AuthorReport = { done: 'built it', checked: [], assumed: [], notDone: [], replies: [] };
const reply = (finding: string, as: 'fixed' | 'disagree' = 'disagree', why = 'because') => ({ finding, as, why });

describe('the report of an author', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'done'],
    ['a form without a field', { done: 'x', checked: [], assumed: [], notDone: [] }],
    ['an exit code that is no number', { ...REPORT, checked: [{ command: 'x', exitCode: '0' }] }],
    ['a reply of another kind', { ...REPORT, replies: [{ ...reply('F1'), as: 'maybe' }] }],
  ])('is not read from %s', (_, answer) => {
    expect(readReport(answer)).toBeUndefined();
    expect(wordsOf({ text: 'said', structured: answer })).toBe('said');
  });

  it('is kept as plain lines of a bounded number and length, without entries that say nothing', () => {
    const many = (text: string) => Array.from({ length: 40 }, (_, index) => `${text}${index}`);
    const report = readReport({
      done: 'x'.repeat(9_000),
      checked: many('npm test ').map((command) => ({ command, exitCode: 1 })),
      assumed: ['None.', ' - ', 'UTF-8\n# Heading', ...many('a')],
      notDone: ['nothing', 'N/A', '没有', '没有测试'],
      replies: many('F').map((finding) => reply(finding)),
    });
    expect(report?.done).toHaveLength(500);
    expect(report?.checked).toHaveLength(20);
    expect(report?.replies).toHaveLength(20);
    expect(report?.assumed).toHaveLength(18);
    expect(report?.assumed[0]).toBe('UTF-8 # Heading');
    expect(report?.notDone).toEqual(['没有测试']);
  });

  it('is one line an entry, whatever it says', () => {
    for (const hostile of HOSTILE_MAIL) {
      const report = readReport({
        ...{ done: hostile, checked: [{ command: hostile, exitCode: 0 }], assumed: [hostile], notDone: [hostile] },
        replies: [{ ...reply(hostile), why: hostile }],
      });
      for (const line of report === undefined ? [] : reportLines(report)) {
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(line.length).toBeLessThan(600);
      }
    }
  });

  it('is told to who judges the work', () => {
    const report = {
      ...REPORT,
      checked: [{ command: 'npm test', exitCode: 1 }],
      assumed: ['UTF-8'],
      notDone: ['the docs'],
      replies: [reply('F1', 'fixed', 'a check'), reply('F2')],
    };
    expect(reportLines(report)).toEqual([
      'Done: built it',
      'Ran `npm test`: exit code 1',
      'Assumed: UTF-8',
      'Not done: the docs',
      'To F1: fixed. a check',
      'To F2: disagrees. because',
    ]);
  });
});

it.each<[string, AuthorReport['replies'], readonly string[], boolean]>([
  ['each finding', [reply('F1'), reply('F2')], ['F1', 'F2'], true],
  ['each, by its number', [reply('2'), reply('[f1] the name')], ['F1', 'F2'], true],
  ['one of two', [reply('F1')], ['F1', 'F2'], false],
  ['one, and another is fixed', [reply('F1'), reply('F2', 'fixed')], ['F1', 'F2'], false],
  ['one that is also fixed', [reply('F1'), reply('F1', 'fixed')], ['F1'], false],
  ['one without a reason', [reply('F1', 'disagree', '')], ['F1'], false],
  ['another one', [reply('F10')], ['F1'], false],
  ['words that name none', [reply('all of them')], ['F1'], false],
  ['none, of a round without labels', [reply('F1')], [], false],
])('disagrees with %s', (_, replies, labels, expected) => {
  expect(disagreesWithAll({ ...REPORT, replies }, labels)).toBe(expected);
});

it.each([
  ['none', []],
  ['没有。', []],
  ['测试没有运行', ['测试没有运行']],
  ['nothing was tested', ['nothing was tested']],
])('takes “%s” for an entry only if it says that something is missing', (text, expected) => {
  expect(missingIn([text])).toEqual(expected);
});
