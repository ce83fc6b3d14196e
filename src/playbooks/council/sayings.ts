import { z } from 'zod';
import type { TaskView, View } from '../../model/plan.ts';
import type { MailView } from '../../model/plan/board.ts';
import { ENDED } from '../shared/tasks.ts';
import { findingsOf, findingsSchema, isWhole, type Findings, type Issue } from './answers.ts';
import { councilTexts } from './texts.ts';
import type { Council, Seat } from './council.ts';

/** One ask of MAIN to all members: the review, or the verification of an improvement. */
export interface Asking {
  /** Key of the message; its tasks are named after it. */
  readonly key: string;
  readonly action: 'review' | 'verify';
}

export const REVIEW: Asking = { key: 'review', action: 'review' };

/** The verification of the improvement of this round, from 1. */
export function verifyOf(round: number): Asking {
  return { key: `verify-${round}`, action: 'verify' };
}

/** The task in which this member answers. */
export function taskOf(council: Council, asking: Asking, seat: Seat): string {
  return `${asking.key}-${council.members.indexOf(seat) + 1}`;
}

/** One member's answer to one ask. */
export interface Saying {
  readonly seat: Seat;
  readonly task: TaskView;
  /**
   * `mail`: it sent a message. `answer`: its turn answered, and the council sends that as a message. `failed`: it could not answer.
   * `silent`: its time is over. `waiting`: it may still answer.
   */
  readonly how: 'mail' | 'answer' | 'failed' | 'silent' | 'waiting';
  readonly issues: readonly Issue[];
  readonly summary: string;
  readonly questions: readonly string[];
  /** Its messages that say nothing more than this, by id or `key:`. */
  readonly messages: readonly string[];
}

/** In the order of the seats; empty: the members were not asked yet. */
export function sayingsTo(view: View, council: Council, asking: Asking): Saying[] {
  return council.members.flatMap((seat) => {
    const task = view.task(taskOf(council, asking, seat));
    return task === undefined ? [] : [sayingOf(view, asking, seat, task)];
  });
}

function sayingOf(view: View, asking: Asking, seat: Seat, task: TaskView): Saying {
  const mails = view.mail({ re: `key:${asking.key}`, from: seat.address });
  const said = mails.flatMap((mail) => findingsIn(view, mail));
  const how = howSaid(task, mails);
  // A turn's answer repeats what its agent sent: the messages count.
  const answer = how === 'answer' ? findingsSchema.safeParse(task.answer).data : undefined;
  const all = answer === undefined ? said : [answer];
  const issues = all.flatMap((one) => one.issues);
  const summary = all.flatMap((one) => (one.summary === '' ? [] : [one.summary])).join('\n');
  const questions = all.flatMap((one) => one.questions);
  const whole = mails.flatMap(({ id, type, body }) => (type === 'report' && isWhole(body) ? [id] : []));
  // Without any, the council sends that there is none, which no brief says.
  const sent = issues.length + questions.length === 0 ? [] : [`key:${saidKey(task)}`];
  const messages = how === 'answer' ? sent : whole;
  return { seat, task, how, issues: withoutRepeats(issues), summary, questions, messages };
}

/** The key of the message in which the council sends a turn's answer. */
export function saidKey({ id }: Pick<TaskView, 'id'>): string {
  return `said-${id}`;
}

function howSaid(task: TaskView, mails: readonly MailView[]): Saying['how'] {
  if (!ENDED.has(task.status)) return 'waiting';
  if (mails.some(({ type }) => type === 'report' || type === 'done')) return 'mail';
  if (task.status === 'done') return 'answer';
  const failed = task.status === 'failed' || mails.some(({ type }) => type === 'fail');
  return failed ? 'failed' : 'silent';
}

const verifiedSchema = z.object({ has_new_issues: z.literal(true) });

function findingsIn(view: View, mail: MailView): Findings[] {
  if (mail.type === 'report') {
    const found = findingsOf(mail.body);
    return [found ?? { issues: [unread(view, mail)], summary: '', questions: [] }];
  }
  // It says that there are issues, but not which.
  const named = mail.type === 'done' && verifiedSchema.safeParse(mail.body).success;
  return named ? [{ issues: [unread(view, mail)], summary: '', questions: [] }] : [];
}

/** Stands for issues that only the reader of the message can see. */
function unread(view: View, { id, from }: MailView): Issue {
  const summary = councilTexts(view).inItsMessage(from, id);
  return { doc_path: '', code_paths: [], category: 'docs', severity: 'medium', summary, suggestion: '' };
}

function withoutRepeats(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}

/** Whether this member has answered, by message or by its turn. */
export function hasSpoken({ how }: Saying): boolean {
  return how === 'mail' || how === 'answer';
}
