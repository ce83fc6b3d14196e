import { fieldsOf } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { MailMessage } from './envelope.ts';
import { kindOf } from './kind.ts';
import { ROUTER } from './vocabulary.ts';

type Shown = Pick<MailMessage, 'from' | 'to' | 'type' | 'action' | 'task_id'>;
type Fields = Readonly<Record<string, unknown>>;

const WORDS = {
  en: {
    ...{ from: 'from', question: 'question', doc: 'doc', code: 'code', to: 'to', task: 'task', says: 'says' },
    ...{ issues: 'issues', news: 'new issues', noNews: 'no new issues', toWhom: 'to', retries: 'retries' },
  },
  zh: {
    ...{ from: '窗口', question: '问题', doc: '文档路径', code: '代码路径', to: '收件', task: '任务', says: '内容' },
    ...{ issues: '问题数', news: '有新问题', noNews: '无新问题', toWhom: '收件', retries: '重试' },
  },
} as const;
type Words = (typeof WORDS)['en' | 'zh'];

/** Fields that any message may have, in the order in which one is shown. Those of its kind come first. */
const COMMON = ['summary', 'changes_summary', 'answer', 'text', 'reason', 'task_type', 'status', 'doc_path'] as const;

/** The longest text of one part, so that the parts after it stay in sight. */
const PART = 300;

/**
 * A message in one line for people. A question shows what is asked and where; everything else its kind, recipients, task and
 * most important text. `body`: its text, read back if it is in a file.
 */
export function humanLine(message: Shown, body: string, locale: 'en' | 'zh'): string {
  const fields = fieldsOf(body);
  const words = WORDS[locale];
  const line = (parts: readonly (readonly [string, string])[]): string =>
    parts.map(([name, value]) => `${name}:${value}`).join(' | ');
  const from = [words.from, part(message.from)] as const;
  const first = kindOf(message.type, message.action)?.line ?? [];
  if (first[0] === 'question') {
    return line([
      from,
      [words.question, part(fields['question'])],
      [words.doc, part(fields['doc_path'])],
      [words.code, part(fields['code_path'])],
    ]);
  }
  const what = message.action === undefined ? message.type : `${message.type}/${message.action}`;
  const about = [words.task, part(message.task_id)] as const;
  const says = message.from === ROUTER ? givenUp(fields, words) : textOf(fields, first, words);
  return `${line([from])} | ${what} | ${line([[words.to, part(message.to.join(','))], about, [words.says, says]])}`;
}

/** ROUTER's report of a message that it gave up: `#12 to B: deadline_exceeded (its deadline has passed, 3 retries)`. */
function givenUp(fields: Fields, words: Words): string {
  const { message_id: id, target, reason, last_error: error, retries } = fields;
  if (typeof id !== 'string') return textOf(fields, [], words);
  const tries = typeof retries === 'number' ? `, ${retries} ${words.retries}` : '';
  return `#${part(id.split('-').at(-1))} ${words.toWhom} ${part(target)}: ${part(reason)} (${part(error)}${tries})`;
}

/** Counts and findings, then the first text. */
function textOf(fields: Fields, first: readonly string[], words: Words): string {
  const shown = [...new Set([...first, ...COMMON])].map((name) => {
    const value = fields[name];
    if (name === 'issue_count' && typeof value === 'number') return [`${words.issues} ${value}`, ''] as const;
    if (name === 'has_new_issues' && typeof value === 'boolean')
      return [value ? words.news : words.noNews, ''] as const;
    return ['', part(value) === '-' ? '' : part(value)] as const;
  });
  const facts = shown.flatMap(([fact]) => (fact === '' ? [] : [fact]));
  const texts = shown.flatMap(([, text]) => (text === '' ? [] : [text])).slice(0, 1);
  return [...facts, ...texts].join(', ') || '-';
}

/** `|` separates the parts, so no part may hold one. */
function part(value: unknown): string {
  const text = typeof value === 'string' ? plainLine(value, PART).replaceAll('|', '¦') : '';
  return text === '' ? '-' : text;
}
