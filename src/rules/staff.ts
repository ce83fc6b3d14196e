import { defined } from '../text/defined.ts';
import type { Board, Member, TaskState } from '../model/plan/board.ts';
import { agentScope } from '../model/plan/scope.ts';
import type { AgentRequest } from '../model/plan/work.ts';
import type { Room } from '../model/spending.ts';
import { barredFrom, eligible } from './members.ts';
import { locksOf, lockOn, placesOf } from './stand-ins.ts';

/** Places in use, including the turns that this decision starts. */
export interface Staff {
  readonly sessions: Set<string>;
  readonly load: Map<string, number>;
  /** Accounts of turns that this decision starts. Only one of them may be an account's probe. */
  readonly probing: Set<string>;
  /** Turns of each agent that this decision starts. */
  readonly starting: Map<string, number>;
  readonly room: Room;
}

export type Pick =
  | {
      readonly pick: 'agent';
      readonly agent: string;
      readonly account: string;
      /** The account that `account` stands in for. Absent: none. */
      readonly insteadOf?: string;
      readonly session: { readonly key: string; readonly resume: boolean };
    }
  | { readonly pick: 'wait'; readonly why: string; readonly until: number | null; readonly paused?: boolean }
  /** Every member who could do it has reached a limit. */
  | { readonly pick: 'over'; readonly why: string }
  | { readonly pick: 'unstaffed'; readonly why: string };

/**
 * Prefers the agent that had it before, then the least busy of the role, and for a review one on another account than the authors', who
 * never review. At an account's limit or lock-out the agent moves to its fallback; at its own limit another member takes over.
 */
export function pickAgent(
  state: TaskState,
  review: string | null,
  request: AgentRequest,
  board: Board,
  staff: Staff,
): Pick {
  const everybody = eligible(state, review, board);
  if (everybody.length === 0) return { pick: 'unstaffed', why: unstaffedText(state, review) };
  const banned = review === null ? reviewersOf(state) : barredFrom(state.work, review);
  const able = withRoom(everybody, { state, request, board, staff, banned });
  if (able.length === 0) return { pick: 'over', why: everybody.flatMap((one) => overText(one, staff)).join('; ') };
  const open = able.flatMap((member) => seatOf(member, board, staff));
  if (able.every(({ name }) => isPaused(name, board))) {
    return { pick: 'wait', why: `${able.map(({ name }) => name).join(', ')} paused`, until: null, paused: true };
  }
  if (open.length === 0) {
    const playing = able.filter(({ name }) => !isPaused(name, board));
    if (playing.every((one) => locksOf(board, one) !== undefined)) return lockedOut(playing, board);
    const waiting = playing.flatMap(({ name, account }) =>
      placesOf(board, account).filter((place) => lockOn(board, name, place) === undefined),
    );
    const until = Math.min(...waiting.map((account) => board.accounts.get(account)?.until ?? board.now));
    const accounts = [...new Set(waiting)];
    const why = `waiting for ${accounts.join(' or ')}, at its usage limit`;
    return { pick: 'wait', why, until: until > board.now ? until : null };
  }
  const free = open.filter((member) => (staff.load.get(member.name) ?? 0) < (member.capacity ?? Infinity));
  const own = review === null ? [] : state.work.madeOn;
  const order = ({ name, account }: Seat): number => 2 * (staff.load.get(name) ?? 0) + Number(own.includes(account));
  const [member] = free.toSorted((a, b) => order(a) - order(b));
  if (member === undefined) return { pick: 'wait', why: 'all agents that can do it are busy', until: null };
  const session = sessionOf(state, review, request, member, board);
  if (staff.sessions.has(session.key)) return { pick: 'wait', why: 'its session is in use', until: null };
  const { account, insteadOf } = member;
  return { pick: 'agent', agent: member.name, account, ...defined({ insteadOf }), session };
}

/** The agents that had it before, as long as they have room, otherwise all members with room. */
function withRoom(
  members: readonly Member[],
  about: { state: TaskState; request: AgentRequest; board: Board; staff: Staff; banned: readonly string[] },
): Member[] {
  const { state, request, board, staff, banned } = about;
  const left = members.filter((member) => overText(member, staff).length === 0);
  const { session } = state.task;
  const before = typeof session === 'object' ? board.tasks.get(session.of)?.work.author.thread : null;
  const same = left.filter((member) => member.name === before?.agent);
  const kept = keepFirst(same.length > 0 ? same : left, request);
  const first = members.find((member) => member.name === request.thread?.agent);
  return first === undefined || kept.includes(first) ? kept : kept.filter(({ name }) => !banned.includes(name));
}

