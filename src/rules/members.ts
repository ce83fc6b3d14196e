import type { Board, Member, Switch, TaskState } from '../model/plan/board.ts';
import { agentScope, taskScope } from '../model/plan/scope.ts';
import type { Work } from '../model/plan/work.ts';

interface About {
  readonly agent: string;
  readonly task: string;
  readonly review: string | null;
}

/** The operator's switch of the runtime for this task's author, or for everything that the agent does. */
function switchOf({ switches }: Pick<Board, 'switches'>, about: About): Switch | undefined {
  const own = about.review === null ? switches.get(taskScope(about.task)) : undefined;
  return own ?? switches.get(agentScope(about.agent));
}

/** The runtime and model of a turn that are not the agent's own: by a switch, or because another account stands in. */
export function otherRuntime(
  board: Pick<Board, 'switches'>,
  start: About & { readonly account: string; readonly insteadOf?: string },
): Pick<Switch, 'runtime' | 'model'> | undefined {
  return start.insteadOf === undefined ? switchOf(board, start) : { runtime: start.account, model: null };
}

/** The roster for one request. A switched member shares the limit of its new runtime. */
export function membersFor(
  board: Pick<Board, 'facts' | 'switches'>,
  task: string,
  review: string | null,
): readonly Member[] {
  if (board.switches.size === 0) return board.facts.roster;
  return board.facts.roster.map((member) => {
    const other = switchOf(board, { agent: member.name, task, review });
    return other === undefined ? member : { ...member, account: other.runtime };
  });
}

/** Who may do it: for a review, everyone with the role who is no author, or who judges in place of one of these. */
export function eligible(
  { task, work }: TaskState,
  review: string | null,
  board: Pick<Board, 'facts' | 'switches'>,
): Member[] {
  const roster = membersFor(board, task.id, review);
  if (review !== null) {
    const slots = work.phase.at === 'reviewing' ? work.phase.slots : [];
    const instead = slots.find(({ role }) => role === review)?.instead;
    if (instead !== undefined) return roster.filter(({ name }) => name === instead && !work.authors.includes(name));
    const taken = slots.flatMap((one) => one.instead ?? []);
    const barred = [...barredFrom(work, review), ...taken];
    return roster.filter(({ name, role }) => role === review && !barred.includes(name));
  }
  return roster.filter((member) => (task.agent === undefined ? member.role === task.role : member.name === task.agent));
}

/** Its authors, and reviewers whose answers about this commit were unusable. */
export function barredFrom({ authors, phase }: Work, review: string): readonly string[] {
  const slots = phase.at === 'reviewing' ? phase.slots : [];
  return [...authors, ...slots.flatMap(({ role, tried }) => (role === review ? tried : []))];
}
