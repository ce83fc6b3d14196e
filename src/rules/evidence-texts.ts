import type { Locale } from '../model/locale.ts';

// Texts for an author whose finished work lacks something, in the two languages of `mail.locale`.

const EN = {
  and: ', ',
  more: (names: string, left: number) => `${names} and ${left} more`,
  altered: (files: string) => `these files differ from the work that was handed over: ${files}`,
  nothing: 'nothing was changed',
  nothingSince: (commit: string) => `nothing was changed since ${commit} was sent back`,
  failedAgain: (nothing: string, output: string) => `${nothing}, and the check has failed again:\n${output}`,
  unread: (why: string) => `the files in the folder cannot be read: ${why}`,
  stashed: (count: number) => `work is in ${count === 1 ? 'a stash' : `${count} stashes`}; HEAD does not have it`,
  aside: (commit: string) => `${commit}; HEAD does not have it`,
  moreAside: (count: number) => `HEAD does not have ${count} other commits either`,
  notKept: (what: string) => `squad does not keep ${what}`,
  onBranch: (name: string) => `a commit was made on the branch \`${name}\``,
  tagged: (name: string) => `the tag \`${name}\` names a commit`,
  inWorktree: (commit: string) => `the commit ${commit} was made in a worktree of the folder`,
  named: (name: string, commit: string) => `\`${name}\` names the commit ${commit}`,
  inLog: (commit: string) => `the commit ${commit} was made, and no branch has it`,
  ignored: (path: string, by: string, command: string) => `${path} was written, but ${by} ignores it: ${command}`,
  moreIgnored: (count: number) => `${count} more paths were written that git ignores`,
  noCommit: 'no commit was made',
  noCommitAtHead: 'HEAD has no commit of this task',
  refusedPaths: (paths: string) =>
    `git checks out no commit with these paths: ${paths}; make the commit anew without them`,
  tooLong: (names: string) => `no disk takes these long names: ${names}; make the commit anew without them`,
  uncommitted: (files: string) => `changes are not committed: ${files}`,
  noFile: 'no file was changed',
  noChangeAtHead: 'HEAD has no change',
  nothingIn: (paths: string) => `nothing was changed in ${paths}`,
  outside: (paths: string, files: string) => `only ${paths} may change, but these files did: ${files}`,
  touched: (files: string, instead: string) => `these files may not change: ${files}; ${instead}`,
  absent: (path: string) => `${path} does not exist`,
  present: (path: string) => `${path} still exists; remove it`,
  notRun: (run: string) => `\`${run}\` was not run`,
  fails: (run: string, output: string) => `\`${run}\` fails:\n${output}`,
  noPullRequest: (why: string | undefined) => `no pull request was opened${why === undefined ? '' : `: ${why}`}`,
  notOpen: (url: string) => `${url} is not open`,
  otherCommit: (url: string, commit: string, own: string | null) =>
    `${url} is at ${commit}, not at ${own ?? 'this work'}`,
  notRead: (path: string) => `${path} was not read`,
  noForm: (schema: string) => `no answer of the form ${schema}`,
  lookFirst:
    'you approve, and used no tool: you have looked at nothing. Look at the change and at the files that it concerns, then answer again',
};

export type EvidenceTexts = typeof EN;

const ZH: EvidenceTexts = {
  and: '、',
  more: (names, left) => `${names} 等，另有 ${left} 个`,
  altered: (files) => `以下文件与移交的工作不同：${files}`,
  nothing: '没有任何修改',
  nothingSince: (commit) => `自 ${commit} 被退回以来没有任何修改`,
  failedAgain: (nothing, output) => `${nothing}，检查再次失败：\n${output}`,
  unread: (why) => `无法读取文件夹中的文件：${why}`,
  stashed: (count) => `工作在 ${count} 个 stash 中；HEAD 中没有`,
  aside: (commit) => `${commit}；HEAD 中没有`,
  moreAside: (count) => `另有 ${count} 个提交也不在 HEAD 中`,
  notKept: (what) => `squad 不保留：${what}`,
  onBranch: (name) => `在分支 \`${name}\` 上有一个提交`,
  tagged: (name) => `标签 \`${name}\` 指向一个提交`,
  inWorktree: (commit) => `提交 ${commit} 是在该文件夹的一个 worktree 中做的`,
  named: (name, commit) => `\`${name}\` 指向提交 ${commit}`,
  inLog: (commit) => `做了提交 ${commit}，但没有分支包含它`,
  ignored: (path, by, command) => `写入了 ${path}，但 ${by} 忽略了它：${command}`,
  moreIgnored: (count) => `另有 ${count} 个写入的路径被 git 忽略`,
  noCommit: '没有提交',
  noCommitAtHead: 'HEAD 中没有本任务的提交',
  refusedPaths: (paths) => `git 无法检出含有这些路径的提交：${paths}；请重新提交，不要包含它们`,
  tooLong: (names) => `没有磁盘能存放这些过长的名称：${names}；请重新提交，不要包含它们`,
  uncommitted: (files) => `有修改未提交：${files}`,
  noFile: '没有修改任何文件',
  noChangeAtHead: 'HEAD 中没有变化',
  nothingIn: (paths) => `${paths} 中没有任何修改`,
  outside: (paths, files) => `只能修改 ${paths}，但这些文件有变化：${files}`,
  touched: (files, instead) => `这些文件不得修改：${files}；${instead}`,
  absent: (path) => `${path} 不存在`,
  present: (path) => `${path} 仍然存在；请删除`,
  notRun: (run) => `\`${run}\` 没有运行`,
  fails: (run, output) => `\`${run}\` 失败：\n${output}`,
  noPullRequest: (why) => `没有打开 pull request${why === undefined ? '' : `：${why}`}`,
  notOpen: (url) => `${url} 不是打开状态`,
  otherCommit: (url, commit, own) => `${url} 在 ${commit}，而不是 ${own ?? '本次工作'}`,
  notRead: (path) => `没有读取 ${path}`,
  noForm: (schema) => `答案不符合格式 ${schema}`,
  lookFirst: '你批准了，但没有使用任何工具：你什么都没有查看。请查看修改及其涉及的文件，然后重新回答',
};

export function evidenceTexts(locale: Locale = 'en'): EvidenceTexts {
  return locale === 'zh' ? ZH : EN;
}
