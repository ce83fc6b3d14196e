import { Command, Send } from '@langchain/langgraph';
import { failpoint } from '../../substrate/failpoint.ts';
import type { SquadStateValue, SquadStateUpdate } from '../state.ts';
import type { NodeContext } from './node-context.ts';

/** Sends each attempt that was claimed on its way; goes straight to waiting where there is none. */
export function routeFrontier(state: SquadStateValue): Command {
  failpoint('graph.routed');
  if (state.starts.length === 0) return new Command({ goto: 'collect' });
  return new Command({ goto: state.starts.map((attemptId) => new Send('run_agent_attempt', { attemptId })) });
}

/** Ensures one attempt and returns at once: its settlement is an input like any other. */
export function createRunAgentAttempt({ ports }: NodeContext) {
  return ({ attemptId }: { attemptId: string }): SquadStateUpdate => {
    const attempt = ports.ledger.attempt(attemptId);
    ports.attempts.ensure(attemptId);
    return { inflight: { [attemptId]: attempt?.taskId ?? '' } };
  };
}
