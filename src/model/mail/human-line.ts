import { decodedLength, decodedText } from '../../text/base64.ts';
import { fieldsOf, type Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Locale } from '../locale.ts';
import type { MailMessage } from './envelope.ts';
import { NOT_WRITTEN } from './effects.ts';
import { kindOf, type MailKind } from './kind.ts';
import { routerNote } from './router-note.ts';
import { ROUTER } from './vocabulary.ts';

type Shown = Pick<MailMessage, 'from' | 'to' | 'type' | 'action' | 'task_id'> &
  Partial<Pick<MailMessage, 'body_encoding'>>;
type Fields = Readonly<Record<string, unknown>>;

const EN = {
  ...{ from: 'from', question: 'question', doc: 'doc', code: 'code', to: 'to', task: 'task', says: 'says' },
  ...{ issues: 'issues', news: 'new issues', noNews: 'no new issues', written: 'the documentation has it' },
  ...{ toWhom: 'to', retries: 'retries' },
  bytes: (count: number) => `base64, ${count} bytes`,
  note: (text: string) => text,
  status: {} as Readonly<Record<string, string>>,
};
type Words = typeof EN;

const WORDS: Readonly<Record<Locale, Words>> = {
  en: EN,
  zh: {
    ...{ from: '窗口', question: '问题', doc: '文档路径', code: '代码路径', to: '收件', task: '任务', says: '内容' },
    ...{ issues: '问题数', news: '有新问题', noNews: '无新问题', written: '已写入文档' },
    ...{ toWhom: '收件', retries: '重试' },
    bytes: (count) => `base64，${count} 字节`,
    note: (text) => routerNote(text, 'zh'),
    status: { no_issues: '无问题', delivered: '已交付', [NOT_WRITTEN]: '发送者称文档中已有答案，但没有交付任何修改' },
  },
};

const CHINESE: Readonly<Record<string, string>> = {
  ...{ review: '请求审查', assign: '分配任务', handoff: '移交工作', clarify: '提问', verify: '请求复核' },
  ...{ review_feedback: '审查反馈', note: '留言', answer: '答复', done: '完成', verified: '复核结果', fail: '失败' },
};

/** Fields that any message may have, in the order in which one is shown: those of its kind come first, and fields of its own between. */
const WORDY = ['summary', 'changes_summary', 'answer', 'text'] as const;
const OTHERWISE = ['reason', 'task_type', 'status', 'doc_path'] as const;

/** The longest text of one part, so that the parts after it stay in sight. */
const PART = 300;

/**
 * A message in one line for people. A question shows what is asked and where; everything else its kind, recipients, task and
 * most important text. `body`: its text, read back if it is in a file.
 */
export function humanLine(message: Shown, body: string, locale: Locale): string {
  const fields = fieldsOf(body);
  const words = WORDS[locale];
  const line = (parts: readonly (readonly [string, string])[]): string =>
    parts.map(([name, value]) => `${name}:${value}`).join(' | ');
  const from = [words.from, part(message.from)] as const;
  const kind = kindOf(message.type, message.action, fields as Record<string, Json>);
  if (kind?.line?.[0] === 'question') {
    return line([
      from,
      [words.question, part(fields['question'])],
      [words.doc, part(fields['doc_path'])],
      [words.code, part(fields['code_path'])],
    ]);
  }
  const about = [words.task, part(message.task_id)] as const;
  const says = saysOf(message, body, kind, words);
  return `${line([from])} | ${kindName(message, kind, locale)} | ${line([[words.to, part(message.to.join(','))], about, [words.says, says]])}`;
}

/** The kind of a message for people: in English as the protocol has it. */
function kindName(
  { type, action }: Pick<MailMessage, 'type' | 'action'>,
  kind: MailKind | undefined,
  locale: Locale,
): string {
  const own = locale === 'zh' && kind !== undefined ? CHINESE[kind.name] : undefined;
  return own ?? (action === undefined ? type : `${type}/${action}`);
}

function saysOf(
  { from, body_encoding: encoding }: Shown,
  body: string,
  kind: MailKind | undefined,
  words: Words,
): string {
  if (encoding === 'base64') return encodedText(body, words);
  const fields = fieldsOf(body);
  return from === ROUTER ? givenUp(fields, kind, words) : textOf(fields, kind, words);
}

/** The text in it; if it is not text, its size. */
function encodedText(base64: string, words: Words): string {
  const text = decodedText(base64);
  return text === undefined ? `(${words.bytes(decodedLength(base64))})` : part(text);
}

/** The most important text of a message as it was sent, in one line for people. */
export function saidIn(message: Shown, body: string): string {
  return saysOf(message, body, kindOf(message.type, message.action, fieldsOf(body) as Record<string, Json>), WORDS.en);
}

/** The most important text of a message, in one line for people. */
export function said(
  message: Pick<MailMessage, 'from' | 'type' | 'action'>,
  body: Json,
  locale: Locale = 'en',
): string {
  return saysOf(
    { ...message, to: [] },
    JSON.stringify(body),
    kindOf(message.type, message.action, body),
    WORDS[locale],
  );
}

/** ROUTER's report of a message that it gave up: `#12 to B: deadline_exceeded (its deadline has passed, 3 retries)`. */
function givenUp(fields: Fields, kind: MailKind | undefined, words: Words): string {
  const { message_id: id, target, reason, last_error: error, retries } = fields;
  if (typeof id !== 'string') return textOf(fields, kind, words);
  const tries = typeof retries === 'number' ? `, ${retries} ${words.retries}` : '';
  const note = (value: unknown): string => part(typeof value === 'string' ? words.note(value) : value);
  return `#${part(id.split('-').at(-1))} ${words.toWhom} ${part(target)}: ${note(reason)} (${note(error)}${tries})`;
}

/** Counts and findings, then the first text, or what its sender says in fields of its own. */
function textOf(fields: Fields, kind: MailKind | undefined, words: Words): string {
  const { issue_count: issues, has_new_issues: news, doc_updated: written } = fields;
  const first = kind?.line ?? [];
  const facts = [
    ...(first.includes('issue_count') && typeof issues === 'number' ? [`${words.issues} ${issues}`] : []),
    ...(first.includes('has_new_issues') && typeof news === 'boolean' ? [news ? words.news : words.noNews] : []),
  ];
  const said = firstText(fields, [...first, ...WORDY]) ?? ownFields(fields, kind) ?? firstText(fields, OTHERWISE);
  const shown = said === undefined ? undefined : (words.status[said] ?? said);
  const updated = said === undefined && written === true ? [words.written] : [];
  return [...facts, ...(shown === undefined ? updated : [shown])].join(', ') || '-';
}

function firstText(fields: Fields, names: readonly string[]): string | undefined {
  return names.map((name) => part(fields[name])).find((text) => text !== '-');
}

/** Fields of a structured body that its kind does not define: `strategy: exponential_backoff, base_delay_ms: 100`. */
function ownFields(fields: Fields, kind: MailKind | undefined): string | undefined {
  const known = new Set([...Object.keys(kind?.body.shape ?? {}), ...Object.keys(kind?.also ?? {}), ...OTHERWISE]);
  const own = Object.entries(fields).filter(([name, value]) => !known.has(name) && value !== null);
  const text = own.map(([name, value]) => `${name}: ${valueText(value)}`).join(', ');
  return text === '' ? undefined : part(text);
}

function valueText(value: unknown): string {
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join('; ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `|` separates the parts, so no part may hold one. */
function part(value: unknown): string {
  const text = typeof value === 'string' ? plainLine(value, PART).replaceAll('|', '¦') : '';
  return text === '' ? '-' : text;
}
