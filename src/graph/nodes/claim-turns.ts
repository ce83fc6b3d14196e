import type { Caps } from '../../model/spending.ts';
import type { Board } from '../../model/plan/board.ts';
import type { Decision } from '../../substrate/ports/ledger.ts';
import { otherRuntime } from '../../rules/members.ts';
import { ledgerSessionKey } from '../plan-book.ts';
import { planAttemptId } from '../ports.ts';
import { promptMail } from '../read-mail.ts';
import { renderOrder, type TurnStart } from '../../rules/prompts/render-order.ts';
import type { NodeContext } from './node-context.ts';

/** The claims of the turns that start, each with its whole order and its mail. */
export function claimTurns({ ports, book }: NodeContext, board: Board, turns: readonly TurnStart[]): Decision[] {
  const { definition, playbook, limits, ledger, lease } = ports;
  const { turns: most, usd, tokens } = limits;
  const { agents, task: ofTask } = capsOf(ports);
  const taken = new Set<string>();
  return turns.flatMap((start): Decision[] => {
    const id = planAttemptId(ports, start.attempt);
    const agent = definition.agents.find(({ name }) => name === start.agent);
    const runtime = otherRuntime(board, start)?.runtime ?? agent?.runtime ?? '';
    const session = book.session(start.session.key);
    // Mail of its task may have been read in another session or by another turn.
    const knows = start.prompt.why !== 'start' && start.session.resume && session?.runtime === runtime;
    const { messages, handed } = promptMail(ledger.mail, { runId: lease.runId, board, start, knows, taken });
    const order = renderOrder(start, id, { board, definition, playbook, session, messages });
    const sessionKey = ledgerSessionKey(definition.name, start.session.key);
    const { task: taskId } = start;
    const attempt = {
      id,
      taskId,
      kind: 'turn' as const,
      agent: start.agent,
      runtime,
      sessionKey,
      request: JSON.stringify(order),
    };
    const ofAgent = agents.get(start.agent);
    const caps = {
      turns: most,
      usd,
      tokens,
      ...(ofAgent === undefined ? {} : { agent: ofAgent }),
      ...(ofTask === undefined || board.tasks.get(taskId)?.work.uncapped === true ? {} : { task: ofTask }),
    };
    const claim: Decision = { do: 'claim-attempt', attempt, limits: caps };
    return handed.length === 0 ? [claim] : [claim, { do: 'hand-mail', attemptId: id, mail: handed }];
  });
}

/** The limits of agents and of tasks. */
export function capsOf({ definition, limits }: NodeContext['ports']) {
  const agents = definition.agents.flatMap(({ name, limits: own }): [string, Caps][] =>
    own === undefined ? [] : [[name, own]],
  );
  return { agents: new Map(agents), task: limits.task };
}
