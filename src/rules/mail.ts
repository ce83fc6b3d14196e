import { agentAt } from '../model/mail/address.ts';
import { closes, mailQuestionId, NOT_WRITTEN, owesAnswer, promisesDocument } from '../model/mail/effects.ts';
import { MAIN, type MailType } from '../model/mail/vocabulary.ts';
import { defined } from '../text/defined.ts';
import { isJsonObject, type Json } from '../text/json.ts';
import type { MailView, Question, TaskState } from '../model/plan/board.ts';
import type { PlanChange } from '../model/plan/change.ts';
import type { PlanEvent } from '../model/plan/event.ts';
import { limitOf } from '../model/plan/task.ts';
import { withEntry, workOn, type Draft } from './board.ts';

type MailNews = Extract<PlanEvent, { type: 'mail' }>;
type AnswerNews = Extract<PlanEvent, { type: 'answer' }>;
type Send = Extract<PlanChange, { do: 'send' }>;

/** Records an incoming message: who owes an answer, and which task continues because an answer came. */
export function acceptMail(draft: Draft, event: MailNews, type: MailType): void {
  const { id, from, to, action, task, re, via, body } = event;
  const answers = re === undefined ? undefined : viewOf(draft, re);
  if (answers !== undefined) {
    const answered = closes(answers.action, { type, action }) && to.includes(answers.from);
    if (answered) answerPerson(draft, answers.id, from, body);
    if (answered && !promises(event)) closeAsk(draft, answers.id, from);
  }
  const view: MailView = {
    ...{ id, from, to, type, body },
    ...defined({ action, task, re: answers?.id, via }),
    at: draft.now,
    owes: owesAnswer({ type, action }) ? to : [],
  };
  draft.mail = withEntry(draft.mail, id, view);
  // Otherwise its task may still deliver the document, and the playbook closes the ask then.
  if (answers !== undefined && promises(view) && !isStillWritten(draft, view)) closeByPlan(draft, answers.id, from);
  if (action === 'clarify' && to.includes(MAIN) && agentAt(draft.facts.roster, MAIN) === undefined)
    askPerson(draft, view);
}

/** Records what a playbook sends. The mailbox makes its id later, so the plan knows it by its key. */
export function noteSent(draft: Draft, send: Send): void {
  const answers = send.corr ?? (send.corrKey === undefined ? undefined : `key:${send.corrKey}`);
  const from = send.from ?? MAIN;
  const { key, to, type, action, task, body } = send;
  const ask = answers === undefined ? undefined : draft.mail.get(answers);
  if (ask !== undefined && closes(ask.action, { type, action })) closeAsk(draft, ask.id, from);
  if (key === undefined) return;
  const view: MailView = {
    ...{ id: `key:${key}`, key, from, to, type, body },
    ...defined({ action, task, re: answers }),
    at: draft.now,
    owes: owesAnswer({ type, action }) ? to : [],
  };
  draft.mail = withEntry(draft.mail, view.id, view);
}

/** This address, or its role, owes no answer any more. The task that asked continues once no recipient owes one. */
export function closeAsk(draft: Draft, id: string, by: string): void {
  const ask = draft.mail.get(id);
  const names = [by, agentAt(draft.facts.roster, by)?.role];
  const owed = ask?.owes.find((one) => names.includes(one));
  if (ask === undefined || owed === undefined) return;
  const owes = ask.owes.filter((one) => one !== owed);
  draft.mail = withEntry(draft.mail, id, { ...ask, owes });
  if (owes.length === 0) unblockAsker(draft, ask);
}

/** Sends a person's answer to the agent that asked, as MAIN's answer. */
export function answerByPerson(draft: Draft, question: Question, { answer, paths = [], by }: AnswerNews): void {
  const ask = [...draft.mail.values()].find(
    ({ id, action, key }) => key === undefined && action === 'clarify' && mailQuestionId(id) === question.id,
  );
  if (ask === undefined) return;
  const body = { answer, reason: `a person answered (${by})`, ...(paths.length === 0 ? {} : { paths: [...paths] }) };
  answerFor(draft, ask, MAIN, body);
  if (paths.length === 0) return;
  // The playbook decides about paths, as in an answer that MAIN sends itself.
  const re = { id: ask.id, from: ask.from, ...defined({ action: ask.action, task: ask.task }) };
  const id = `key:${answerKey(ask, MAIN)}`;
  draft.news.push({ type: 'mail', id, from: MAIN, to: [ask.from], kind: 'send', action: 'answer', re, body });
}

function viewOf(draft: Draft, re: NonNullable<MailNews['re']>): MailView | undefined {
  return draft.mail.get(re.key === undefined ? re.id : `key:${re.key}`);
}

/** The answer of a turn that has not been sent yet. */
function promises({ action, via, body }: Pick<MailNews, 'action' | 'via' | 'body'>): boolean {
  return via !== undefined && promisesDocument({ action }, body);
}

function isStillWritten(draft: Draft, { via = '' }: MailView): boolean {
  const state = draft.tasks.get(via);
  return state !== undefined && state.task.workspace === 'own' && state.work.phase.at !== 'ended';
}

