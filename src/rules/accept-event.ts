import { assertNever } from '../model/assert-never.ts';
import type { Board } from '../model/plan/board.ts';
import type { PlanEvent } from '../model/plan/event.ts';
import type { AgentRequest } from '../model/plan/work.ts';
import { draftOf, finishDraft, withoutEntry, workOn, answerQuestion, type BoardStep, type Draft } from './board.ts';
import { answerBaseline, baselineChecked } from './baseline-checked.ts';
import { gateChecked } from './close-run.ts';
import { ENGINE_OPTIONS } from './agent-request.ts';
import { lockOutAskedAbout } from './logins.ts';
import { answerLogin } from './reopen-logins.ts';
import { intervene } from './intervene.ts';
import { isEngines } from './change-checks.ts';
import { answerBranch, branchRestored } from './run-branch.ts';
import { mapRequests } from './work-requests.ts';
import { acceptMail, answerByPerson, closeAsk } from './mail.ts';

/** Applies something from outside: mail, an answer, a timer, a command. The playbook hears only of mail and its own timers. */
export function acceptEvent(board: Board, event: PlanEvent): BoardStep {
  const draft = draftOf(board, event);
  accept(draft, event);
  return finishDraft(draft);
}

function accept(draft: Draft, event: PlanEvent): void {
  switch (event.type) {
    case 'mail': {
      if (draft.mail.has(event.id)) return;
      acceptMail(draft, event, event.kind);
      break;
    }
    case 'answer':
      answer(draft, event);
      return;
    case 'timer': {
      if (draft.timers.has(event.id)) draft.timers = withoutEntry(draft.timers, event.id);
      if (isEngines(event.id)) return;
      break;
    }
    case 'gate-checked':
      gateChecked(draft, event.facts);
      return;
    case 'baseline-checked':
      baselineChecked(draft, event.facts);
      return;
    case 'branch-restored':
      branchRestored(draft, event);
      return;
    case 'intervention':
      intervene(draft, event.intervention, event.by);
      return;
    case 'overdue': {
      // A question stays open until its answer. For other mail, silence counts as an answer, but never as an approval.
      const id = event.key === undefined ? event.message : `key:${event.key}`;
      if (event.action !== 'clarify') closeAsk(draft, id, event.to);
      break;
    }
    case 'clock-set-back':
      moveWaits(draft, event.ms);
      return;
    default:
      assertNever(event);
  }
  draft.news.push(event);
}

/** The first answer to a question counts. */
function answer(draft: Draft, event: Extract<PlanEvent, { type: 'answer' }>): void {
  const question = draft.questions.get(event.question);
  if (question === undefined || question.answer !== null) return;
  answerQuestion(draft, question, event.answer);
  if (question.by === 'playbook') {
    const { question: id, answer: given, by } = event;
    draft.news.push({ type: 'answered', question: id, answer: given, by });
    return;
  }
  if (draft.baseline.question === question.id) {
    answerBaseline(draft, event.answer, event.by);
    if (draft.finished !== null) return;
  }
  if (question.by === 'mail') return answerByPerson(draft, question, event);
  if (question.blocks === 'run') return answerBranch(draft, question, event.answer);
  const goOn = event.answer !== ENGINE_OPTIONS[1];
  const lockOut = lockOutAskedAbout(question.id);
  if (lockOut !== undefined) return answerLogin(draft, question, lockOut, goOn);
  for (const id of question.blocks) workOn(draft, id, { type: 'unblocked', question: question.id, goOn });
}

/**
 * Every wait ends earlier by `ms`. If a usage limit's reset was announced as a time of day, one turn may try too early, which
 * costs nothing.
 */
function moveWaits(draft: Draft, ms: number): void {
  for (const state of draft.tasks.open) {
    draft.tasks = draft.tasks.with({ ...state, work: mapRequests(state.work, (request) => earlier(request, ms)) });
  }
  draft.accounts = mapValues(draft.accounts, (account) => ({ ...account, until: account.until - ms }));
  draft.timers = mapValues(draft.timers, (at) => at - ms);
}

function earlier(request: AgentRequest, ms: number): AgentRequest {
  const { state } = request;
  return state.at === 'waiting' ? { ...request, state: { ...state, until: state.until - ms } } : request;
}

function mapValues<V>(map: ReadonlyMap<string, V>, change: (value: V) => V): ReadonlyMap<string, V> {
  return new Map([...map].map(([id, value]) => [id, change(value)]));
}
