import type { Question } from '../../model/plan/board.ts';
import { answerQuestion, withEntry, withoutEntry, workOn, type Draft } from './board.ts';
import { accountAskedAbout, isStuckAt } from './logins.ts';

/** Applies a person's answer about an account that was locked out. */
export function answerLogin(draft: Draft, question: Question, account: string, goOn: boolean): void {
  if (goOn) {
    reopen(draft, account);
    return;
  }
  draft.lockedOut = withEntry(draft.lockedOut, account, { givenUp: true });
  const tasks = question.blocks === 'run' ? [] : question.blocks;
  const why = `${question.id}: a person gave up on it`;
  for (const task of tasks.filter((id) => isStuckAt(draft, id, account))) {
    workOn(draft, task, { type: 'settle-asked', as: 'failed', cause: 'attempts', why });
  }
}

/** Lets one attempt go first, to find out whether the account works again. */
export function reopen(draft: Draft, account: string): void {
  if (!draft.lockedOut.has(account)) return;
  draft.lockedOut = withoutEntry(draft.lockedOut, account);
  const limited = draft.accounts.get(account);
  draft.accounts = withEntry(draft.accounts, account, { until: Math.max(limited?.until ?? 0, draft.now), probe: null });
}

/** Opens all accounts and withdraws their questions: an operator who retries a task has fixed the cause. */
export function reopenLogins(draft: Draft): void {
  for (const account of [...draft.lockedOut.keys()]) reopen(draft, account);
  for (const question of draft.questions.values()) {
    if (question.answer !== null || accountAskedAbout(question.id) === undefined) continue;
    answerQuestion(draft, question, 'withdrawn');
  }
}
