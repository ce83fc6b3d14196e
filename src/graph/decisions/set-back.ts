import type { AgentRequest } from '../../model/plan/work.ts';
import type { Draft } from './board.ts';
import { mapRequests } from './work-requests.ts';

/**
 * Applies a clock that was set back by some ms: every wait ends earlier by that much. A usage limit's reset that was announced
 * as a time of day may be tried too early by one turn, which costs nothing.
 */
export function moveWaits(draft: Draft, ms: number): void {
  for (const state of draft.tasks.open) {
    draft.tasks = draft.tasks.with({ ...state, work: mapRequests(state.work, (request) => earlier(request, ms)) });
  }
  draft.accounts = mapValues(draft.accounts, (account) => ({ ...account, until: account.until - ms }));
  draft.timers = mapValues(draft.timers, (at) => at - ms);
  draft.questions = mapValues(draft.questions, (question) => {
    const { default: byDefault } = question;
    return byDefault === null ? question : { ...question, default: { ...byDefault, at: byDefault.at - ms } };
  });
}

function earlier(request: AgentRequest, ms: number): AgentRequest {
  const { state } = request;
  return state.at === 'waiting' ? { ...request, state: { ...state, until: state.until - ms } } : request;
}

function mapValues<V>(map: ReadonlyMap<string, V>, change: (value: V) => V): ReadonlyMap<string, V> {
  return new Map([...map].map(([id, value]) => [id, change(value)]));
}
