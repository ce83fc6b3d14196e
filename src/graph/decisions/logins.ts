import type { FailureKind } from '../../model/failure.ts';
import type { Board, Member } from '../../model/plan/board.ts';
import type { WorkEffect } from '../../model/plan/effect.ts';
import type { DescribedRuntimes } from '../../model/runtime-description.ts';
import { membersFor } from './members.ts';

type LockOut = Extract<WorkEffect, { effect: 'lock-out' }>;
type BoardPart = Pick<Board, 'facts' | 'switches' | 'lockedOut' | 'tasks'>;

const LOGIN_QUESTION = /^engine\/(?:auth|billing)\/(.+)$/s;

/** One question for each account, for all tasks that wait for it. */
export function loginQuestion(kind: FailureKind, account: string): string {
  return `engine/${kind}/${account}`;
}

/** The account in a login question; undefined if the question is about something else. */
export function accountAskedAbout(question: string): string | undefined {
  return LOGIN_QUESTION.exec(question)?.[1];
}

/** The question to the account's owner, with the commands that help. */
export function lockOutText(
  { facts: { roster, runtimes } }: Pick<Board, 'facts'>,
  { account, agent, kind, why }: LockOut,
): string {
  const command = runtimes[account]?.login;
  const repair = kind === 'auth' ? `Log in${command === undefined ? '' : ` with \`${command}\``}` : 'Pay what is due';
  const member = roster.find(({ name }) => name === agent);
  const fallback = roster.find(({ name, account: other }) => name === member?.fallback && other !== account);
  const other = otherRuntime(roster, account, runtimes);
  return [
    `${agent} cannot work (${kind}): ${why.trim().replace(/[.!]+$/, '')}.`,
    ...(fallback === undefined ? [] : [`Until then ${fallback.name} does its work.`]),
    `${repair}, then answer "try again".`,
    ...(other === undefined ? [] : [`Or let another runtime do its work: \`squad switch ${other} --agent ${agent}\`.`]),
  ].join(' ');
}

function otherRuntime(roster: readonly Member[], account: string, runtimes: DescribedRuntimes): string | undefined {
  const others = Object.keys(runtimes).filter((name) => runtimes[name]?.onlyByName !== true);
  return [...roster.map((member) => member.account), ...others].find((name) => name !== account);
}

/** Whether a queued turn of the task needs this account: its agent has no stand-in, or the stand-in is locked out too. */
export function isStuckAt(board: BoardPart, task: string, account: string): boolean {
  const work = board.tasks.get(task)?.work;
  const request = work?.phase.at === 'working' ? work.author : undefined;
  const reviewers = work?.phase.at === 'reviewing' ? work.phase.slots.map((slot) => slot.request) : [];
  return [...(request === undefined ? [] : [request]), ...reviewers].some(({ state, thread }) => {
    if (state.at !== 'queued' && state.at !== 'waiting') return false;
    const roster = membersFor(board, task, request === undefined ? '' : null);
    const member = roster.find(({ name }) => name === thread?.agent);
    const standIn = roster.find(({ name }) => name === member?.fallback);
    return member?.account === account && (standIn === undefined || board.lockedOut.has(standIn.account));
  });
}
