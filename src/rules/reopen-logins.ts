import { agentScope } from '../model/plan/scope.ts';
import type { LockOut, Question } from '../model/plan/board.ts';
import { answerQuestion, withEntry, withoutEntry, workOn, type Draft } from './board.ts';
import { isGivenUp, lockOutAskedAbout } from './logins.ts';
import { isEnded } from './work-status.ts';

/** Applies a person's answer about an account that was locked out. */
export function answerLogin(
  draft: Draft,
  question: Question,
  about: Pick<LockOut, 'kind' | 'account'>,
  goOn: boolean,
): void {
  if (goOn) {
    reopen(draft, about.account);
    return;
  }
  for (const [key, lock] of draft.lockedOut) {
    if (lock.account !== about.account || lock.kind !== about.kind) continue;
    draft.lockedOut = withEntry(draft.lockedOut, key, { ...lock, givenUp: true });
  }
  const tasks = question.blocks === 'run' ? [] : question.blocks;
  const why = `${question.id}: a person gave up on it`;
  for (const id of tasks) {
    const state = draft.tasks.get(id);
    if (state === undefined || isEnded(state) || !isGivenUp(state, draft)) continue;
    workOn(draft, id, { type: 'settle-asked', as: 'failed', cause: 'attempts', why });
  }
}

/** Lets one attempt go first, to find out whether the account works again. */
export function reopen(draft: Draft, account: string): void {
  const locks = [...draft.lockedOut].filter(([, lock]) => lock.account === account);
  for (const [key] of locks) draft.lockedOut = withoutEntry(draft.lockedOut, key);
  if (locks.every(([key]) => key !== account)) return;
  const limited = draft.accounts.get(account);
  draft.accounts = withEntry(draft.accounts, account, { until: Math.max(limited?.until ?? 0, draft.now), probe: null });
}

/** Opens all accounts and withdraws their questions: an operator who retries a task has fixed the cause. */
export function reopenLogins(draft: Draft): void {
  for (const { account } of [...draft.lockedOut.values()]) reopen(draft, account);
  for (const question of draft.questions.values()) {
    if (question.answer !== null || lockOutAskedAbout(question.id) === undefined) continue;
    answerQuestion(draft, question, 'withdrawn');
  }
}

/** A person chose this runtime for the agent, with another model: its own settings are tried again there. */
export function reopenAgent(draft: Draft, scope: string, runtime: string): void {
  for (const [key, { account, agent }] of draft.lockedOut) {
    const isIts = key !== account && account === runtime && agentScope(agent) === scope;
    if (isIts) draft.lockedOut = withoutEntry(draft.lockedOut, key);
  }
}
