import type { Locale } from '../../model/locale.ts';
import type { MailTaskStatus } from '../../model/mail/vocabulary.ts';
import type { DeliveryState, MailTrace } from '../../substrate/ports/mailbox.ts';
import { counted } from '../../text/counted.ts';

// Texts of `squad mail` and the panes around messages, in the two languages of `mail.locale`.

type Happening = Exclude<MailTrace['event'], 'message' | 'ack' | 'presence'> | 'delivered' | 'accepted' | 'registered';

interface Counts {
  readonly messages: number;
  readonly unread: number;
  readonly dead: number;
  readonly refused: number;
}

const EN = {
  counts: ({ messages, unread, dead, refused }: Counts) =>
    `${counted(messages, 'message')}, ${unread} unread, ${dead} given up, ${refused} refused`,
  session: (id: string, epoch: number) => `session ${id}  epoch ${epoch}`,
  unanswered: 'without an answer',
  members: 'members',
  tasks: 'tasks',
  givenUp: 'given up',
  overdue: ', overdue',
  next: 'Next',
  unread: (count: number, oldest: string | null) =>
    `${count} unread${oldest === null ? '' : `, the oldest for ${oldest}`}`,
  person: 'a person',
  online: 'online',
  offline: 'offline',
  owner: (name: string) => `of ${name}`,
  until: (time: string) => `until ${time}`,
  afterRetries: (recipient: string, retries: number, why: string) => `${recipient} after ${retries} retries: ${why}`,
  notRead: 'not read in time',
  readLate: '(reads it, late)',
  noMail: 'no new mail',
  staysUnread: (agent: string) => `It stays unread: it is for the agent ${agent}. To read it in its place: --take`,
  notAnsweredFor: (age: string) => `not answered for ${age}`,
  notAnsweredInTime: 'not answered in time',
  held: 'waits for the end of its turn',
  heldInPane: 'once its turn ends',
  window: (name: string) => `window ${name}`,
  sent: 'sent',
  sentBefore: 'sent before',
  deferred: '(when this turn completes)',
  answeredBy: (who: string) => `answered by ${who}`,
  noOneInTime: 'no one in time',
  follow: (command: string) => `The message is sent. Follow it with: ${command}`,
  noAsks: 'no question waits for your answer',
  toAnswer: (count: number, oldest: string) => `${count} to answer, oldest ${oldest}`,
  toRead: (count: number, oldest: string) => `${count} unread, oldest ${oldest}`,
  happened: {} as Readonly<Partial<Record<Happening, string>>>,
  status: {} as Readonly<Partial<Record<MailTaskStatus, string>>>,
  state: {} as Readonly<Partial<Record<DeliveryState, string>>>,
};

const ZH: typeof EN = {
  counts: ({ messages, unread, dead, refused }) =>
    `${messages} 条消息，${unread} 条未读，${dead} 条已放弃，${refused} 条被拒绝`,
  session: (id, epoch) => `会话 ${id}  epoch ${epoch}`,
  unanswered: '待答复',
  members: '成员',
  tasks: '任务',
  givenUp: '已放弃',
  overdue: '，已超时',
  next: '下一步',
  unread: (count, oldest) => `${count} 条未读${oldest === null ? '' : `，最早的已等待 ${oldest}`}`,
  person: '人',
  online: '在线',
  offline: '离线',
  owner: (name) => `负责人 ${name}`,
  until: (time) => `期限 ${time}`,
  afterRetries: (recipient, retries, why) => `${recipient}，重试 ${retries} 次后：${why}`,
  notRead: '未及时读取',
  readLate: '（补读）',
  noMail: '没有新邮件',
  staysUnread: (agent) => `仍为未读：它是给 agent ${agent} 的。若要代为读取：--take`,
  notAnsweredFor: (age) => `已有 ${age} 未答复`,
  notAnsweredInTime: '未及时答复',
  held: '待它的这一轮结束',
  heldInPane: '待它的这一轮结束',
  window: (name) => `窗口 ${name}`,
  sent: '已发送',
  sentBefore: '此前已发送',
  deferred: '（待这一轮完成）',
  answeredBy: (who) => `答复：${who}`,
  noOneInTime: '无人及时答复',
  follow: (command) => `消息已发送。跟踪它：${command}`,
  noAsks: '没有等待你答复的问题',
  toAnswer: (count, oldest) => `${count} 条待答复，最早 ${oldest}`,
  toRead: (count, oldest) => `${count} 条未读，最早 ${oldest}`,
  happened: {
    ...{ delivered: '已送达', accepted: '已读取', registered: '已上线' },
    ...{ retry: '重投', dead: '已放弃', overdue: '已超时', void: '作废' },
  } satisfies Record<Happening, string>,
  status: {
    ...{ open: '进行中', verify_pending: '待复核', verified: '已复核', done: '完成', failed: '失败' },
  } satisfies Record<MailTaskStatus, string>,
  state: {
    ...{ waiting: '未读', leased: '读取中', accepted: '已读取', dead: '已放弃', void: '作废' },
  } satisfies Record<DeliveryState, string>,
};

export type MailWords = typeof EN;

export function mailWords(locale: Locale): MailWords {
  return locale === 'zh' ? ZH : EN;
}
