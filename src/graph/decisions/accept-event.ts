import { assertNever } from '../../model/assert-never.ts';
import type { Board } from '../../model/plan/board.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import type { AgentRequest } from '../../model/plan/work.ts';
import { draftOf, finishDraft, withEntry, withoutEntry, workOn, type BoardStep, type Draft } from './board.ts';
import { gateChecked } from './close-run.ts';
import { ENGINE_OPTIONS } from './agent-request.ts';
import { accountAskedAbout } from './logins.ts';
import { answerLogin } from './reopen-logins.ts';
import { intervene } from './intervene.ts';
import { isEngines } from './change-checks.ts';
import { answerBranch, branchRestored } from './run-branch.ts';
import { mapRequests } from './work-requests.ts';
import { acceptMail, answerByPerson, closeAsk } from './mail.ts';

const QUESTION_TIMER = 'engine/question/';

/**
 * Applies something from outside: mail, an answer, a timer, a command. `events` are for the playbook. They leave out the
 * engine's own timers and questions, and a second answer to a question.
 */
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
      if (event.id.startsWith(QUESTION_TIMER)) answerByDefault(draft, event.id.slice(QUESTION_TIMER.length));
      if (isEngines(event.id)) return;
      break;
    }
    case 'gate-checked':
      gateChecked(draft, event.facts);
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

function answerByDefault(draft: Draft, question: string): void {
  const byDefault = draft.questions.get(question)?.default ?? null;
  if (byDefault !== null) answer(draft, { type: 'answer', question, answer: byDefault.answer, by: 'default' });
}

function answer(draft: Draft, event: { type: 'answer'; question: string; answer: string; by: string }): void {
  const question = draft.questions.get(event.question);
  if (question === undefined || question.answer !== null) return;
  draft.questions = withEntry(draft.questions, question.id, { ...question, answer: event.answer });
  if (question.by === 'playbook') {
    if (question.default !== null) draft.effects.push({ effect: 'clear-timer', id: `${QUESTION_TIMER}${question.id}` });
    draft.news.push(event);
    return;
  }
  if (question.by === 'mail') {
    answerByPerson(draft, question, event.answer, event.by);
    return;
  }
  if (question.blocks === 'run') {
    answerBranch(draft, question, event.answer);
    return;
  }
  const goOn = event.answer !== ENGINE_OPTIONS[1];
  const account = accountAskedAbout(question.id);
  if (account !== undefined) {
    answerLogin(draft, question, account, goOn);
    return;
  }
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
  draft.questions = mapValues(draft.questions, (question) => {
    const { default: byDefault } = question;
    return byDefault === null ? question : { ...question, default: { ...byDefault, at: byDefault.at - ms } };
  });
}

function earlier(request: AgentRequest, ms: number): AgentRequest {
  const { state } = request;
  return state.at === 'waiting' ? { ...request, state: { ...state, until: state.until - ms } } : request;
}

function mapValues<V>(map: ReadonlyMap<string, V>, change: (value: V) => V): ReadonlyMap<string, V> {
  return new Map([...map].map(([id, value]) => [id, change(value)]));
}
