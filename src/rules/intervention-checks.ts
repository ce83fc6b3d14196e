import { assertNever } from '../model/assert-never.ts';
import type { Board } from '../model/plan/board.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/scope.ts';
import { noSuch } from '../model/unknown-name.ts';

/** As much of the board as a command is checked on. */
export type BoardPart = Pick<Board, 'tasks' | 'facts' | 'finished' | 'pauses' | 'notes'>;

export function refuseScope({ tasks, facts }: BoardPart, scope: string): string | undefined {
  if (scope === WHOLE_RUN) return undefined;
  if (scope.startsWith(agentScope(''))) {
    const known = facts.roster.map(({ name }) => name);
    const name = scope.slice(agentScope('').length);
    return known.includes(name) ? undefined : noSuch('agent', name, known);
  }
  return tasks.has(taskOf(scope)) ? undefined : noTask(tasks, taskOf(scope));
}

export function refuseWhenOver({ finished }: BoardPart): string | undefined {
  return finished === null ? undefined : `the run has finished: ${finished.why}`;
}

export function refuseWithoutDeadline({ facts }: BoardPart): string | undefined {
  return facts.objective.deadline === undefined ? 'its objective has no deadline' : undefined;
}

/** `from`: ends that the operator may still change. */
export function refuseEnd(
  { tasks }: BoardPart,
  id: string,
  from: readonly string[] = [],
  as?: string,
): string | undefined {
  const phase = tasks.get(id)?.work.phase;
  if (phase === undefined) return noTask(tasks, id);
  if (phase.at === 'advancing') return `${id} is being delivered`;
  if (phase.at === 'stopping') return `${id} is being stopped; try again in a moment`;
  if (phase.at !== 'ended') return undefined;
  if (phase.as === as) return `${id} is ${phase.as} already`;
  return from.includes(phase.as) ? undefined : `${id} is ${phase.as === 'done' ? 'delivered' : phase.as} already`;
}

/** The commit to deliver is not known yet. The task would count as done without its work. */
export function refuseBeforeLook({ tasks }: BoardPart, id: string): string | undefined {
  const state = tasks.get(id);
  if (state?.work.phase.at !== 'gathering' || !state.task.integrate) return undefined;
  return `the work of ${id} is being checked; try again in a moment`;
}

export function refuseRetry({ tasks }: BoardPart, id: string): string | undefined {
  const phase = tasks.get(id)?.work.phase;
  if (phase === undefined) return noTask(tasks, id);
  switch (phase.at) {
    case 'working':
    case 'reviewing':
      return undefined;
    case 'ended':
      return phase.as === 'done' ? `${id} is delivered; start a new run for more work` : undefined;
    case 'stopping':
      return `${id} is being stopped; try again in a moment`;
    case 'gathering':
    case 'in-queue':
    case 'integrating':
    case 'verifying':
    case 'advancing':
      return `${id} is being checked and delivered; try again when that is done`;
    default:
      return assertNever(phase);
  }
}

/** Authors of a task have its role. */
export function refuseAgent({ tasks, facts }: BoardPart, id: string, agent: string | undefined): string | undefined {
  const role = tasks.get(id)?.task.role;
  const able = facts.roster.filter((member) => member.role === role).map(({ name }) => name);
  if (agent === undefined || able.includes(agent)) return undefined;
  const known = facts.roster.map(({ name }) => name);
  if (!known.includes(agent)) return noSuch('agent', agent, known);
  return `${id} needs the role ${role ?? 'none'}, which ${agent} does not have: ${able.join(', ') || 'no agent has it'}`;
}

function noTask(tasks: BoardPart['tasks'], id: string): string {
  return noSuch('task', id, [...tasks.keys()]);
}

export function taskOf(scope: string): string {
  return scope.slice(taskScope('').length);
}
