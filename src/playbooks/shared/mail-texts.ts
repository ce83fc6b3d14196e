import type { View } from '../../model/plan.ts';

// Briefs of the tasks that mail adds. The words of a message stay in its fence, in the mail of the prompt.

const EN = {
  answerTitle: (from: string) => `Answer ${from}`,
  handOffTitle: (from: string) => `Hand-off from ${from}`,
  assignmentTitle: (type: string, from: string) => `${type} for ${from}`,
  review: (from: string, kind: 'review' | 'verify') =>
    `${from} asks you for a ${kind === 'review' ? 'review' : 'verification'}: see your mail below. Look, change nothing, and answer with the tool \`report\`, or with \`done\` if there is nothing to report.`,
  question: (from: string, action: string) =>
    `${from} asks you a question (${action}): see your mail below. Answer it. Use the tool \`reply\` of the squad server, or give the answer at the end of your turn in the form asked for.`,
  unclear: (from: string) =>
    [
      `${from} does not understand something and cannot continue: see your mail below.`,
      'First complete the documentation, so that the question does not come up again: where in the code, which functions, which steps,',
      'which limits, how to check the result. Name files and lines. Change documentation only, and commit it.',
      'Then answer with `doc_updated: true`, and say in `doc_path` where you wrote it. If nothing needs to be written, say why in `reason`.',
      'Use the tool `reply` of the squad server, or give the answer at the end of your turn in the form asked for. Both have these fields.',
    ].join('\n'),
  morePaths:
    'Its task may change only the paths that the plan gave it. If it has to change others, name them in `paths` of your answer: files and folders, as few as do. Otherwise `paths` is empty, and you say what to do instead. squad adds no path that another task changes at the same time.',
  handOff: (from: string, id: string) =>
    `${from} hands its work on to you: see the message ${id} in your mail below. Do the rest of it, as far as your role allows.`,
  assignment: (from: string, id: string) =>
    `${from} has assigned work to you: see the message ${id} in your mail below. Do what it asks for, as far as your role allows.`,
  writeFirst: 'Complete the documentation before you answer, or give the reason why nothing needs to be written.',
  noReport: 'its turn ended without a report',
  noForm: 'its answer does not have the form asked for',
  noAnswer: (by: string, why: string) =>
    `${by} gave no answer (${why}): decide what is reasonable and say what you assumed, or end with \`fail\``,
};

const ZH: typeof EN = {
  answerTitle: (from) => `答复 ${from}`,
  handOffTitle: (from) => `${from} 移交的工作`,
  assignmentTitle: (type, from) => `${from} 分配的任务：${type}`,
  review: (from, kind) =>
    `${from} 请你${kind === 'review' ? '审查' : '复核'}：见下方邮件。只查看，不作任何修改；用工具 \`report\` 答复，没有问题时用 \`done\`。`,
  question: (from, action) =>
    `${from} 向你提问（${action}）：见下方邮件。请回答。用 squad 服务器的工具 \`reply\`，或在本轮结束时按要求的格式给出答案。`,
  unclear: (from) =>
    [
      `${from} 有不明白之处，无法继续：见下方邮件。`,
      '先完善文档，使同样的问题不再出现：编码路径、函数名、实现步骤、边界条件、如何验证结果。写明文件和行号。只修改文档，并提交。',
      '然后回答，设 `doc_updated: true`，并在 `doc_path` 中说明写在哪里。若无需写入文档，在 `reason` 中说明原因。',
      '用 squad 服务器的工具 `reply`，或在本轮结束时按要求的格式给出答案；两者都有这些字段。',
    ].join('\n'),
  morePaths:
    '该任务只能修改计划分配给它的路径。若确需修改其他路径，请在答复的 `paths` 中列出（文件或目录，尽量少）；否则 `paths` 留空，并说明应如何处理。其他任务正在修改的路径，squad 不会添加。',
  handOff: (from, id) => `${from} 把工作移交给你：见下方邮件中的消息 ${id}。在你的角色允许的范围内完成其余部分。`,
  assignment: (from, id) => `${from} 给你分配了任务：见下方邮件中的消息 ${id}。在你的角色允许的范围内完成。`,
  writeFirst: '回答之前先完善文档，或说明为什么无需写入文档。',
  noReport: '它的这一轮结束时没有给出报告',
  noForm: '它的答案不符合要求的格式',
  noAnswer: (by, why) => `${by} 没有给出答复（${why}）：请合理决定并写明你的假设，或以 \`fail\` 结束`,
};

export function mailTexts({ locale }: Pick<View, 'locale'>): typeof EN {
  return locale === 'zh' ? ZH : EN;
}
