import type { Board } from '../../model/plan/board.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import {
  draftOf,
  finishDraft,
  withEntry,
  withoutEntry,
  workOn,
  type BoardStep,
  type Draft,
  type Moment,
} from './board.ts';
import { findForeign, findCheckedOut } from './run-branch.ts';

/** Applies one event to one task. Throws for an unknown task, which is a bug of the caller. */
export function applyWork(board: Board, taskId: string, event: WorkEvent, moment: Moment): BoardStep {
  const draft = draftOf(board, moment);
  trackProbe(draft, event);
  workOn(draft, taskId, event);
  if (event.type === 'branch-foreign') findForeign(draft, event.head);
  if (event.type === 'branch-held') findCheckedOut(draft, event.paths);
  return finishDraft(draft);
}

/** A limit parks the account; the first attempt after it is the probe, and only its end opens the account again. */
function trackProbe(draft: Draft, event: WorkEvent): void {
  if (event.type === 'attempt-started') {
    const limited = draft.accounts.get(event.account);
    if (limited !== undefined && limited.until <= draft.now && limited.probe === null) {
      draft.accounts = withEntry(draft.accounts, event.account, { ...limited, probe: event.attempt });
    }
    return;
  }
  if (event.type !== 'attempt-settled') return;
  for (const [account, limited] of draft.accounts) {
    if (limited.probe === event.attempt) draft.accounts = withoutEntry(draft.accounts, account);
  }
}
