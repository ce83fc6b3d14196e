import type { Locale } from '../model/locale.ts';
import { LATE_FINDINGS } from '../model/plan/review.ts';
import { lookText, type Look } from '../model/plan/look.ts';

// With what work goes back to its author or reviewer, in the two languages of `mail.locale`.

type Said = 'approved' | 'rejected' | 'overruled';

const EN = {
  conflict: (commit: string, head: string, files: string) =>
    `Your commit ${commit} conflicts with ${head} in:\n${files}`,
  ranOn: (candidate: string) => `This ran on ${candidate}, which has your work and what was delivered before.`,
  said: (said: Said, look: Look | undefined) => {
    if (said === 'approved') return `approved${lookText(look)}`;
    return said === 'overruled' ? `rejected, overruled: ${LATE_FINDINGS}` : 'rejected';
  },
  verdict: (role: string, agent: string, said: string, summary: string) => `${role} (${agent}): ${said}. ${summary}`,
  notConverging: 'not converging: the same findings as in the round before',
  stops: (why: string) => `${why}, so the work stops`,
  noFinding: 'a rejection needs at least one finding that says what to change',
  noCategory: (names: string) => `a rejection names its \`category\`, one of ${names}`,
  blocked: (category: string, inputs: readonly string[], next: string | null) =>
    [
      `blocked by its review: ${category}`,
      ...(inputs.length === 0 ? [] : [`required inputs: ${inputs.join('; ')}`]),
      ...(next === null ? [] : [`recommended next step: ${next}`]),
    ].join('\n'),
  unspoken: (paths: string) =>
    `\`checks\` says nothing of ${paths}: an approval needs a word on each changed path that is protected`,
  refused: (paths: string) =>
    `you approve, and do not accept the change of ${paths}: reject it with a finding, or accept it in \`checks\``,
  afterFirst: (first: string, why: string) => `${first}\nafter that: ${why}`,
  personAsks: (before: string | undefined) =>
    `a person asked for another try${before === undefined ? '' : `: ${before}`}`,
};

export type FeedbackTexts = typeof EN;

const LOOKED: Readonly<Record<Look, string>> = { some: '', none: '（没有查看）', unknown: '（不知是否查看）' };

const ZH: FeedbackTexts = {
  conflict: (commit, head, files) => `你的提交 ${commit} 与 ${head} 在以下文件中冲突：\n${files}`,
  ranOn: (candidate) => `以上在 ${candidate} 上运行，其中有你的工作和此前已交付的内容。`,
  said: (said, look) => {
    if (said === 'approved') return `批准${look === undefined ? '' : LOOKED[look]}`;
    return said === 'overruled' ? '拒绝，被推翻：拒绝之后，finding 只有指明标准、属于重复或回归时才算数' : '拒绝';
  },
  verdict: (role, agent, said, summary) => `${role}（${agent}）：${said}。${summary}`,
  notConverging: '没有进展：与上一轮的 findings 相同',
  stops: (why) => `${why}，因此工作停止`,
  noFinding: '拒绝时至少需要一个说明如何修改的 finding',
  noCategory: (names) => `拒绝时需指明 \`category\`，取值为 ${names} 之一`,
  blocked: (category, inputs, next) =>
    [
      `被审查阻止：${category}`,
      ...(inputs.length === 0 ? [] : [`所需输入：${inputs.join('；')}`]),
      ...(next === null ? [] : [`建议的下一步：${next}`]),
    ].join('\n'),
  unspoken: (paths) => `\`checks\` 没有提到 ${paths}：批准时，每个被修改的受保护路径都需要说明`,
  refused: (paths) => `你批准了，但不接受 ${paths} 的修改：请用 finding 拒绝，或在 \`checks\` 中接受`,
  afterFirst: (first, why) => `${first}\n其后：${why}`,
  personAsks: (before) => `有人要求再试一次${before === undefined ? '' : `：${before}`}`,
};

export function feedbackTexts(locale: Locale = 'en'): FeedbackTexts {
  return locale === 'zh' ? ZH : EN;
}
