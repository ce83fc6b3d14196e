import type { Locale } from '../locale.ts';

/** Why a copy of a message was given up, tried again or annulled. The ledger keeps the English words. */
export const ROUTER_NOTE = {
  deadlineOver: 'its deadline is over',
  lifeOver: 'its time to live is over',
  notAccepted: 'it was not accepted in time',
  answerOver: 'the time for its answer is over',
  turnLost: 'its turn did not complete',
  beforeFork: 'it was given up before the fork began',
  promise: 'squad answers in its place, once it knows whether the document that it promises was delivered',
} as const;

const CHINESE: Readonly<Record<keyof typeof ROUTER_NOTE, string>> = {
  deadlineOver: '期限已过',
  lifeOver: '有效时间已过',
  notAccepted: '未在规定时间内读取',
  answerOver: '答复时间已过',
  turnLost: '它的这一轮没有完成',
  beforeFork: '在分叉之前已放弃',
  promise: '待确认所承诺的文档是否交付后，由 squad 代为答复',
};

const KNOWN: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CHINESE).map(([key, text]): [string, string] => [ROUTER_NOTE[key as keyof typeof CHINESE], text]),
  // The reason of a `fail` from ROUTER; others are words of the protocol.
  ['not accepted', '未被读取'],
]);

/** A note for people. A text that is none of the router's own stays as it is. */
export function routerNote(note: string, locale: Locale): string {
  if (locale === 'en') return note;
  const [, retry, why = note] = /^retry (\d+): (.*)$/su.exec(note) ?? [];
  const said = KNOWN.get(why) ?? why;
  return retry === undefined ? said : `第 ${retry} 次重试：${said}`;
}
