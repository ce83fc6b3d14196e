import { z } from 'zod';
import { agentAt } from '../../model/mail/address.ts';
import type { MailVerb } from '../../model/mail/kind.ts';
import type { Playbook, TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { assigned } from './mail-assigned.ts';
import { asked } from './mail-asks.ts';
import {
  answeredAtLast,
  ended,
  MAIL_ANSWER,
  mailAnswerForm,
  PATHS_ANSWER,
  pathsAnswerForm,
  pathsIn,
} from './mail-ends.ts';
import { orderOf } from './mail-orders.ts';
import { UNREVIEWED, type MailWork } from './mail-work.ts';
import { ENDED } from './tasks.ts';

type Mail = Extract<PlaybookEvent, { type: 'mail' }>;

const failSchema = z.object({ reason: z.string() });

/** Verbs of every role, because every agent may be asked or get work. */
const TO_ANSWER: readonly MailVerb[] = ['send', 'report', 'done', 'fail'];

/**
 * Adds the common effects of mail to a playbook: who is asked gets a task to answer, and who is assigned work gets it. Without it,
 * mail only reaches the playbook's own `advance`.
 */
export function withMail<I>(playbook: Playbook<I>, work: MailWork = UNREVIEWED): Playbook<I> {
  return {
    ...playbook,
    answers: { ...playbook.answers, [MAIL_ANSWER]: mailAnswerForm, [PATHS_ANSWER]: pathsAnswerForm },
    tools: (role) => [...new Set([...playbook.tools(role), ...TO_ANSWER])],
    advance: (view, event) => {
      const changes = mailChanges(view, event, work);
      if (changes === undefined) return playbook.advance(view, event);
      // The playbook waits for the last task to end, whatever it was about.
      const ended = event.type === 'task-done' || event.type === 'task-failed' || event.type === 'task-skipped';
      const reopens = changes.some((change) => change.do === 'reopen-task');
      return ended && !reopens ? [...changes, ...playbook.advance(view, event)] : changes;
    },
  };
}

/**
 * Changes for mail in any playbook: a question or assignment adds a task, a `fail` from the agent at work ends its task, and senders get a
 * report. undefined: the playbook decides. The mailbox has checked who may send.
 */
export function mailChanges(view: View, event: PlaybookEvent, work: MailWork = UNREVIEWED): PlanChange[] | undefined {
  switch (event.type) {
    case 'mail':
      return received(view, event, work);
    case 'task-done':
    case 'task-failed':
    case 'task-skipped':
      return ended(view, event, work);
    case 'overdue':
      return event.action === 'assign' ? tooLate(view, event.message) : undefined;
    case 'refused':
      return refused(view, event, work);
    default:
      return undefined;
  }
}

function received(view: View, event: Mail, work: MailWork): PlanChange[] | undefined {
  if (event.kind === 'ask') return event.action === 'assign' ? assigned(view, event, work) : asked(view, event, work);
  if (event.kind === 'fail') return gaveUp(view, event);
  return event.action === 'answer' ? withPaths(view, event, work) : undefined;
}

/** Adds the paths of an answer to the task whose agent asked for them. */
function withPaths(view: View, { from: by, re, body }: Mail, { grants }: MailWork): PlanChange[] | undefined {
  const ask = view.mail().find(({ id, action }) => id === re?.id && action === 'clarify');
  if (ask === undefined || grants === undefined) return undefined;
  const { changes } = grants.add(view, { ask, by, paths: pathsIn(body) });
  return changes.length === 0 ? undefined : [...changes];
}

/** The agent that has the task reports that it cannot be done: the task fails without a retry. */
function gaveUp(view: View, event: Mail): PlanChange[] | undefined {
  const { from, body } = event;
  const task = givenUp(view, event);
  const reason = failSchema.safeParse(body).data?.reason;
  if (reason === undefined || task === undefined || ENDED.has(task.status)) return undefined;
  return [{ do: 'settle-task', id: task.id, as: 'failed', why: `${from} gave up: ${reason}` }];
}

/** The task that the answered message assigned, or else the task of the turn. A `fail` in answer to a question ends no task. */
function givenUp(view: View, { via, from, re }: Mail): TaskView | undefined {
  const agent = agentAt(view.roster, from)?.name;
  if (agent === undefined) return undefined;
  if (re === undefined) {
    const task = via === undefined ? undefined : view.task(via);
    // A reviewer's `fail` does not end the task.
    return task?.doneBy === agent ? task : undefined;
  }
  if (re.action !== 'assign') return undefined;
  const assigned = view.tasks({ ended: false }).filter(({ id }) => orderOf(view, id)?.message === re.id);
  return assigned.find((task) => (task.doneBy ?? task.agent) === agent);
}

/** Work that an agent assigned and that is not done in time has failed. */
function tooLate(view: View, message: string): PlanChange[] | undefined {
  const late = view.tasks({ ended: false }).filter(({ id }) => orderOf(view, id)?.message === message);
  if (late.length === 0) return undefined;
  return late.map(({ id }) => ({ do: 'settle-task', id, as: 'failed', why: 'the deadline of its assignment is over' }));
}

/** Refuses the message once, if any of its tasks cannot be planned. */
function refused(
  view: View,
  { change, why }: Extract<PlaybookEvent, { type: 'refused' }>,
  work: MailWork,
): PlanChange[] | undefined {
  if (change.do === 'reopen-task') return answeredAtLast(view, change.id, work);
  if (change.do !== 'add-task') return undefined;
  const { id, needs } = change.task;
  const order = orderOf(view, id);
  if (order === undefined) {
    const ofRefused = needs.some((need) => orderOf(view, need) !== undefined && view.task(need) === undefined);
    return ofRefused ? [] : undefined;
  }
  const { first = id } = order;
  if (first !== id && view.task(first) === undefined) return [];
  const begun: PlanChange[] = first === id ? [] : [{ do: 'settle-task', id: first, as: 'cancelled', why }];
  return [...begun, { do: 'refuse-mail', message: order.message, reason: why }];
}
