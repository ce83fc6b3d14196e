import { SquadError } from '../model/errors.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/intervention.ts';
import type { ScopeOptions } from './command-context.ts';

/** The run, or the agent or task that is named. Throws `usage` where both are. */
export function scopeOf({ agent, task }: ScopeOptions): string {
  if (agent !== undefined && task !== undefined) {
    throw new SquadError({ code: 'usage', message: '--agent and --task cannot be given together', next: 'Name one.' });
  }
  if (agent !== undefined) return agentScope(agent);
  return task === undefined ? WHOLE_RUN : taskScope(task);
}