function overText({ name }: Member, { room, starting }: Staff): string[] {
  const over = room.agent(name, starting.get(name) ?? 0);
  return over === undefined ? [] : [`${name} has reached its limit (${over})`];
}

/** Earlier reviewers do not take it over, so that they can still judge it. */
function reviewersOf({ work }: TaskState): string[] {
  const before = work.rounds.flatMap((round) => round.by.map(({ agent }) => agent));
  return [...before, ...Object.values(work.reviewers).map(({ agent }) => agent)];
}

/** A session stays with its agent. */
function keepFirst(members: Member[], request: AgentRequest): Member[] {
  const kept = members.filter((member) => member.name === request.thread?.agent);
  return kept.length > 0 ? kept : members;
}

/** A member on the account that it works on now. */
interface Seat extends Member {
  readonly insteadOf?: string;
}

/** The member on its own account, or on the first one that stands in for that; none while all wait. After a limit, one turn goes first as the probe. */
function seatOf(member: Member, board: Board, staff: Staff): Seat[] {
  const account = placesOf(board, member.account).find((place) => isOpen(member, place, board, staff));
  if (account === undefined) return [];
  return account === member.account ? [member] : [{ ...member, account, insteadOf: member.account }];
}

/** If all agents are locked out: wait while a person can fix an account; unstaffed once a person gave up on all. */
function lockedOut(barred: readonly Member[], board: Board): Pick {
  const locks = barred.flatMap((member) => locksOf(board, member) ?? []);
  const accounts = [...new Set(locks.map(({ account }) => account))];
  const what = locks.every(({ kind }) => kind === 'auth' || kind === 'billing')
    ? 'working login or payment for'
    : 'use of';
  const why = `no ${what} ${accounts.join(' and ')}`;
  const open = locks.some(({ givenUp }) => !givenUp);
  return open ? { pick: 'wait', why, until: null } : { pick: 'unstaffed', why: `${why}, and a person gave up on it` };
}

function isPaused(name: string, board: Board): boolean {
  return board.pauses.has(agentScope(name));
}

function isOpen(member: Member, account: string, board: Board, staff: Staff): boolean {
  if (isPaused(member.name, board) || overText(member, staff).length > 0) return false;
  if (lockOn(board, member.name, account) !== undefined) return false;
  const limited = board.accounts.get(account);
  if (limited === undefined) return true;
  return limited.until <= board.now && limited.probe === null && !staff.probing.has(account);
}

function sessionOf(
  state: TaskState,
  review: string | null,
  request: AgentRequest,
  member: Seat,
  board: Board,
): { key: string; resume: boolean } {
  const { task, work } = state;
  const fresh = request.session === 'new';
  const kept = request.thread;
  // A session belongs to a runtime: another one begins its own.
  const on = member.insteadOf === undefined ? undefined : member.account;
  const isOwn = (thread: AgentRequest['thread']): boolean => thread?.agent === member.name && thread.on === on;
  if (kept !== null && isOwn(kept) && !fresh) return { key: kept.key, resume: true };
  // Numbered by attempt, so that an abandoned session is never resumed.
  const own = `${task.id}/${review ?? 'author'}/${member.name}/${work.attempts + 1}`;
  if (review !== null || fresh || task.session === 'new') return { key: own, resume: false };
  if (task.session === 'agent') {
    const other = board.switches.get(agentScope(member.name));
    const key = ['agent', member.name, ...(other === undefined ? [] : [other.seq]), ...(on === undefined ? [] : [on])];
    return { key: key.join('/'), resume: true };
  }
  const other = board.tasks.get(task.session.of)?.work.author.thread ?? null;
  return other !== null && isOwn(other) ? { key: other.key, resume: true } : { key: own, resume: false };
}

function unstaffedText(state: TaskState, review: string | null): string {
  const { task, work } = state;
  if (review === null) return `no agent has the role ${task.role}`;
  return `only its author ${work.authors.join(', ')} has the role ${review}, and an author cannot review`;
}
