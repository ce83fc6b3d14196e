import { isOfAgent, LOCK_OUT_KINDS, type LockOutKind } from '../model/plan/lock-out.ts';
import type { Board, LockOut, Member, Question, TaskState } from '../model/plan/board.ts';
import { agentScope, taskScope } from '../model/plan/scope.ts';
import type { DescribedRuntimes } from '../model/runtime-description.ts';
import { eligible, membersFor } from './members.ts';
import { locksOf, lockOn } from './stand-ins.ts';
import { agentRequests } from './work-requests.ts';
import { isEnded, needsDelivered } from './work-status.ts';

type BoardPart = Pick<Board, 'accounts' | 'facts' | 'switches' | 'lockedOut' | 'tasks'>;
/** A scope that `squad switch` takes, of members who can work nowhere. */
interface Stuck {
  readonly scope: string;
  /** Members that do the work of the scope. */
  readonly members: readonly Member[];
}

const QUESTION = new RegExp(`^engine/(${LOCK_OUT_KINDS.join('|')})/(.+)$`, 's');

/** One question for each account and kind of problem, for all tasks that wait for it. */
function lockOutQuestion(kind: LockOutKind, account: string): string {
  return `engine/${kind}/${account}`;
}

/** The kind and account in such a question; undefined if the question is about something else. */
export function lockOutAskedAbout(question: string): Pick<LockOut, 'kind' | 'account'> | undefined {
  const [, found, account] = QUESTION.exec(question) ?? [];
  const kind = LOCK_OUT_KINDS.find((one) => one === found);
  return kind === undefined || account === undefined ? undefined : { kind, account };
}

/**
 * One question for each lock-out that keeps someone from all work that is due. Its text names everyone affected, and the command in it
 * helps all of them.
 */
export function lockOutQuestions(board: BoardPart): Pick<Question, 'id' | 'text' | 'blocks'>[] {
  const locks = Map.groupBy(board.lockedOut.values(), ({ kind, account }) => lockOutQuestion(kind, account));
  const due = board.tasks.open.filter((state) => !isEnded(state) && needsDelivered(state, board));
  const stuck = stuckScopes(board);
  return [...locks].flatMap(([id, all]) => {
    const open = all.filter(({ givenUp }) => !givenUp);
    const [first] = open;
    const blocks = due.filter((state) => stuckAt(state, board).some((lock) => open.includes(lock)));
    if (first === undefined || blocks.length === 0) return [];
    return [{ id, text: textOf(first, open, stuck, board), blocks: blocks.map(({ task }) => task.id) }];
  });
}

/** Whether no one is left who could do what is due for the task: a person has given up on all that keeps them from it. */
export function isGivenUp(state: TaskState, board: BoardPart): boolean {
  return agentRequests(state.work).some(({ review, request }) => {
    if (request.state.at !== 'queued' && request.state.at !== 'waiting') return false;
    const members = keptFirst(eligible(state, review, board), request.thread?.agent);
    return members.length > 0 && members.every((one) => locksOf(board, one)?.every(({ givenUp }) => givenUp) === true);
  });
}

/** The lock-outs that keep someone from a turn of the task that is due. */
function stuckAt(state: TaskState, board: BoardPart): LockOut[] {
  return agentRequests(state.work).flatMap(({ review, request }) => {
    if (request.state.at !== 'queued' && request.state.at !== 'waiting') return [];
    const members = keptFirst(eligible(state, review, board), request.thread?.agent);
    return members.flatMap((member) => locksOf(board, member) ?? []);
  });
}

/** A session stays with its agent. */
function keptFirst(members: readonly Member[], agent: string | undefined): readonly Member[] {
  const kept = members.filter(({ name }) => name === agent);
  return kept.length > 0 ? kept : members;
}

/** Everyone who can work nowhere: agents, and tasks that the operator switched to another runtime. */
function stuckScopes(board: BoardPart): Stuck[] {
  const { facts, switches, tasks } = board;
  const agents = facts.roster.flatMap(({ name }): Stuck[] => {
    const members = membersFor(board, '', '').filter((one) => one.name === name && locksOf(board, one) !== undefined);
    return members.length === 0 ? [] : [{ scope: agentScope(name), members }];
  });
  const switched = tasks.open.flatMap((state): Stuck[] => {
    const scope = taskScope(state.task.id);
    if (!switches.has(scope) || isEnded(state)) return [];
    const members = eligible(state, null, board);
    return members.some((one) => locksOf(board, one) !== undefined) ? [{ scope, members }] : [];
  });
  return [...agents, ...switched];
}

function textOf(lock: LockOut, all: readonly LockOut[], stuck: readonly Stuck[], board: BoardPart): string {
  const { kind, account, why } = lock;
  const here = stuck.filter(({ members }) =>
    members.some((one) => locksOf(board, one)?.some((other) => all.includes(other)) === true),
  );
  const names = here.map(({ scope }) => scope.replace(/^agent\//, '').replace('/', ' ')).join(', ');
  const commands = here.some((one) => helperOf(one, board) !== undefined) ? switchCommands(stuck, board) : [];
  const whose = here.length === 1 ? 'its' : 'their';
  return [
    `${names} cannot work (${kind}): ${why.trim().replace(/[.!]+$/, '')}.`,
    `${repairOf(kind, board.facts.runtimes[account])}, then answer "try again".`,
    ...(commands.length === 0 ? [] : [`Or let another runtime do ${whose} work: ${commands.join(' and ')}.`]),
  ].join(' ');
}

function repairOf(kind: LockOutKind, runtime: DescribedRuntimes[string] | undefined): string {
  if (kind === 'billing') return 'Pay what is due';
  if (kind !== 'auth') return 'Repair that';
  return runtime?.login === undefined ? 'Log in' : `Log in with \`${runtime.login}\``;
}

/** One command for each runtime that helps: together they help everyone. */
function switchCommands(stuck: readonly Stuck[], board: BoardPart): string[] {
  const helped = stuck.flatMap((one) => {
    const runtime = helperOf(one, board);
    return runtime === undefined ? [] : [{ ...one, runtime }];
  });
  return [...Map.groupBy(helped, ({ runtime }) => runtime)].map(([runtime, scopes]) => {
    const options = scopes.map(({ scope }) => ` --${scope.replace('/', ' ')}`).join('');
    return `\`squad switch ${runtime}${options}\``;
  });
}

/** A runtime that has worked in this run, else one of the team, else one that is at its limit, else one that is registered. */
function helperOf({ members }: Stuck, { facts, accounts, lockedOut, tasks }: BoardPart): string | undefined {
  const worked = [...tasks.values()].flatMap(({ work }) => work.madeOn);
  const ready = [...worked, ...facts.roster.map(({ account }) => account), ...Object.values(facts.fallbacks ?? {})];
  const rest = Object.keys(facts.runtimes).filter((name) => facts.runtimes[name]?.onlyByName !== true);
  return [...ready.filter((name) => !accounts.has(name)), ...ready, ...rest].find((name) =>
    members.every((one) => lockOn({ lockedOut }, one.name, name) === undefined && one.account !== name),
  );
}

/** The new lock-out. */
export function lockOutOf({ kind, account, agent, why }: Omit<LockOut, 'givenUp'>) {
  return { of: isOfAgent(kind) ? agent : null, lock: { kind, account, agent, why, givenUp: false } };
}
