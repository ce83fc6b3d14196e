import type { Board } from '../../model/plan/board.ts';
import type { AgentRequest } from '../../model/plan/work.ts';
import { moveClock, type Moment } from './board.ts';
import { mapRequests } from './work-requests.ts';

/**
 * The board after the machine's clock was set back by some ms: every wait ends earlier by that much. If a runtime announced a usage
 * limit's reset as a time of day, one turn tries it too early, which costs nothing.
 */
export function setClockBack(board: Board, ms: number, moment: Moment): Board {
  const tasks = board.tasks.open.reduce((all, state) => {
    const work = mapRequests(state.work, (request) => earlier(request, ms));
    return all.with({ ...state, work });
  }, board.tasks);
  const accounts = new Map(
    [...board.accounts].map(([account, limited]) => [account, { ...limited, until: limited.until - ms }]),
  );
  const timers = new Map([...board.timers].map(([id, at]) => [id, at - ms]));
  const questions = new Map(
    [...board.questions].map(([id, question]) => {
      const { default: otherwise } = question;
      return [id, otherwise === null ? question : { ...question, default: { ...otherwise, at: otherwise.at - ms } }];
    }),
  );
  return moveClock({ ...board, tasks, accounts, timers, questions }, moment);
}

function earlier(request: AgentRequest, ms: number): AgentRequest {
  const { state } = request;
  return state.at === 'waiting' ? { ...request, state: { ...state, until: state.until - ms } } : request;
}
