import { isJsonObject } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { MailMessage } from './envelope.ts';

type Shown = Pick<MailMessage, 'from' | 'to' | 'type' | 'action' | 'task_id'>;
type Words = Readonly<Record<'from' | 'question' | 'doc' | 'code' | 'to' | 'task' | 'says', string>>;

const WORDS: Readonly<Record<'en' | 'zh', Words>> = {
  en: { from: 'from', question: 'question', doc: 'doc', code: 'code', to: 'to', task: 'task', says: 'says' },
  zh: { from: '窗口', question: '问题', doc: '文档路径', code: '代码路径', to: '收件', task: '任务', says: '内容' },
};

/** What a message is about, in the order in which it is looked for. */
const SAYS = ['summary', 'changes_summary', 'answer', 'text', 'reason', 'task_type', 'status', 'doc_path'] as const;

/** One part of the line is cut here, so that the parts behind it stay in sight. */
const PART = 300;

/**
 * A message in one line for people: what is asked and where, or (of anything but a question) what it is, for whom, about
 * which task, and what it says. `body`: the text of it, read back where it is in a file.
 */
export function humanLine(message: Shown, body: string, locale: 'en' | 'zh'): string {
  const fields = fieldsOf(body);
  const words = WORDS[locale];
  const line = (parts: readonly (readonly [string, string])[]): string =>
    parts.map(([name, value]) => `${name}:${value}`).join(' | ');
  const from = [words.from, part(message.from)] as const;
  if (message.action === 'clarify' || message.action === 'verify') {
    return line([
      from,
      [words.question, part(fields['question'])],
      [words.doc, part(fields['doc_path'])],
      [words.code, part(fields['code_path'])],
    ]);
  }
  const what = message.action === undefined ? message.type : `${message.type}/${message.action}`;
  const about = [words.task, part(message.task_id)] as const;
  return `${line([from])} | ${what} | ${line([[words.to, part(message.to.join(','))], about, [words.says, saysOf(fields)]])}`;
}

function saysOf(fields: Readonly<Record<string, unknown>>): string {
  const { issue_count: count, has_new_issues: news } = fields;
  const found = [
    ...(typeof count === 'number' ? [`issues ${count}`] : []),
    ...(typeof news === 'boolean' ? [news ? 'new issues' : 'no new issues'] : []),
    ...SAYS.map((name) => part(fields[name]))
      .filter((text) => text !== '-')
      .slice(0, 1),
  ];
  return found.length === 0 ? '-' : found.join(', ');
}

/** What parts the line is nobody's to write but this file's. */
function part(value: unknown): string {
  const text = typeof value === 'string' ? plainLine(value, PART).replaceAll('|', '¦') : '';
  return text === '' ? '-' : text;
}

/** A body that is no JSON object has nothing to show here; that it is one was checked when it was sent. */
function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
