import type { Locale } from '../../model/locale.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';

// Texts of a member's pane, in the two languages of `mail.locale`.

const EN = {
  introduction: (address: string, run: string, who: string) =>
    `${address} of ${run}${who === '' ? '' : `: ${who}`}. Type /help for the commands.`,
  person: 'a person',
  notSent: 'not sent',
  unknown: 'unknown command; /help lists the commands',
  missing: (example: string) => `the text is missing: ${example}`,
  yourAnswer: 'your answer',
  yourQuestion: 'your question',
  yourNote: 'your note',
  noted: (agent: string, now: boolean) => `${agent} reads it ${now ? 'at once' : 'in its next turn'}`,
  noQuestion: 'no question is open; to ask a member, write @A your question',
  severalQuestions: (numbers: readonly string[]) =>
    `${numbers.length} questions are open (${numbers.join(', ')}): begin with the number of the question you answer`,
  help: (address: string, isAgent: boolean): readonly string[] => [
    ...(address === MAIN
      ? ['your words       answer the only open question']
      : isAgent
        ? [
            'your words       a note to this agent, in its next turn',
            '/now your words  the same at once: ends its turn, and continues its session',
            '/as your words   ask MAIN, as this member',
          ]
        : ['your words       ask MAIN, as this member']),
    '#12 your words   answer message 12',
    '@A your words    ask A',
    '/asks            list the questions that wait for your answer',
    '/quit            close this pane; the run continues',
  ],
};

const ZH: typeof EN = {
  introduction: (address, run, who) => `${run} 的 ${address}${who === '' ? '' : `：${who}`}。输入 /help 查看命令。`,
  person: '人',
  notSent: '未发送',
  unknown: '未知命令；/help 列出命令',
  missing: (example) => `缺少正文：${example}`,
  yourAnswer: '你的答复',
  yourQuestion: '你的问题',
  yourNote: '你的说明',
  noted: (agent, now) => (now ? `${agent} 现在就会读到` : `${agent} 下一轮会读到`),
  noQuestion: '没有待答复的问题；向成员提问时写 @A 你的问题',
  severalQuestions: (numbers) =>
    `有 ${numbers.length} 个待答复的问题（${numbers.join('、')}）：请以所答复问题的编号开头`,
  help: (address, isAgent) => [
    ...(address === MAIN
      ? ['正文         答复唯一待答复的问题']
      : isAgent
        ? [
            '正文         给该智能体的说明，在它的下一轮',
            '/now 正文    同上，但立即：结束它的这一轮，并继续其会话',
            '/as 正文     以该成员的名义向 MAIN 提问',
          ]
        : ['正文         以该成员的名义向 MAIN 提问']),
    '#12 正文     答复消息 12',
    '@A 正文      向 A 提问',
    '/asks        列出等待你答复的问题',
    '/quit        关闭此窗格；运行继续',
  ],
};

export type PaneWords = typeof EN;

export function paneWords(locale: Locale): PaneWords {
  return locale === 'zh' ? ZH : EN;
}
