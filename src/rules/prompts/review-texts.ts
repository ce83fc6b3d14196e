import type { Locale } from '../../model/locale.ts';

// Texts for a reviewer, in the two languages of `mail.locale`.

const EN = {
  unusable: 'Your verdict cannot be used:',
  giveAgain: 'Give it again for the same commit.',
  heading: (id: string, title: string, round: number) => `# Review of task ${id}: ${title} (round ${round})`,
  look: (commit: string, change: string) =>
    `Review commit ${commit}, which is checked out here. The change is \`${change}\`. Read it and run what you need to be sure. Change nothing.`,
  noCriteria: 'There are no criteria besides the task itself.',
  criteria: 'It must meet these criteria:',
  earlier: 'Findings of earlier rounds:',
  round: (round: number, feedback: string) => `round ${round}: ${feedback}`,
  since: (command: string) => `To see the changes since then, run \`${command}\`.`,
  first:
    'Reject only for what must change before delivery. Give every finding now: later rounds check these findings and do not look for new ones.',
  again:
    'Check whether the work addresses those findings. Check that the changes since then broke nothing: what they broke is a regression. Any other new finding that violates no criterion is recorded for later and is no reason to reject.',
  task: 'The task was:',
  part: (title: string) =>
    `It is one part of the objective “${title}”. The whole objective follows for context. Review only the task.`,
  protected: ', a protected path: an approval needs your word on it',
  checkers:
    'The work changes what checks it. Look whether what was checked before is still checked, because a command that passes shows nothing then:',
  checks:
    '`checks`: for each of these changes its `path`, whether you accept it (`accepted`), and `why` in a sentence. Reject the work if you do not accept one.',
  answer: [
    'Answer with `approved`, a `summary`, and the `findings`. For each finding:',
    '- `text`: the file and line, what is wrong, and how to fix it',
    '- `criterion`: the number of the criterion above that it violates, or null',
    '- `repeated`: true if an earlier round found it and it is still not fixed',
    '- `regression`: true if the change since the last review broke it',
    'A rejection needs at least one finding. Findings of an approval are remarks for later.',
  ].join('\n'),
  categories: (names: string, blocking: string) =>
    [
      `\`category\`: of a rejection, the one of ${names} that its findings belong to; of an approval, null`,
      blocking === ''
        ? '`required_inputs`: empty; `recommended_next_step`: null'
        : `\`required_inputs\`: with ${blocking}, which ends the work, each thing that is missing to go on; otherwise empty\n\`recommended_next_step\`: with ${blocking}, what a person should do next; otherwise null`,
    ].join('\n'),
};

export type ReviewTexts = typeof EN;

const ZH: ReviewTexts = {
  unusable: '你的结论无法使用：',
  giveAgain: '请就同一提交重新给出结论。',
  heading: (id, title, round) => `# 审查任务 ${id}：${title}（第 ${round} 轮）`,
  look: (commit, change) =>
    `审查提交 ${commit}，它已在此检出。修改内容见 \`${change}\`。阅读它，并运行你需要的命令以求确定。不要作任何修改。`,
  noCriteria: '除任务本身外没有其他标准。',
  criteria: '它必须满足以下标准：',
  earlier: '先前各轮的问题：',
  round: (round, feedback) => `第 ${round} 轮：${feedback}`,
  since: (command) => `要查看此后的修改，运行 \`${command}\`。`,
  first: '只因交付前必须修改之处而拒绝。现在就给出所有问题：以后各轮只检查这些问题，不再寻找新问题。',
  again:
    '检查这项工作是否解决了那些问题。检查此后的修改没有破坏任何东西：它们破坏的就是 regression。其他不违反任何标准的新问题只记录下来供以后处理，不是拒绝的理由。',
  task: '任务是：',
  part: (title) => `它是目标“${title}”的一部分。下面是完整目标，供了解背景。只审查该任务。`,
  protected: '，受保护的路径：批准时需要你对它表态',
  checkers: '这项工作修改了检查它的东西。看看以前检查的内容是否仍被检查，否则命令通过也说明不了什么：',
  checks:
    '`checks`：对上述每处修改给出其 `path`、你是否接受（`accepted`），以及一句话的 `why`。若有一处不接受，就拒绝这项工作。',
  answer: [
    '以 `approved`、`summary` 和 `findings` 作答。每个 finding：',
    '- `text`：文件和行号、哪里不对、如何修正',
    '- `criterion`：它所违反的上述标准的编号，或 null',
    '- `repeated`：若先前某轮已发现且仍未修正，则为 true',
    '- `regression`：若是上次审查之后的修改造成的破坏，则为 true',
    '拒绝至少需要一个 finding。批准时的 findings 是供以后参考的意见。',
  ].join('\n'),
  categories: (names, blocking) =>
    [
      `\`category\`：拒绝时，取 ${names} 中其 findings 所属的一个；批准时为 null`,
      blocking === ''
        ? '`required_inputs`：为空；`recommended_next_step`：null'
        : `\`required_inputs\`：取 ${blocking}（它会结束这项工作）时，列出继续所缺的每一项；否则为空\n\`recommended_next_step\`：取 ${blocking} 时，说明人下一步该做什么；否则为 null`,
    ].join('\n'),
};

export function reviewTexts(locale: Locale): ReviewTexts {
  return locale === 'zh' ? ZH : EN;
}
