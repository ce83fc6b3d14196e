import { expect, it } from 'vitest';
import { evidenceTexts, type EvidenceTexts } from '../../src/rules/evidence-texts.ts';
import { feedbackTexts, type FeedbackTexts } from '../../src/rules/feedback-texts.ts';
import type { Locale } from '../../src/model/locale.ts';

// The English words are in the tests of the decisions that say them.

const missing = (t: EvidenceTexts): string[] => [
  ...[t.more('a、b', 3), t.altered('a'), t.nothing, t.nothingSince('c1'), t.failedAgain(t.nothing, 'red')],
  ...[t.unread('no access'), t.stashed(2), t.aside('x'), t.moreAside(3), t.notKept('x'), t.onBranch('mine')],
  ...[
    t.tagged('v1'),
    t.inWorktree('c1'),
    t.named('refs/x', 'c1'),
    t.inLog('c1'),
    t.ignored('f', '.gitignore', 'git add'),
  ],
  ...[
    t.moreIgnored(2),
    t.noCommit,
    t.noCommitAtHead,
    t.uncommitted('f'),
    t.noFile,
    t.noChangeAtHead,
    t.nothingIn('src'),
  ],
  ...[t.outside('src', 'f'), t.touched('f', 'x'), t.absent('f'), t.present('f'), t.notRun('x'), t.fails('x', 'red')],
  ...[t.noPullRequest(undefined), t.noPullRequest('x'), t.notOpen('u'), t.otherCommit('u', 'c1', null)],
  ...[t.otherCommit('u', 'c1', 'c2'), t.notRead('f'), t.noForm('review')],
];

it('what is missing of work is said in Chinese where the mail is', () => {
  expect(missing(evidenceTexts('zh'))).toEqual([
    'a、b 等，另有 3 个',
    '以下文件与移交的工作不同：a',
    '没有任何修改',
    '自 c1 被退回以来没有任何修改',
    '没有任何修改，检查再次失败：\nred',
    '无法读取文件夹中的文件：no access',
    '工作在 2 个 stash 中；HEAD 中没有',
    'x；HEAD 中没有',
    '另有 3 个提交也不在 HEAD 中',
    'squad 不保留：x',
    '在分支 `mine` 上有一个提交',
    '标签 `v1` 指向一个提交',
    '提交 c1 是在该文件夹的一个 worktree 中做的',
    '`refs/x` 指向提交 c1',
    '做了提交 c1，但没有分支包含它',
    '写入了 f，但 .gitignore 忽略了它：git add',
    '另有 2 个写入的路径被 git 忽略',
    '没有提交',
    'HEAD 中没有本任务的提交',
    '有修改未提交：f',
    '没有修改任何文件',
    'HEAD 中没有变化',
    'src 中没有任何修改',
    '只能修改 src，但这些文件有变化：f',
    '这些文件不得修改：f；x',
    'f 不存在',
    'f 仍然存在；请删除',
    '`x` 没有运行',
    '`x` 失败：\nred',
    '没有打开 pull request',
    '没有打开 pull request：x',
    'u 不是打开状态',
    'u 在 c1，而不是 本次工作',
    'u 在 c1，而不是 c2',
    '没有读取 f',
    '答案不符合格式 review',
  ]);
});

const back = (t: FeedbackTexts): string[] => [
  ...[t.conflict('c1', 'd2', 'a\nb'), t.ranOn('m1'), t.said('approved', undefined), t.said('approved', 'some')],
  ...[
    t.said('approved', 'none'),
    t.said('approved', 'unknown'),
    t.said('rejected', undefined),
    t.said('overruled', undefined),
  ],
  ...[t.verdict('r', 'rex', 'x', 's'), t.stops('x'), t.unspoken('a'), t.refused('a'), t.afterFirst('x', 'y')],
  ...[t.personAsks(undefined), t.personAsks('x')],
];

it('work goes back with Chinese words where the mail is', () => {
  expect(back(feedbackTexts('zh'))).toEqual([
    '你的提交 c1 与 d2 在以下文件中冲突：\na\nb',
    '以上在 m1 上运行，其中有你的工作和此前已交付的内容。',
    '批准',
    '批准',
    '批准（没有查看）',
    '批准（不知是否查看）',
    '拒绝',
    '拒绝，被推翻：拒绝之后，finding 只有指明标准、属于重复或回归时才算数',
    'r（rex）：x。s',
    'x，因此工作停止',
    '`checks` 没有提到 a：批准时，每个被修改的受保护路径都需要说明',
    '你批准了，但不接受 a 的修改：请用 finding 拒绝，或在 `checks` 中接受',
    'x\n其后：y',
    '有人要求再试一次',
    '有人要求再试一次：x',
  ]);
});

it('both are English otherwise', () => {
  const words = (locale?: Locale) => [evidenceTexts(locale).nothing, feedbackTexts(locale).said('rejected', undefined)];
  expect([words(), words('en')]).toEqual([
    ['nothing was changed', 'rejected'],
    ['nothing was changed', 'rejected'],
  ]);
  expect(evidenceTexts().noForm('review')).toBe('no answer of the form review');
});
