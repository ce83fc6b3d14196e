import type { Locale } from '../../model/locale.ts';
import type { Prompt } from '../../model/plan/work.ts';

// Texts around the brief of a task, in the two languages of `mail.locale`.

type Source = Extract<Prompt, { why: 'feedback' }>['from'];

const AGAIN = 'Fix it in the same folder and commit.';

const EN = {
  heading: (id: string, title: string) => `# Task ${id}: ${title}`,
  readFirst: (files: string) => `Read these files first: ${files}.`,
  part: (title: string) =>
    `Your task is one part of the objective “${title}”. The whole objective follows for context. Do only your task.`,
  delivered: (tasks: string) => `Already delivered and in your folder: ${tasks}.`,
  deliveredTask: (id: string, title: string) => `${id} (${title})`,
  ownFolder: 'Work only in the current folder, which is your own clone of the repository.',
  readFolder: 'The current folder shows the work so far. Your changes in it are discarded.',
  checked: 'When you say that you are done, the engine checks that:',
  duties: {
    commit: 'your work is committed with git, the message says why, and no tracked change is left uncommitted',
    diff: 'files have changed since you started',
    diffIn: (paths: string) => `something has changed in ${paths}`,
    only: (paths: string) => `nothing has changed but ${paths}`,
    untouched: (paths: string, instead: string) => `nothing has changed in ${paths}: ${instead}`,
    file: (path: string) => `the file ${path} exists`,
    document: (path: string) => `${path} is a Markdown document with text besides its headings`,
    sections: (path: string, headings: readonly string[]) =>
      `${path} is a Markdown document with these headings in this order, and text below each: ${headings.map((one) => `“${one}”`).join(', ')}`,
    absent: (path: string) => `nothing is left at ${path}`,
    command: (run: string) => `\`${run}\` exits with 0`,
    pr: 'a pull request is open at your commit; the engine pushes and opens it',
  },
  mayChange: (paths: string) => `You may change only ${paths}`,
  badForm: 'Your answer did not have the required form:',
  answerAgain: 'Answer again in exactly that form. Change only what the points above need.',
  answered: (task: string) =>
    `What you asked about task ${task} has been answered: see your mail below. Continue the task.`,
  cutShort: (task: string, why: string) =>
    `Your last turn on task ${task} was cut short (${why}). Check the state with \`git status\` and \`git log\`, then finish the task.`,
  headlines: {
    review: (task: string) => `Your work on task ${task} was rejected in review:`,
    evidence: (task: string) => `You said that task ${task} is done. The engine checked, and this is missing:`,
    conflict: (task: string) => `Your work on task ${task} cannot be merged:`,
    verify: (task: string) => `Your work on task ${task} was merged on trial, and this check failed:`,
    playbook: (task: string) => `Task ${task} is open again:`,
    person: (task: string) => `The operator wants you to try task ${task} again:`,
  } satisfies Record<Source, (task: string) => string>,
  advice: {
    review: `${AGAIN} Address every finding. Make a new commit: the rejected commit is not reviewed again.`,
    evidence: 'Do it now, then say that you are done. If it cannot be done, say why.',
    conflict:
      'Run `git merge` with the full id of the commit that it conflicts with; you have it locally. Resolve the conflicts so that the intent of both sides survives, and commit.',
    verify: `${AGAIN} You have the merged commit locally: \`git merge\` it first if you need to see what your work was merged with.`,
    playbook: AGAIN,
    person: AGAIN,
  } satisfies Record<Source, string>,
  earlierWork: (commit: string) => `If your earlier work is no longer here, it is in commit ${commit}.`,
};

export type AuthorTexts = typeof EN;

const AGAIN_ZH = '在同一文件夹中修改并提交。';

const ZH: AuthorTexts = {
  heading: (id, title) => `# 任务 ${id}：${title}`,
  readFirst: (files) => `先阅读这些文件：${files}。`,
  part: (title) => `你的任务是目标“${title}”的一部分。下面是完整目标，供了解背景。只做你的任务。`,
  delivered: (tasks) => `已交付并在你的文件夹中：${tasks}。`,
  deliveredTask: (id, title) => `${id}（${title}）`,
  ownFolder: '只在当前文件夹中工作：它是你自己的仓库副本。',
  readFolder: '当前文件夹显示目前的成果。你在其中的修改会被丢弃。',
  checked: '当你说完成时，引擎会检查：',
  duties: {
    commit: '你的工作已用 git 提交，提交信息说明原因，已跟踪的修改没有遗留未提交的',
    diff: '从你开始以来，有文件发生变化',
    diffIn: (paths) => `${paths} 中有变化`,
    only: (paths) => `除 ${paths} 外没有任何变化`,
    untouched: (paths, instead) => `${paths} 没有变化：${instead}`,
    file: (path) => `文件 ${path} 存在`,
    document: (path) => `${path} 是一份 Markdown 文档，除标题外还有正文`,
    sections: (path, headings) =>
      `${path} 是一份 Markdown 文档，按此顺序包含这些标题，且每个标题下都有正文：${headings.map((one) => `“${one}”`).join('、')}`,
    absent: (path) => `${path} 处没有遗留任何内容`,
    command: (run) => `\`${run}\` 以 0 退出`,
    pr: '在你的提交上有一个打开的 pull request；由引擎推送并打开',
  },
  mayChange: (paths) => `你只能修改 ${paths}`,
  badForm: '你的答案不符合要求的格式：',
  answerAgain: '请严格按该格式重新回答。只修改上述各点所需的内容。',
  answered: (task) => `你就任务 ${task} 提出的问题已有答复：见下方邮件。继续该任务。`,
  cutShort: (task, why) =>
    `你在任务 ${task} 上的上一轮被中断（${why}）。先用 \`git status\` 和 \`git log\` 查看状态，然后完成任务。`,
  headlines: {
    review: (task) => `你在任务 ${task} 上的工作未通过审查：`,
    evidence: (task) => `你说任务 ${task} 已完成。引擎检查后发现缺少：`,
    conflict: (task) => `你在任务 ${task} 上的工作无法合并：`,
    verify: (task) => `你在任务 ${task} 上的工作经试合并后，以下检查失败：`,
    playbook: (task) => `任务 ${task} 重新打开：`,
    person: (task) => `操作者希望你再次尝试任务 ${task}：`,
  },
  advice: {
    review: `${AGAIN_ZH}逐条处理每个问题。请作一次新的提交：被拒绝的提交不会再次审查。`,
    evidence: '现在就做，然后说明已完成。若无法完成，说明原因。',
    conflict: '用 `git merge` 加上与之冲突的提交的完整 id 进行合并；它已在本地。解决冲突时保留双方的意图，然后提交。',
    verify: `${AGAIN_ZH}合并后的提交已在本地：若需查看与什么合并，可先用 \`git merge\` 合并它。`,
    playbook: AGAIN_ZH,
    person: AGAIN_ZH,
  },
  earlierWork: (commit) => `若你先前的工作不在这里，它在提交 ${commit} 中。`,
};

export function authorTexts(locale: Locale): AuthorTexts {
  return locale === 'zh' ? ZH : EN;
}
