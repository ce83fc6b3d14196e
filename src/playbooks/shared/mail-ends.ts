import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import { NOT_WRITTEN, promisesDocument } from '../../model/mail/effects.ts';
import { pathSchema } from '../../model/mail/wire-text.ts';
import { addressOf } from '../../model/mail/address.ts';
import type { AnswerForm, View } from '../../model/plan.ts';
import type { MailView } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { TaskEnded } from '../../model/plan/event.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { orderOf, type MailOrder } from './mail-orders.ts';
import { mailTexts } from './mail-texts.ts';
import type { MailWork } from './mail-work.ts';
import { answerSchema } from './tasks.ts';

/** The form of MAIN's answer to a question, if it did not use the tool. */
export const MAIL_ANSWER = 'mail-answer';
const lastWordSchema = z.object({
  answer: z.string().describe('The answer.'),
  doc_updated: z.boolean().describe('Whether the documentation has the answer now, in a commit of yours.'),
  doc_path: z.string().describe('Where in the documentation the answer is; empty if nowhere.'),
  reason: z.string().describe('Why nothing needs to be written; empty if the documentation has the answer.'),
});
export const mailAnswerForm: AnswerForm = { schema: answerSchema(lastWordSchema) };

/** The form for an agent that may add paths to the task of the agent that asked. */
export const PATHS_ANSWER = 'mail-answer-paths';
const pathsSchema = z.object({ paths: z.array(z.string()) });
export const pathsAnswerForm: AnswerForm = { schema: answerSchema(lastWordSchema.extend(pathsSchema.shape)) };

/** The paths that an answer names. */
export function pathsIn(body: unknown): readonly string[] {
  return pathsSchema.safeParse(body).data?.paths ?? [];
}

/** MAIN gets one more round to write the document that it promised. After that, the answer goes out with a reason instead. */
const MOST_ROUNDS = 2;

/** Characters of the reason in a `fail`. */
const MOST_REASON = 2_000;

/** The messages for the end of a task that a message added; undefined: no message added it. */
export function ended(view: View, event: TaskEnded, work: MailWork): PlanChange[] | undefined {
  const order = orderOf(view, event.task);
  if (order === undefined) return undefined;
  if (order.answers) return answered(view, event, order, work);
  const { delivers = event.task } = order;
  return event.type === 'task-done' && event.task !== delivers ? undefined : reported(view, event, order);
}

/** Sends the answer as it is, if its task cannot be reopened for the promised document. */
export function answeredAtLast(view: View, id: string, work: MailWork): PlanChange[] | undefined {
  const order = orderOf(view, id);
  const { answer, commit } = view.task(id) ?? {};
  if (order?.answers !== true) return undefined;
  const said = { ...(answer === undefined ? {} : { output: answer }), ...(commit === undefined ? {} : { commit }) };
  return answered(view, { type: 'task-done', task: id, ...said, followUps: [] }, order, work, false);
}

/** Reports the end to the sender of the assignment, if the agent reported nothing or something else. */
function reported(
  view: View,
  event: TaskEnded,
  { message, from: to, by, first = event.task }: MailOrder,
): PlanChange[] {
  const from = speakerOf(view, first, by);
  const type = event.type === 'task-done' ? 'done' : 'fail';
  const key = `${type}-${first}`;
  const said = view.mail({ re: message, from }).findLast((mail) => mail.type === 'done' || mail.type === 'fail');
  if (said?.type === type || view.mail({ key }).length > 0) return [];
  const task = view.mail().find(({ id }) => id === message)?.task;
  const about = task === undefined ? {} : { task };
  const body: Record<string, Json> =
    event.type === 'task-done' ? { status: 'delivered' } : { reason: event.why.slice(0, MOST_REASON), blocked_by: [] };
  return [{ do: 'send', key, from, to: [to], type, corr: message, ...about, body }];
}

/** Sends the answer of a task that used no tool for it. A document that the answer promises must be delivered first. */
function answered(
  view: View,
  event: TaskEnded,
  order: MailOrder,
  { grants }: MailWork,
  mayComeBack = true,
): PlanChange[] {
  const ask = view.mail().find(({ id }) => id === order.message);
  if (ask === undefined || !ask.owes.includes(order.by)) return [];
  const from = speakerOf(view, event.task, order.by);
  const own = view.mail({ re: ask.id, from }).filter(({ type }) => type === 'send');
  const written = event.type === 'task-done' && event.commit !== undefined;
  const said = event.type === 'task-done' ? lastWordSchema.safeParse(event.output).data : undefined;
  const task = view.task(event.task);
  const promised =
    own.length > 0
      ? own.some((mail) => promisesDocument(mail, mail.body))
      : said !== undefined && (said.doc_updated || said.reason.trim() === '');
  const writes = event.type === 'task-done' && task?.workspace === 'own' && task.round < MOST_ROUNDS;
  if (promised && !written && writes && mayComeBack) {
    return [
      {
        do: 'reopen-task',
        id: event.task,
        feedback: renderPrompt('mail/write-first', {}, view.prompts),
        session: 'same',
      },
    ];
  }
  if (own.length > 0) return [{ do: 'close-ask', message: ask.id, by: order.by }];
  const about = ask.task === undefined ? {} : { task: ask.task };
  if (ask.action !== 'clarify') {
    // Only the agent itself can report what it saw.
    const failed = { reason: mailTexts(view).noReport, blocked_by: [] };
    return [{ do: 'send', from, to: [ask.from], type: 'fail', corr: ask.id, ...about, body: failed }];
  }
  if (said === undefined) return unanswered(view, ask, event, order.by);
  const paths = pathsIn(event.type === 'task-done' ? event.output : undefined);
  const { added, changes } = grants?.add(view, { ask, by: from, paths }) ?? { added: [], changes: [] };
  const body = {
    answer: said.answer,
    // Only what the task has from now on.
    ...(added.length === 0 ? {} : { paths: [...added] }),
    ...(written ? { doc_updated: true, ...placeIn(said.doc_path) } : { reason: promised ? NOT_WRITTEN : said.reason }),
  };
  const key = `answer-${ask.id}-${from}`;
  const answer: PlanChange = {
    ...{ do: 'send', key, from, to: [ask.from], type: 'send', action: 'answer', corr: ask.id, ...about, body },
  };
  return [...changes, answer];
}

/** Where the answer says that it was written, unless that is no path. */
function placeIn(place = ''): { doc_path?: string } {
  return pathSchema.safeParse(place).success && place.trim() !== '' ? { doc_path: place } : {};
}

/** Sends no answer in the agent's name. If no other recipient can answer, the router reports why. */
function unanswered(view: View, ask: MailView, event: TaskEnded, by: string): PlanChange[] {
  if (ask.owes.length > 1) return [{ do: 'close-ask', message: ask.id, by }];
  const texts = mailTexts(view);
  const why = event.type === 'task-done' ? texts.noForm : event.why;
  const reason = texts.noAnswer(by, why.slice(0, MOST_REASON));
  return [{ do: 'refuse-mail', message: ask.id, reason }];
}

/** The sender for a role: the agent that has its task. */
function speakerOf(view: View, task: string, by: string): string {
  const state = view.task(task);
  const agent = state?.agent ?? state?.doneBy;
  const member = view.roster.find(({ name }) => name === agent);
  return member === undefined ? by : addressOf(member);
}
