import type { Board, LockOut, Member } from '../model/plan/board.ts';
import { agentScope } from '../model/plan/scope.ts';
import { membersFor } from './members.ts';

type BoardPart = Pick<Board, 'facts' | 'lockedOut'>;

/** The accounts on which the agent can work, in this order: its own, the one that stands in for that, and so on. */
export function placesOf({ facts: { fallbacks = {} } }: Pick<Board, 'facts'>, account: string): readonly string[] {
  const places: string[] = [];
  for (let next: string | undefined = account; next !== undefined; next = fallbacks[next]) {
    if (places.includes(next)) break;
    places.push(next);
  }
  return places;
}

/** The key of a lock-out. `agent`: whom alone it keeps from working there; null: everyone. */
export function lockKey(account: string, agent: string | null): string {
  return agent === null ? account : `${account} ${agent}`;
}

/** The lock-out that keeps the agent off this account until a person helps; undefined: there is none. */
export function lockOn({ lockedOut }: Pick<Board, 'lockedOut'>, agent: string, account: string): LockOut | undefined {
  return lockedOut.size === 0
    ? undefined
    : (lockedOut.get(lockKey(account, null)) ?? lockedOut.get(lockKey(account, agent)));
}

/** The lock-outs of an agent that can work nowhere; undefined: it can, or could after a wait. */
export function locksOf(board: BoardPart, { name, account }: Pick<Member, 'name' | 'account'>): LockOut[] | undefined {
  if (board.lockedOut.size === 0) return undefined;
  const locks = placesOf(board, account).map((place) => lockOn(board, name, place));
  return locks.every((lock) => lock !== undefined) ? locks : undefined;
}

/** The account that the agent uses instead of its own; undefined: its own one, or none is known to be free. */
export function standInFor(
  board: BoardPart & Pick<Board, 'accounts' | 'now'>,
  { name, account }: Pick<Member, 'name' | 'account'>,
): string | undefined {
  const free = placesOf(board, account).find(
    (place) => lockOn(board, name, place) === undefined && (board.accounts.get(place)?.until ?? 0) <= board.now,
  );
  return free === account ? undefined : free;
}

/** Whether the agent could start a turn on this task now, as far as pauses and accounts are known. */
export function isFree(
  board: BoardPart & Pick<Board, 'accounts' | 'now' | 'pauses' | 'switches'>,
  task: string,
  agent: string,
): boolean {
  if (board.pauses.has(agentScope(agent))) return false;
  const account = membersFor(board, task, '').find(({ name }) => name === agent)?.account;
  if (account === undefined) return false;
  return placesOf(board, account).some(
    (place) => lockOn(board, agent, place) === undefined && (board.accounts.get(place)?.until ?? 0) <= board.now,
  );
}
