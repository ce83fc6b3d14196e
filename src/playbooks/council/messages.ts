import { MAIN } from '../../model/mail/vocabulary.ts';
import { pathSchema } from '../../model/mail/wire-text.ts';
import type { TaskView, View } from '../../model/plan.ts';
import type { Json } from '../../text/json.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { Issue } from './answers.ts';
import type { Assignment, NewAssignment } from './assignments.ts';
import type { Council } from './council.ts';
import { councilTexts, type CouncilTexts } from './texts.ts';
import { REVIEW, saidKey, type Asking, type Saying } from './sayings.ts';

// Each step of the council as a message of the protocol. The key of a message makes sure that it is sent once.

type Send = Extract<PlanChange, { do: 'send' }>;

const LONGEST = 2_000;

/** The task id of the review and its verifications. Always the same in one council. */
function documentTask(view: View): string {
  const [review] = view.mail({ key: REVIEW.key });
  return review?.task ?? `DOC-${new Date(view.now).toISOString().slice(0, 10).replaceAll('-', '')}-0001`;
}

export function reviewAsk(view: View, council: Council): Send {
  const to = council.members.map(({ address }) => address);
  const body = {
    doc_path: council.document,
    focus: ['func', 'perf', 'ux', 'security', 'docs'],
    reviewers: to,
    review_deadline: view.now + council.reviewMs,
    ...(council.codePaths.length === 0 ? {} : { code_paths: [...council.codePaths] }),
  };
  return { do: 'send', key: REVIEW.key, to, type: 'ask', action: 'review', task: documentTask(view), body };
}

export function verifyAsk(view: View, council: Council, { key }: Asking, changes: string): Send {
  const body = {
    doc_path: council.document,
    changes_summary: words(changes, councilTexts(view).seeCommits),
    question: councilTexts(view).verifyQuestion,
  };
  const to = council.members.map(({ address }) => address);
  return { do: 'send', key, to, type: 'ask', action: 'verify', task: documentTask(view), body };
}

/** A turn's answer, as the message that its agent did not send itself. */
export function replyOf(view: View, council: Council, { key, action }: Asking, saying: Saying): Send {
  const { seat, issues, summary, questions, task } = saying;
  const about = { key: saidKey(task), from: seat.address, corrKey: key, task: documentTask(view) };
  if (issues.length === 0 && questions.length === 0) {
    const body: Record<string, Json> = action === 'review' ? { status: 'no_issues' } : { has_new_issues: false };
    const verified = action === 'verify' ? { action: 'verified' as const } : {};
    return { do: 'send', ...about, to: [MAIN], type: 'done', ...verified, body };
  }
  const body = {
    doc_path: council.document,
    has_issues: issues.length > 0,
    issue_count: issues.length,
    issues: issues.map((issue) => bodyOf(issue, council, councilTexts(view))),
    summary,
    questions: questions.filter((line) => line.trim() !== ''),
  };
  return { do: 'send', ...about, to: [MAIN], type: 'report', action: 'review_feedback', body };
}

export function assignAsk(view: View, council: Council, assigned: NewAssignment): Send {
  const { task, seat, task_type, summary, files, success_criteria, waitsFor, deadline_minutes: minutes } = assigned;
  const body = {
    task_type: words(task_type, councilTexts(view).unknownWork),
    ...(summary.trim() === '' ? {} : { summary: words(summary, '') }),
    files: files.filter((path) => isPath(path)),
    success_criteria: success_criteria.filter((line) => line.trim() !== ''),
    dependencies: [...waitsFor],
  };
  const within = minutes >= 1 ? Math.min(minutes * 60_000, council.assignMs) : council.assignMs;
  const deadline = Math.round(view.now + within);
  return { do: 'send', key: `assign-${task}`, to: [seat.address], type: 'ask', action: 'assign', task, deadline, body };
}

/** How an assignment ended, in the member's name, if the member reported nothing or something else. */
export function endMessage({ task, mail }: Assignment, { status, commit, why }: TaskView, by: string): Send {
  const corr = mail.key === undefined ? { corr: mail.id } : { corrKey: mail.key };
  const about = { from: by, to: [mail.from], ...corr, ...(mail.task === undefined ? {} : { task: mail.task }) };
  if (status === 'done') {
    const body = { status: 'delivered', ...(commit === undefined ? {} : { commit }) };
    return { do: 'send', key: `done-${task}`, ...about, type: 'done', body };
  }
  const body = { reason: words(why ?? '', status), blocked_by: [] };
  return { do: 'send', key: `fail-${task}`, ...about, type: 'fail', body };
}

function bodyOf(issue: Issue, council: Council, texts: CouncilTexts): Record<string, Json> {
  const { doc_path, code_paths, category, severity, summary, suggestion } = issue;
  const paths = code_paths.filter((path) => isPath(path));
  return {
    doc_path: isPath(doc_path) ? doc_path : council.document,
    ...(paths.length === 0 ? {} : { code_paths: paths }),
    category,
    severity,
    summary: words(summary, texts.seeSuggestion),
    suggestion: words(suggestion, texts.seeSummary),
  };
}

function words(text: string, otherwise: string): string {
  return text.trim() === '' ? otherwise : text.slice(0, LONGEST).toWellFormed();
}

function isPath(text: string): boolean {
  return pathSchema.safeParse(text).success && text.trim() !== '';
}