/**
 * Closes a question for the playbook: nothing more comes of it. An answer that promises a document is sent now, and says that it was
 * written only if its author has delivered something since the question.
 */
export function closeByPlan(draft: Draft, id: string, by: string): void {
  const ask = draft.mail.get(id);
  const isBy = (from: string): boolean => from === by || agentAt(draft.facts.roster, from)?.role === by;
  const said = [...draft.mail.values()].findLast((mail) => mail.re === id && isBy(mail.from) && promises(mail));
  if (ask === undefined || said === undefined || !isOwed(draft, ask, by)) return closeAsk(draft, id, by);
  const { doc_updated: _, doc_path: place, ...words } = said.body as Readonly<Record<string, Json>>;
  const body = hasWritten(draft, said, ask.at)
    ? { ...words, doc_updated: true, ...defined({ doc_path: place }) }
    : { ...words, reason: NOT_WRITTEN };
  answerFor(draft, ask, said.from, body);
  closeAsk(draft, id, by);
}

/** Where its task has a folder of its own, only what that task delivers counts. */
function hasWritten(draft: Draft, { via = '', from }: MailView, since: number): boolean {
  const state = draft.tasks.get(via);
  if (state?.task.workspace === 'own') return isDelivered(state);
  return hasDelivered(draft, from, since);
}

function isDelivered({ task, work: { phase, commit } }: TaskState): boolean {
  return task.integrate && phase.at === 'ended' && phase.as === 'done' && commit !== null;
}

function hasDelivered(draft: Draft, by: string, since: number): boolean {
  const agent = agentAt(draft.facts.roster, by)?.name;
  return [...draft.tasks.values()].some(
    (state) => isDelivered(state) && state.work.author.thread?.agent === agent && (state.at.ended ?? 0) >= since,
  );
}

function isOwed({ facts }: Draft, { owes }: MailView, by: string): boolean {
  return owes.includes(by) || owes.includes(agentAt(facts.roster, by)?.role ?? by);
}

/** Sends an answer in a member's name. Its key makes it known to the plan. */
function answerFor(draft: Draft, ask: MailView, from: string, body: Send['body']): void {
  const about = { corr: ask.id, key: answerKey(ask, from), ...defined({ task: ask.task }) };
  const message: Send = { do: 'send', from, to: [ask.from], type: 'send', action: 'answer', ...about, body };
  noteSent(draft, message);
  draft.effects.push({ effect: 'send', message });
}

function answerKey(ask: MailView, from: string): string {
  return `answer-${ask.id}-${from}`;
}

function unblockAsker(draft: Draft, { via, task }: MailView): void {
  const waits = via ?? task;
  const state = waits === undefined ? undefined : draft.tasks.get(waits)?.work.author.state;
  if (waits === undefined || state?.at !== 'blocked' || !state.question.startsWith('mail/')) return;
  // One turn may have asked several questions: its task continues once all of them are answered.
  const open = [...draft.mail.values()].some(
    (other) => other.via === waits && other.action === 'clarify' && other.owes.length > 0,
  );
  if (!open) workOn(draft, waits, { type: 'unblocked', question: state.question, goOn: true });
}

function askPerson(draft: Draft, ask: MailView): void {
  const id = mailQuestionId(ask.id);
  if (draft.questions.has(id)) return;
  const chinese = draft.facts.locale === 'zh';
  const limit = limitOf(draft.tasks.get(ask.via ?? '')?.task.requires ?? [])?.paths.join(', ');
  const text = chinese
    ? `${ask.from} 提问：${textOf(ask.body, '见其消息')}${limit === undefined ? '' : ` · 它只能修改 ${limit}；--paths 可增加路径`}`
    : `${ask.from} asks: ${textOf(ask.body)}${limit === undefined ? '' : ` · it may change only ${limit}; --paths adds to that`}`;
  const blocks = ask.via === undefined ? [] : [ask.via];
  const question: Question = { id, text, options: [], blocks, by: 'mail', answer: null };
  draft.questions = withEntry<Question>(draft.questions, id, question);
}

/** Closes the question to a person that was answered by mail. */
function answerPerson(draft: Draft, askId: string, from: string, body: Json): void {
  const question = draft.questions.get(mailQuestionId(askId));
  if (question === undefined || question.by !== 'mail' || question.answer !== null || from !== MAIN) return;
  draft.questions = withEntry(draft.questions, question.id, { ...question, answer: answerOf(body) });
}

function textOf(body: Json, otherwise = 'see its message'): string {
  if (!isJsonObject(body)) return otherwise;
  const { question, context, code_path: path } = body;
  const about = [question, context, path].flatMap((part) =>
    typeof part === 'string' && part !== '' && part !== '-' ? [part] : [],
  );
  return about.join(' · ');
}

function answerOf(body: Json): string {
  const answer = isJsonObject(body) ? body['answer'] : undefined;
  return typeof answer === 'string' ? answer : JSON.stringify(body).slice(0, 2_000);
}
