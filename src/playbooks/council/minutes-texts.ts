import type { View } from '../../model/plan.ts';
import type { Saying } from './sayings.ts';

// The words of the minutes and of how the council went, in the two languages of `mail.locale`.

const EN = {
  title: (objective: string) => `# Council: ${objective}`,
  about: (document: string, main: string, members: string) =>
    `About ${document}. MAIN is ${main}; members are ${members}.`,
  seat: (address: string, agent: string) => `${address} (${agent})`,
  review: '## Review',
  verification: (round: number) => `## Verification ${round}`,
  sayings: '| member | said | issues | summary |',
  said: {
    mail: 'by message',
    answer: 'by its answer',
    failed: 'could not answer',
    silent: 'silent: approves nothing',
    waiting: 'not yet',
  } satisfies Record<Saying['how'], string> as Readonly<Record<Saying['how'], string>>,
  improvement: (round: number, status: string, summary: string) => `Improvement ${round}: ${status}. ${summary}`,
  work: '## Work',
  assigned: '| task | for | what | status |',
  questions: '## Questions',
  open: 'open',
  answered: (by: string, words: string) => `answered by ${by}: ${words}`,
  failed: (by: string, reason: string) => `not answered, ${by} gave up: ${reason}`,
  noOne: 'no one answered',
  close: '## Close',
  openPoints: 'Open:',
  stillOpen: (rounds: number) => `issues were still open after ${rounds} rounds`,
  allDelivered: 'all work is delivered',
  delivered: (tasks: string) => `delivered: ${tasks}`,
  unheard: (asking: string, noOne: boolean, names: string) =>
    `${asking}: ${noOne ? 'no member answered:' : 'no answer from'} ${names}`,
  how: { failed: 'failed', silent: 'silent', waiting: 'waiting' } as Readonly<Partial<Record<Saying['how'], string>>>,
  status: {} as Readonly<Record<string, string>>,
};

const ZH: typeof EN = {
  title: (objective) => `# 议事：${objective}`,
  about: (document, main, members) => `议题：${document}。MAIN 是 ${main}；成员是 ${members}。`,
  seat: (address, agent) => `${address}（${agent}）`,
  review: '## 审查',
  verification: (round) => `## 第 ${round} 次复核`,
  sayings: '| 成员 | 答复方式 | 问题数 | 摘要 |',
  said: { mail: '邮件', answer: '答案', failed: '未能答复', silent: '沉默：不表示同意', waiting: '尚未' },
  improvement: (round, status, summary) => `第 ${round} 次改进：${status}。${summary}`,
  work: '## 工作',
  assigned: '| 任务 | 执行者 | 内容 | 状态 |',
  questions: '## 提问',
  open: '未答复',
  answered: (by, words) => `${by} 已答复：${words}`,
  failed: (by, reason) => `未答复，${by} 放弃：${reason}`,
  noOne: '无人答复',
  close: '## 结束',
  openPoints: '待处理：',
  stillOpen: (rounds) => `${rounds} 轮之后仍有未解决的问题`,
  allDelivered: '全部工作已交付',
  delivered: (tasks) => `已交付：${tasks}`,
  unheard: (asking, noOne, names) => `${asking}：${noOne ? '没有成员答复：' : '以下成员没有答复：'}${names}`,
  how: { failed: '失败', silent: '沉默', waiting: '等待中' },
  status: { done: '完成', failed: '失败', skipped: '已跳过', cancelled: '已取消', waiting: '等待中', live: '进行中' },
};

export function minutesTexts({ locale }: Pick<View, 'locale'>): typeof EN {
  return locale === 'zh' ? ZH : EN;
}
