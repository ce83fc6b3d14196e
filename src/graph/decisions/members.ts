import type { Board, Member, Switch } from '../../model/plan/board.ts';
import { agentScope, taskScope } from '../../model/plan/intervention.ts';

/** What a person put in place of an agent's own runtime: for this task's author, or for all that the agent does. */
export function switchOf(
  { switches }: Pick<Board, 'switches'>,
  about: { readonly agent: string; readonly task: string; readonly review: string | null },
): Switch | undefined {
  const own = about.review === null ? switches.get(taskScope(about.task)) : undefined;
  return own ?? switches.get(agentScope(about.agent));
}

/** The roster as it counts for one request: who was switched shares the limit of the runtime that is used now. */
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
