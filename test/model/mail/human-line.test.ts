import { describe, expect, it } from 'vitest';
import { humanLine } from '../../../src/model/mail/human-line.ts';
import { MAIL_KINDS } from '../../../src/model/mail/kind.ts';
import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import { GOOD, type Draft } from './drafts.ts';

const line = ({ by, said, body }: Draft, locale: 'en' | 'zh', more: object = {}): string =>
  humanLine({ from: by, ...said } as unknown as MailMessage, JSON.stringify({ ...body, ...more }), locale);

describe('a message in one line', () => {
  it.each([
    ['clarify', 'zh', '窗口:A | 问题:retry backoff? | 文档路径:docs/design.md#L120 | 代码路径:src/router.py#L145'],
    ['clarify', 'en', 'from:A | question:retry backoff? | doc:docs/design.md#L120 | code:src/router.py#L145'],
    ['verify', 'zh', '窗口:MAIN | 问题:is it clear now? | 文档路径:docs/design.md | 代码路径:-'],
    ['verify', 'en', 'from:MAIN | question:is it clear now? | doc:docs/design.md | code:-'],
    ['review', 'en', 'from:MAIN | ask/review | to:A,B | task:DOC-1 | says:docs/design.md'],
    ['assign', 'zh', '窗口:MAIN | 分配任务 | 收件:C | 任务:FEAT-9 | 内容:implement'],
    [
      'feedback',
      'en',
      'from:B | report/review_feedback | to:MAIN | task:DOC-1 | says:issues 2, 发现2处需要调整以匹配流程',
    ],
    ['note', 'en', 'from:builder-1 | send | to:MAIN | task:- | says:half of it is there'],
    ['noIssues', 'en', 'from:A | done | to:MAIN | task:DOC-1 | says:no_issues'],
    ['noIssues', 'zh', '窗口:A | 完成 | 收件:MAIN | 任务:DOC-1 | 内容:无问题'],
    ['verified', 'en', 'from:A | done/verified | to:MAIN | task:DOC-1 | says:no new issues'],
    ['fail', 'en', 'from:A | fail | to:MAIN | task:FEAT-1 | says:missing_dependency'],
    ['done', 'en', 'from:A | done | to:MAIN | task:FEAT-1 | says:commits: abc'],
  ] as const)('%s, %s', (name, locale, expected) => {
    expect(line(GOOD[name], locale)).toBe(expected);
  });

  it('shows an answer in its own words, not the reason beside it', () => {
    const shown = line(GOOD.note, 'en', { text: undefined, answer: '500 ms', reason: 'it is written there' });
    expect(shown).toMatch(/says:500 ms$/);
  });

  it.each([
    [
      'en',
      { strategy: 'exponential_backoff', base_delay_ms: 100, doc_updated: true },
      'says:strategy: exponential_backoff, base_delay_ms: 100',
    ],
    ['zh', { strategy: 'exponential_backoff', reason: '已在文档中' }, '内容:strategy: exponential_backoff'],
    [
      'en',
      { steps: ['read', 'write'], limits: { most: 5 }, doc_path: 'docs/a.md' },
      'says:steps: read; write, limits: {"most":5}',
    ],
    ['en', { reason: 'it is written there' }, 'says:it is written there'],
    ['en', { doc_updated: true }, 'says:the documentation has it'],
    ['zh', { doc_updated: true }, '内容:已写入文档'],
  ] as const)('shows a structured answer by its own fields, %s: %j', (locale, body, says) => {
    const message = { from: 'MAIN', to: ['A'], type: 'send', action: 'answer' } as const;
    expect(humanLine(message, JSON.stringify(body), locale).split(' | ').at(-1)).toBe(says);
  });

  it.each([
    ['en', 'aGkgdGhlcmU=', 'says:hi there'],
    ['en', 'AP8=', 'says:(base64, 2 bytes)'],
    ['zh', 'AP8=', '内容:(base64，2 字节)'],
  ] as const)('shows base64 as text, or by its size, %s: %s', (locale, body, says) => {
    const message = { from: 'A', to: ['MAIN'], type: 'send', body_encoding: 'base64' } as const;
    expect(humanLine(message, body, locale).split(' | ').at(-1)).toBe(says);
  });

  it.each([
    ['en', { reason: 'B gave no answer', blocked_by: [] }, 'says:B gave no answer'],
    [
      'zh',
      { message_id: 's-1-4', target: 'A', reason: 'not accepted', last_error: 'its deadline is over', retries: 2 },
      '内容:#4 收件 A: 未被读取 (期限已过, 2 重试)',
    ],
  ] as const)('shows what ROUTER reports, %s: %j', (locale, body, says) => {
    const message = { from: 'ROUTER', to: ['MAIN'], type: 'fail' } as const;
    expect(humanLine(message, JSON.stringify(body), locale).split(' | ').at(-1)).toBe(says);
  });

  it('has a Chinese name for each kind of message', () => {
    for (const { type, action } of MAIL_KINDS) {
      const message = { from: 'A', to: ['MAIN'], type, ...(action === null ? {} : { action }) };
      expect(humanLine(message, '{}', 'zh')).not.toMatch(/[a-z]/);
    }
  });

  it('holds no second line, no sequence for a terminal, and no part that the sender made', () => {
    const question = 'why?\r\n窗口:MAIN | 问题:\u001b[2Jgo on\u202e | 代码路径:/etc';
    expect(line(GOOD.clarify, 'zh', { question, doc_path: undefined })).toBe(
      '窗口:A | 问题:why? 窗口:MAIN ¦ 问题:go on\\u202e ¦ 代码路径:/etc | 文档路径:- | 代码路径:src/router.py#L145',
    );
  });

  it('stays short, and shows the parts behind a long one', () => {
    const shown = line(GOOD.clarify, 'en', { question: 'x'.repeat(100_000) });
    expect(shown.length).toBeLessThan(500);
    expect(shown).toMatch(/x… \| doc:docs\/design\.md#L120 \| code:src\/router\.py#L145$/);
  });

  it.each(['', 'AP8=', '[]', '{"question":7}', '{'])('has a place for a body that says nothing: %s', (body) => {
    const message = { from: 'A', to: ['MAIN'], type: 'ask', action: 'clarify' } as const;
    expect(humanLine(message, body, 'en')).toBe('from:A | question:- | doc:- | code:-');
  });
});
