import type { Board, TaskState } from '../model/plan/board.ts';
import { taskScope } from '../model/plan/scope.ts';
import type { AgentRequest, Prompt } from '../model/plan/work.ts';
import { baselineQuestion } from './baseline.ts';
import { defined } from '../text/defined.ts';
import { commitOf, decideBase, type BaseDecision } from './base.ts';
import { ROOM_FOR_ALL, type Room } from '../model/spending.ts';
import { pickAgent, type Pick, type Staff } from './staff.ts';
import { agentRequests, liveAttempts } from './work-requests.ts';
import { isEnded, needsDelivered } from './work-status.ts';

export type Start =
  | {
      readonly start: 'turn';
      readonly task: string;
      /** `<task>-<number>`. The same board makes the same ids. */
      readonly attempt: string;
      readonly number: number;
      /** The role that it reviews as; null: it is the author's. */
      readonly review: string | null;
      /** For reviews: the commit to judge. */
      readonly commit: string | null;
      /** For reviews: the commit before the work. */
      readonly since: string | null;
      readonly agent: string;
      readonly account: string;
      /** The account that `account` stands in for. Absent: none. */
      readonly insteadOf?: string;
      /** `resume: false` begins a new session. */
      readonly session: { readonly key: string; readonly resume: boolean };
      readonly prompt: Prompt;
      readonly base: BaseDecision;
    }
  | { readonly start: 'check'; readonly task: string; readonly base: BaseDecision }
  | { readonly start: 'integrate'; readonly task: string; readonly commit: string | null; readonly base?: string };

/** `paused`: the operator paused it. */
interface Waiting {
  readonly task: string;
  readonly why: string;
  readonly until: number | null;
  readonly paused?: boolean;
}

export interface Frontier {
  readonly starts: readonly Start[];
  /** Ready, but cannot start yet. `until` null: something else has to end first. */
  readonly waiting: readonly Waiting[];
  /** No member may do it. */
  readonly unstaffed: readonly { readonly task: string; readonly why: string }[];
  /** The task has reached a limit and none of its turns is running, so it can only fail. */
  readonly over: readonly { readonly task: string; readonly why: string }[];
}

/**
 * Starts at most `free` turns: their needs are delivered, their session is free, and their account is not at a limit. Higher priority goes
 * first, then tasks under way, then order of arrival.
 */
export function decideFrontier(board: Board, free: number, room = ROOM_FOR_ALL): Frontier {
  const starts: Start[] = [];
  const waiting: Waiting[] = [];
  const unstaffed: Frontier['unstaffed'][number][] = [];
  const over = new Map<string, string>();
  if (board.finished !== null) return { starts, waiting, unstaffed, over: [] };
  const asked =
    [...board.questions.values()].find(({ by, answer }) => by === 'playbook' && answer === null) ??
    baselineQuestion(board);
  const staff = staffOf(board, room);
  const numbers = new Map<string, number>();
  for (const { state, review, request } of candidates(board)) {
    const task = state.task.id;
    const reason =
      asked === undefined ? whyWaiting(board, state, request) : { why: `${asked.id} is open`, until: null };
    if (reason !== undefined) {
      waiting.push({ task, ...reason });
      continue;
    }
    if (state.task.kind !== 'work' && review === null) {
      starts.push(startOfEngine(state, board));
      continue;
    }
    const starting = (numbers.get(task) ?? state.work.attempts) - state.work.attempts;
    const passed = state.work.uncapped ? undefined : room.task(task, starting);
    const pick = pickWithin(passed, () => pickAgent(state, review, request, board, staff));
    if (pick.pick === 'over') {
      // A running turn may still end the task well.
      if (starting > 0 || liveAttempts(state.work).length > 0) waiting.push({ task, why: pick.why, until: null });
      else over.set(task, pick.why);
    } else if (pick.pick === 'unstaffed') unstaffed.push({ task, why: pick.why });
    else if (pick.pick === 'wait')
      waiting.push({ task, why: pick.why, until: pick.until, paused: pick.paused === true });
    else if (starts.filter((start) => start.start === 'turn').length >= free) {
      waiting.push({ task, why: 'the limit of parallel turns is reached', until: null });
    } else {
      const number = (numbers.get(task) ?? state.work.attempts) + 1;
      numbers.set(task, number);
      const { agent, account, insteadOf, session } = pick;
      const { phase } = state.work;
      const commit = phase.at === 'reviewing' ? phase.commit : null;
      const base: BaseDecision = commit === null ? decideBase(state.task, board) : { base: 'commit', commit };
      const since = commit === null ? null : state.work.base;
      const about = { task, attempt: `${task}-${number}`, number, review, commit, since, prompt: request.prompt, base };
      starts.push({ start: 'turn', ...about, agent, account, ...defined({ insteadOf }), session });
      staff.sessions.add(session.key);
      staff.load.set(agent, (staff.load.get(agent) ?? 0) + 1);
      staff.starting.set(agent, (staff.starting.get(agent) ?? 0) + 1);
      staff.probing.add(account);
    }
  }
  const fails = [...over].filter(([task]) => !starts.some((start) => start.task === task));
  return { starts, waiting, unstaffed, over: fails.map(([task, why]) => ({ task, why })) };
}

function pickWithin(over: string | undefined, pick: () => Pick): Pick {
  return over === undefined ? pick() : { pick: 'over', why: `the task has reached its limit (${over})` };
}

interface Candidate {
  readonly state: TaskState;
  readonly review: string | null;
  readonly request: AgentRequest;
}

function candidates(board: Board): Candidate[] {
  const all = board.tasks.open
    .filter((state) => !isEnded(state) && needsDelivered(state, board))
    .flatMap((state) => agentRequests(state.work).map((one) => ({ state, ...one })))
    .filter(({ request }) => request.state.at === 'queued' || request.state.at === 'waiting');
  const underWay = ({ state }: Candidate): number => (state.work.attempts > 0 ? 0 : 1);
  // The table is in order of arrival, and sorting is stable.
  return all.toSorted(
    (a, b) => (b.state.task.priority ?? 0) - (a.state.task.priority ?? 0) || underWay(a) - underWay(b),
  );
}

function startOfEngine(state: TaskState, board: Board): Start {
  const { id, base, kind, foreign } = state.task;
  if (foreign !== undefined) return { start: 'integrate', task: id, commit: foreign, base: board.branch.head };
  if (kind === 'check') return { start: 'check', task: id, base: decideBase(state.task, board) };
  const commit = base === undefined ? null : commitOf(base, board);
  return { start: 'integrate', task: id, commit };
}

function whyWaiting(board: Board, state: TaskState, request: AgentRequest): Omit<Waiting, 'task'> | undefined {
  const paused = board.pauses.get(taskScope(state.task.id));
  if (paused !== undefined) return { why: `${state.task.id} is paused by ${paused.by}`, until: null, paused: true };
  // The folder is free only after that.
  if (state.work.phase.at === 'working' && state.work.leaving.length > 0) {
    return { why: `an attempt at ${state.task.id} is being stopped`, until: null };
  }
  if (request.state.at === 'waiting' && request.state.until > board.now) {
    return { why: 'waits before the next try', until: request.state.until };
  }
  return undefined;
}

function staffOf(board: Board, room: Room): Staff {
  const live = board.tasks.open.flatMap(({ work }) => liveAttempts(work));
  const load = new Map<string, number>();
  for (const { agent } of live) load.set(agent, (load.get(agent) ?? 0) + 1);
  return { sessions: new Set(live.map(({ session }) => session)), load, probing: new Set(), starting: new Map(), room };
}
