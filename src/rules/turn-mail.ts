import { addressOf } from '../model/mail/address.ts';
import type { Board, Member } from '../model/plan/board.ts';
import { agentScope, WHOLE_RUN } from '../model/plan/scope.ts';
import type { Start } from './frontier.ts';
import { liveAttempts } from './work-requests.ts';
import { isEnded } from './work-status.ts';

export type TurnStart = Extract<Start, { start: 'turn' }>;

/** The part of a message that decides whether it belongs to a turn. */
interface Addressed {
  readonly message: { readonly id: string; readonly task_id?: string };
  readonly recipient: string;
}

/** Addresses whose mail this turn may carry: its agent's, and its role's if mail to the role added the task. */
export function recipientsOf(start: TurnStart, board: Board): string[] {
  const member = board.facts.roster.find(({ name }) => name === start.agent);
  if (member === undefined) return [];
  const own = addressOf(member);
  // An agent may have its role's name.
  return orderedBy(start, board).length > 0 && member.role !== own ? [own, member.role] : [own];
}

/** The messages that added the task. A review has none. */
export function orderedBy({ task, review }: Pick<TurnStart, 'task' | 'review'>, board: Board): readonly string[] {
  return review === null ? (board.tasks.get(task)?.task.brief.mail ?? []) : [];
}

/**
 * The part of an agent's unread mail that goes with this turn: the messages that added its task, those about it, and those about no
 * open task. A reviewer gets only messages about what it reviews. Of mail to a role, only the messages that added the task.
 */
export function messagesFor<D extends Addressed>(start: TurnStart, board: Board, unread: readonly D[]): D[] {
  const member = board.facts.roster.find(({ name }) => name === start.agent);
  const own = member === undefined ? '' : addressOf(member);
  const ordered = board.tasks.get(start.task)?.task.brief.mail ?? [];
  return unread.filter(({ message, recipient }) => {
    if (ordered.includes(message.id)) return start.review === null;
    if (recipient !== own) return false;
    const { task_id: task } = message;
    if (task === start.task) return true;
    const other = task === undefined ? undefined : board.tasks.get(task);
    return start.review === null && (other === undefined || isEnded(other));
  });
}

/** Addresses of agents that could receive mail now: not working, not waiting for a limit, not paused. */
export function receiversOf(board: Board): string[] {
  const busy = new Set(board.tasks.open.flatMap(({ work }) => liveAttempts(work).map(({ agent }) => agent)));
  return board.facts.roster.filter((member) => canTake(member, board) && !busy.has(member.name)).map(addressOf);
}

function canTake({ name, account }: Member, { accounts, pauses, now }: Board): boolean {
  if (pauses.has(WHOLE_RUN) || pauses.has(agentScope(name))) return false;
  return (accounts.get(account)?.until ?? 0) <= now;
}
