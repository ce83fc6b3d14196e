import type { Board, Member, Switch } from '../../model/plan/board.ts';
import { agentScope, taskScope } from '../../model/plan/scope.ts';

/** The operator's switch of the runtime for this task's author, or for everything that the agent does. */
export function switchOf(
  { switches }: Pick<Board, 'switches'>,
  about: { readonly agent: string; readonly task: string; readonly review: string | null },
): Switch | undefined {
  const own = about.review === null ? switches.get(taskScope(about.task)) : undefined;
  return own ?? switches.get(agentScope(about.agent));
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
