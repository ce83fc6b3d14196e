import { Command, Send } from '@langchain/langgraph';
import { failpoint } from '../../substrate/system/failpoint.ts';
import type { SquadStateValue, SquadStateUpdate } from '../state.ts';
import type { NodeContext } from './node-context.ts';

/** Sends each claimed attempt to `run_agent_attempt`; without one, goes straight to `collect`. */
export function routeFrontier(state: SquadStateValue): Command {
  failpoint('graph.routed');
  if (state.starts.length === 0) return new Command({ goto: 'collect' });
  return new Command({ goto: state.starts.map((attemptId) => new Send('run_agent_attempt', { attemptId })) });
}

/** Records one claimed attempt as in flight. `collect` starts it, as it does after a crash. */
export function createRunAgentAttempt({ ports }: NodeContext) {
  return ({ attemptId }: { attemptId: string }): SquadStateUpdate => {
    return { inflight: { [attemptId]: ports.ledger.attempt(attemptId)?.taskId ?? '' } };
  };
}
