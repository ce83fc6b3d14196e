import type { View } from '../../model/plan.ts';

// The sentences of the council's prompts, titles and messages, in the two languages of `mail.locale`.

const EN = {
  reviewTitle: (address: string) => `Review by ${address}`,
  verifyTitle: (address: string) => `Verification by ${address}`,
  improveTitle: (document: string) => `Improve ${document}`,
  assignTitle: 'Assign the work',
  workTitle: (type: string, to: string) => `${type} by ${to}`,
  closeTitle: 'Close the council',
  verifyQuestion: 'Is every issue answered, and has the change brought a new one?',
  seeCommits: 'See the newest commits on the document.',
  reviewDocument: (document: string) =>
    `Review ${document}: is it complete enough to work from, and is it true of the code?`,
  reviewCode: (paths: string, document: string) =>
    `Review the code for this objective${paths}. There is no document yet: MAIN writes the result into ${document}.`,
  issueForm: [
    'Report one issue for each thing that is wrong: where (`doc_path` with its line, `code_paths` like `src/router.ts#L50`), `category`,',
    '`severity`, what is wrong (`summary`) and what would be right (`suggestion`), so that MAIN can act on it without asking.',
  ].join('\n'),
  answerReview:
    'Answer the review in your mail with the tool `report` of the squad server, or with `done` if there is no issue.',
  answerVerify: 'Answer the verification in your mail with the tool `done` if all is well, and with `report` if not.',
  memberEnd: [
    'End with the same in the form asked for: squad sends it in your name if you did not send it yourself. Change no file.',
    'If you cannot judge because something is unclear, ask MAIN with the tool `ask` (action clarify) and end your turn: the answer',
    'comes with your next prompt.',
  ].join('\n'),
  improveFirst: (document: string, exists: boolean) =>
    `${exists ? 'Improve' : 'Write'} ${document} by what the members found.`,
  improveAgain: (document: string) => `The members looked at ${document} again. These issues are still open or new.`,
  answerIssues:
    'Answer every issue in the document itself. If you do not agree with one, write there why the document stays as it is.',
  documentRules: [
    'The document must be enough to work from: which files and functions, which steps or algorithm, which limits and edge cases, where',
    'it is in the code with lines, and how to check the result. Never only “as usual”. Change documentation only.',
  ].join('\n'),
  questions: 'They ask these questions, which the document should answer:',
  commit: 'Commit. squad asks the members to verify once your commits are delivered: do not ask them yourself.',
  improveEnd: 'End with `changes_summary`: what you changed and where, for the members who verify it.',
  verify: (document: string, commit: string) =>
    `Verify the change of ${document}${commit}: is every issue of yours answered, and has the change brought a new one?`,
  stillOpen: 'Report only what is still open or new.',
  assign: (document: string, members: string) =>
    `The members agree on ${document}. Assign what has to be built to the members: ${members}.`,
  assignRules: (minutes: number) =>
    [
      'Each assignment stands alone: its kind (`task_type`), what to do (`summary`), in which `files`, and `success_criteria` that can be',
      `checked. Deadlines are at most ${minutes} minutes. Members work at the same time, each on its own copy: two assignments that`,
      'change the same lines should be one, or one should name the other in `dependencies`.',
      'Assign nothing if the document was all that was wanted.',
    ].join('\n'),
  silent: (members: string) => `These members did not answer: ${members}.`,
  assignHow: [
    'Use the tool `assign` of the squad server once for each assignment; send those first that others name in `dependencies`. Or list',
    'them in your answer, in the form asked for, and squad sends them in your name. The list adds to what you sent: an entry with the',
    'same `task_id` is the same assignment, and the list may be empty. Change no file.',
  ].join('\n'),
  criteria: 'In the end this must hold:',
  what: 'What',
  files: 'Files',
  doneMeans: 'Done means:',
  execute: (document: string) => `MAIN has assigned this to you. ${document} says how.`,
  executeEnd: [
    'If the document does not say enough, ask MAIN with the tool `ask` (action clarify, with question, context and code_path) and end',
    'your turn: MAIN completes the document and answers, and you continue. If the work cannot be done, send `fail`.',
  ].join('\n'),
  close: 'All work has ended. Read the remaining mail, look at the run branch, and close the council.',
  closeEnd:
    'End with a `summary` of a few sentences for the person who asked for this, and the `open_points` that need attention.\nAssign and change nothing more.',
  gaveUp: (from: string, reason: string | undefined) => `${from} gave up: ${reason ?? 'no reason'}`,
  tooLate: 'its deadline has passed',
  silentInTime: (who: string) => `${who} did not answer in time`,
  askedByCouncil: 'the council itself asks for reviews and verifications, each at its step',
  inItsMessage: (from: string, id: string) => `${from} found issues: they are in its message ${id}`,
  notBuilt: (why: string) => `what MAIN assigned cannot be used:\n${why}`,
  assignAgain: (why: string) => `These assignments cannot be used:\n${why}`,
  noMemberReviewed: 'no member could review',
  notImproved: (why: string) => `the document was not improved: ${why}`,
  assignedNothing: (why: string) => `MAIN assigned nothing: ${why}`,
  andMore: (count: number) => `and ${count} more`,
  open: (point: string) => `open: ${point}`,
  unknownWork: 'work',
  seeSuggestion: 'See the suggestion.',
  seeSummary: 'See the summary.',
  namesNone: 'the answer names no assignments',
  tooMany: (most: number) => `the answer has more than ${most} assignments`,
  inACircle: 'the assignments depend on each other in a circle',
  assignment: (number: number, problem: string) => `assignment ${number}: ${problem}`,
  toOneOf: (addresses: string) => `\`to\` must be one of ${addresses}`,
  noType: '`task_type` is empty',
  noHandOff: 'MAIN cannot hand off work; use another `task_type`',
  noCriterion: 'it needs at least one success criterion',
  idUsed: '`task_id` must not be empty or repeat that of another assignment',
  unknownNeeds: (unknown: string, known: string) => `unknown dependencies ${unknown}; known assignments: ${known}`,
};

