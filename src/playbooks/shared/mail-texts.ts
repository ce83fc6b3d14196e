import type { View } from '../../model/plan.ts';

// Titles of the tasks that mail adds, and what squad says of an answer that did not come, in the two languages of `mail.locale`.

const EN = {
  answerTitle: (from: string) => `Answer ${from}`,
  handOffTitle: (from: string) => `Hand-off from ${from}`,
  assignmentTitle: (type: string, from: string) => `${type} for ${from}`,
  noReport: 'its turn ended without a report',
  noForm: 'its answer does not have the form asked for',
  noAnswer: (by: string, why: string) =>
    `${by} gave no answer (${why}): decide what is reasonable and say what you assumed, or end with \`fail\``,
};

const ZH: typeof EN = {
  answerTitle: (from) => `答复 ${from}`,
  handOffTitle: (from) => `${from} 移交的工作`,
  assignmentTitle: (type, from) => `${from} 分配的任务：${type}`,
  noReport: '它的这一轮结束时没有给出报告',
  noForm: '它的答案不符合要求的格式',
  noAnswer: (by, why) => `${by} 没有给出答复（${why}）：请合理决定并写明你的假设，或以 \`fail\` 结束`,
};

export function mailTexts({ locale }: Pick<View, 'locale'>): typeof EN {
  return locale === 'zh' ? ZH : EN;
}
