import { renderPrompt } from '../prompts/render.ts';
import type { Question } from '../model/plan/board.ts';
import { askQuestion, type Draft } from './board.ts';
import { ENGINE_OPTIONS } from './agent-request.ts';
import { addEngineTask, finishFailed } from './finish.ts';
import { reviewingRole } from './gate.ts';

const RESTORE = 'restore';
const TAKE_IN = 'take in';
const [TRY_AGAIN, GIVE_UP] = ENGINE_OPTIONS;

/** The run branch is not at the commit that was delivered last (null: it is gone). The operator decides what to do. */
export function findForeign(draft: Draft, head: string | null): void {
  if (draft.branch.foreign !== null) return;
  const takeIn = head !== null && reviewingRole(draft) !== undefined;
  const delivered = draft.branch.head.slice(0, 12);
  const found =
    head === null
      ? `The run branch is gone. squad last delivered ${delivered} on it.`
      : `The run branch is at ${head.slice(0, 12)}, but squad last delivered ${delivered}: something else moved it.`;
  const ways = [
    `“${RESTORE}” moves it back to ${delivered}${head === null ? '' : ` and keeps ${head.slice(0, 12)} under refs/squad`}`,
    ...(takeIn ? [`“${TAKE_IN}” has ${head.slice(0, 12)} reviewed and merges it`] : []),
    `“${GIVE_UP}” ends the run as failed and leaves the branch alone`,
  ];
  const question = `engine/run-branch/${draft.seq}`;
  const options = [RESTORE, ...(takeIn ? [TAKE_IN] : []), GIVE_UP];
  askQuestion(draft, { id: question, text: `${found} ${ways.join('; ')}.`, options, blocks: 'run', by: 'engine' });
  draft.branch = { ...draft.branch, foreign: { head, question, way: null } };
}

/** The run branch is checked out somewhere, so it cannot be moved. */
export function findCheckedOut(draft: Draft, paths: readonly string[]): void {
  if (draft.branch.checkedOut !== null) return;
  const question = `engine/checked-out/${draft.seq}`;
  const text = `The run branch is checked out in ${paths.join(', ')}, so no work can be delivered on it. Switch to another branch there, then answer “${TRY_AGAIN}”; “${GIVE_UP}” ends the run as failed.`;
  askQuestion(draft, { id: question, text, options: [TRY_AGAIN, GIVE_UP], blocks: 'run', by: 'engine' });
  draft.branch = { ...draft.branch, checkedOut: { question } };
}

/** Applies the operator's answer to one of the questions above. */
export function answerBranch(draft: Draft, question: Question, answer: string): void {
  const { foreign, checkedOut } = draft.branch;
  const isCheckedOut = checkedOut?.question === question.id;
  if (!isCheckedOut && foreign?.question !== question.id) return;
  if (answer === GIVE_UP) {
    draft.branch = { ...draft.branch, foreign: null, checkedOut: null };
    return finishFailed(draft, `a person gave up on the run branch: ${question.text}`);
  }
  if (isCheckedOut) draft.branch = { ...draft.branch, checkedOut: null };
  else if (foreign !== null) {
    draft.branch = { ...draft.branch, foreign: { ...foreign, way: answer === TAKE_IN ? 'take-in' : 'restore' } };
  }
}

/** Applies the result of putting the branch back. If its commit is to be taken in, that becomes a task with a review. */
export function branchRestored(
  draft: Draft,
  event: { readonly restored: boolean; readonly head: string | null; readonly paths: readonly string[] },
): void {
  const { foreign } = draft.branch;
  if (foreign === null) return;
  if (event.paths.length > 0) return findCheckedOut(draft, event.paths);
  draft.branch = { ...draft.branch, foreign: null };
  // The branch was moved again, and another commit needs another question.
  if (!event.restored) return findForeign(draft, event.head);
  const role = reviewingRole(draft);
  if (foreign.way !== 'take-in' || foreign.head === null || role === undefined) return;
  const commit = foreign.head;
  const text = renderPrompt('reviewer/foreign', { commit }, draft.facts.prompts);
  addEngineTask(draft, 'foreign', (id) => ({
    id,
    title: `Take in ${commit.slice(0, 12)}, which was put on the run branch`,
    role: 'engine',
    kind: 'integrate',
    needs: [],
    brief: { text },
    workspace: 'own',
    session: 'new',
    requires: [],
    review: { by: [role], quorum: 'all', rounds: 1, criteria: [] },
    integrate: true,
    owner: 'engine',
    foreign: commit,
  }));
}
