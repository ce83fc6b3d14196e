import type { Board } from '../../model/plan/board.ts';
import type { AgentRequest, Work } from '../../model/plan/work.ts';
import { agentRequests } from '../decisions/work-requests.ts';

/** An request that is live, as the board tells it. */
export interface LiveRequest {
  readonly task: string;
  readonly attempt: string;
  readonly review: string | null;
  readonly request: AgentRequest;
  readonly state: Extract<AgentRequest['state'], { at: 'live' }>;
  readonly work: Work;
}

export function liveRequests(board: Board): LiveRequest[] {
  const live: LiveRequest[] = [];
  for (const { task, work } of board.tasks.open) {
    for (const { review, request } of agentRequests(work)) {
      const { state } = request;
      if (state.at === 'live') live.push({ task: task.id, attempt: state.attempt, review, request, state, work });
    }
  }
  return live;
}

/** Attempts that the plan wants stopped, with the reason. */
export function unwantedAttempts(board: Board): { attempt: string; why: string }[] {
  const stopped = liveRequests(board)
    .filter(({ state }) => state.stop !== null)
    .map(({ attempt, state }) => ({ attempt, why: state.stall ?? 'no sign of work' }));
  const leaving = board.tasks.open
    .filter(({ work }) => work.leaving.length > 0)
    .flatMap(({ work }) =>
      work.leaving.map(({ attempt }) => ({
        attempt,
        why: work.phase.at === 'stopping' ? work.phase.why : 'it is not needed any more',
      })),
    );
  return [...stopped, ...leaving];
}
