import { assertNever } from '../model/assert-never.ts';
import type { Board } from '../model/plan/board.ts';
import { checkerText, protectedCriteria } from '../model/plan/checker.ts';
import type { PlanEvent } from '../model/plan/event.ts';
import type { GateFacts } from '../model/plan/gate.ts';
import type { AgentRequest } from '../model/plan/work.ts';
import { defined } from '../text/defined.ts';
import { ENGINE_OPTIONS } from './agent-request.ts';
import { answerBaseline, baselineChecked } from './baseline-checked.ts';
import { answerQuestion, type BoardStep, type Draft, draftOf, finishDraft, withoutEntry, workOn } from './board.ts';
import { isEngines } from './change-checks.ts';
import { notesIn, noting } from './check-notes.ts';
import { addEngineTask, finishFailed } from './finish.ts';
import { judgeTask, leftToJudge, pickJudge, problemsOf } from './gate.ts';
import { intervene } from './intervene.ts';
import { lockOutAskedAbout } from './logins.ts';
import { acceptMail, answerByPerson, closeAsk } from './mail.ts';
import { answerLogin } from './reopen-logins.ts';
import { answerBranch, branchRestored, findForeign } from './run-branch.ts';
import { mapRequests } from './work-requests.ts';

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

/** Applies the check of the run branch: the run ends, a reviewer judges the criteria without a command, or more work follows. */
export function gateChecked(draft: Draft, facts: GateFacts): void {
  const { gate, branch } = draft;
  // The check is out of date. The engine checks again.
  if (gate.at !== 'checking' || draft.finished !== null || facts.expected !== branch.head) return;
  if (facts.head !== branch.head) return findForeign(draft, facts.head);
  const { criteria } = draft.facts.objective;
  const before = gate.facts;
  draft.gate = noting({ ...gate, facts }, notesIn(facts.commands));
  if (facts.missing.length > 0) {
    return finishFailed(draft, `delivered work is missing from the run branch: ${facts.missing.join(', ')}`);
  }
  const problems = problemsOf(facts, gate, criteria);
  if (problems.length > 0) return refuse(draft, problems, gate.refused > 0 && before?.head === facts.head);
  const { problems: _, ...sound } = draft.gate;
  draft.gate = sound;
  const left = leftToJudge(facts, gate, criteria);
  const judge = left.length > 0 ? pickJudge(draft) : undefined;
  if (judge === undefined) {
    draft.finished = { outcome: 'done', why: gate.why, ...defined({ remarks: gate.remarks }) };
    draft.gate = { ...draft.gate, at: 'idle' };
    return;
  }
  const changes = protectedCriteria(facts.checkers).map(
    ({ text, change }) => `${text} (${checkerText(change)}; see \`git diff ${draft.facts.base} ${facts.head}\`)`,
  );
  const id = addEngineTask(draft, 'judge', (name) =>
    judgeTask(name, judge, criteria, left, { changes, ...defined({ prompts: draft.facts.prompts }) }),
  );
  draft.gate = { ...draft.gate, at: 'judging', judge: id };
}

/** Reports the problems to the playbook, as long as a repair can change the result. */
function refuse(draft: Draft, problems: readonly string[], unchanged: boolean): void {
  const refused = draft.gate.refused + 1;
  draft.gate = { ...draft.gate, at: 'idle', refused, problems: { at: draft.now, texts: problems } };
  if (unchanged || refused > draft.facts.limits.rounds) return finishFailed(draft, problems.join('\n'));
  draft.news.push({ type: 'gate-refused', refused, problems: [...problems] });
}