const ZH: typeof EN = {
  reviewTitle: (address) => `${address} 的审查`,
  verifyTitle: (address) => `${address} 的复核`,
  improveTitle: (document) => `改进 ${document}`,
  assignTitle: '分配任务',
  workTitle: (type, to) => `${to}：${type}`,
  closeTitle: '结束议事',
  verifyQuestion: '每个问题都已解决吗？这次修改有没有带来新问题？',
  seeCommits: '见文档的最新提交。',
  reviewDocument: (document) => `审查 ${document}：照它能否直接开工？它与代码是否一致？`,
  reviewCode: (paths, document) => `针对本目标审查代码${paths}。目前还没有文档：MAIN 会把结果写入 ${document}。`,
  issueForm: [
    '每处问题单独列为一条 issue：位置（`doc_path` 带行号，`code_paths` 形如 `src/router.ts#L50`）、`category`、`severity`、',
    '问题是什么（`summary`）、应当怎样（`suggestion`），使 MAIN 无需再问即可处理。',
  ].join('\n'),
  answerReview: '用 squad 服务器的工具 `report` 答复邮件中的审查请求；没有问题时用 `done`。',
  answerVerify: '答复邮件中的复核请求：全部解决用工具 `done`，否则用 `report`。',
  memberEnd: [
    '结束时按要求的格式给出同样的内容：如果你没有自己发送，squad 会以你的名义发送。不要修改任何文件。',
    '若因不明白而无法判断，用工具 `ask`（action clarify）向 MAIN 提问并结束本轮：答案会随下一次提示到达。',
  ].join('\n'),
  improveFirst: (document, exists) => `根据成员发现的问题${exists ? '改进' : '撰写'} ${document}。`,
  improveAgain: (document) => `成员再次查看了 ${document}，以下问题仍未解决或是新出现的。`,
  answerIssues: '在文档中逐条回应。若不同意某条，在文档中写明为什么保持原样。',
  documentRules: [
    '文档必须足以直接开工：编码路径和函数名、步骤或算法、边界条件、代码中的位置和行号、如何验证结果。',
    '不能只写“按常规处理”。只修改文档。',
  ].join('\n'),
  questions: '成员提出以下问题，文档应给出答案：',
  commit: '提交。你的提交交付后，squad 会请成员复核：不要自己去问。',
  improveEnd: '最后给出 `changes_summary`：改了什么、改在哪里，供复核的成员参考。',
  verify: (document, commit) => `复核 ${document} 的修改${commit}：你提的每个问题都已解决吗？修改有没有带来新问题？`,
  stillOpen: '只报告仍未解决或新出现的问题。',
  assign: (document, members) => `成员已就 ${document} 达成一致。把需要实现的内容分配给成员：${members}。`,
  assignRules: (minutes) =>
    [
      '每项任务独立成立：类型（`task_type`）、做什么（`summary`）、涉及哪些 `files`，以及可验证的 `success_criteria`。',
      `期限最长 ${minutes} 分钟。成员同时工作，各用各的副本：会改到相同行的两项任务应合为一项，或由其中一项在 \`dependencies\` 中列出另一项。`,
      '如果只需要文档，就不分配任何任务。',
    ].join('\n'),
  silent: (members) => `以下成员没有答复：${members}。`,
  assignHow: [
    '每项任务用一次 squad 服务器的工具 `assign`；先发送被其他任务列入 `dependencies` 的。或按要求的格式列在你的答案中，',
    '由 squad 以你的名义发送。该列表是对已发送内容的补充：`task_id` 相同即为同一任务，列表可以为空。不要修改任何文件。',
  ].join('\n'),
  criteria: '最终必须满足：',
  what: '内容',
  files: '文件',
  doneMeans: '完成标准：',
  execute: (document) => `MAIN 把这项任务分配给了你。做法见 ${document}。`,
  executeEnd: [
    '文档写得不够时，用工具 `ask`（action clarify，带 question、context 和 code_path）向 MAIN 提问并结束本轮：',
    'MAIN 会完善文档并回答，然后你继续。如果无法完成，发送 `fail`。',
  ].join('\n'),
  close: '全部工作已结束。阅读剩余邮件，查看运行分支，然后结束议事。',
  closeEnd: '最后用几句话写出给委托人的 `summary`，以及需要处理的 `open_points`。不要再分配或修改任何内容。',
  gaveUp: (from, reason) => `${from} 放弃：${reason ?? '未说明原因'}`,
  tooLate: '期限已过',
  silentInTime: (who) => `${who} 没有及时答复`,
  askedByCouncil: '审查和复核由议事本身在相应步骤发出',
  inItsMessage: (from, id) => `${from} 发现了问题：见其消息 ${id}`,
  notBuilt: (why) => `MAIN 分配的内容无法使用：\n${why}`,
  assignAgain: (why) => `这些任务分配无法使用：\n${why}`,
  noMemberReviewed: '没有成员能够审查',
  notImproved: (why) => `文档没有得到改进：${why}`,
  assignedNothing: (why) => `MAIN 没有分配任何任务：${why}`,
  andMore: (count) => `另有 ${count} 项`,
  open: (point) => `待处理：${point}`,
  unknownWork: '工作',
  seeSuggestion: '见建议。',
  seeSummary: '见摘要。',
  namesNone: '答案没有列出任务分配',
  tooMany: (most) => `答案中的任务分配超过 ${most} 项`,
  inACircle: '任务分配相互依赖，形成循环',
  assignment: (number, problem) => `第 ${number} 项任务分配：${problem}`,
  toOneOf: (addresses) => `\`to\` 必须是 ${addresses} 之一`,
  noType: '`task_type` 为空',
  noHandOff: 'MAIN 不能移交工作；请使用其他 `task_type`',
  noCriterion: '至少需要一条完成标准',
  idUsed: '`task_id` 不能为空，也不能与另一项任务分配重复',
  unknownNeeds: (unknown, known) => `未知的 dependencies：${unknown}；已知的任务分配：${known}`,
};

export type CouncilTexts = typeof EN;

export function councilTexts({ locale }: Pick<View, 'locale'>): CouncilTexts {
  return locale === 'zh' ? ZH : EN;
}
