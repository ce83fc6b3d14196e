import { assertNever } from '../model/assert-never.ts';
import type { Board } from '../model/plan/board.ts';
import type { Intervention } from '../model/plan/intervention.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/scope.ts';
import { noSuch } from '../model/unknown-name.ts';

type BoardPart = Pick<Board, 'tasks' | 'facts' | 'finished' | 'pauses'>;

/** Why an operator's command is refused as the run stands; undefined if it is not. */
export function refuseIntervention(board: BoardPart, intervention: Intervention): string | undefined {
  switch (intervention.verb) {
    case 'pause':
      return refuseScope(board, intervention.on) ?? refuseWhenOver(board);
    case 'resume':
      if (board.pauses.has(intervention.on)) return undefined;
      return refuseScope(board, intervention.on) ?? `${scopeName(intervention.on)} is not paused`;
    case 'past-deadline':
      return refuseWhenOver(board) ?? refuseWithoutDeadline(board);
    case 'drain':
    case 'stop':
      return refuseWhenOver(board);
    case 'cancel':
      if (intervention.on === WHOLE_RUN) return refuseWhenOver(board);
      return refuseScope(board, intervention.on) ?? refuseEnd(board, taskOf(intervention.on));
    case 'retry':
      return refuseRetry(board, intervention.task) ?? refuseAgent(board, intervention.task, intervention.agent);
    case 'skip':
      return refuseEnd(board, intervention.task, ['failed', 'cancelled']);
    case 'override':
      return (
        refuseEnd(board, intervention.task, ['failed', 'cancelled', 'skipped'], intervention.as) ??
        (intervention.as === 'failed' ? refuseWhenOver(board) : refuseBeforeLook(board, intervention.task))
      );
    case 'switch':
      return firstRefused([intervention.on, ...(intervention.also ?? [])], (on) =>
        on === WHOLE_RUN ? 'an agent or a task is switched, not the run' : refuseScope(board, on),
      );
    case 'reload':
      return undefined;
    default:
      return assertNever(intervention);
  }
}

function firstRefused(scopes: readonly string[], refuse: (scope: string) => string | undefined): string | undefined {
  return scopes.map(refuse).find((refused) => refused !== undefined);
}

function refuseScope({ tasks, facts }: BoardPart, scope: string): string | undefined {
  if (scope === WHOLE_RUN) return undefined;
  if (scope.startsWith(agentScope(''))) {
    const known = facts.roster.map(({ name }) => name);
    const name = scope.slice(agentScope('').length);
    return known.includes(name) ? undefined : noSuch('agent', name, known);
  }
  return tasks.has(taskOf(scope)) ? undefined : noTask(tasks, taskOf(scope));
}

function refuseWhenOver({ finished }: BoardPart): string | undefined {
  return finished === null ? undefined : `the run has finished: ${finished.why}`;
}

function refuseWithoutDeadline({ facts }: BoardPart): string | undefined {
  return facts.objective.deadline === undefined ? 'its objective has no deadline' : undefined;
}

/** `from`: ends that the operator may still change. */
function refuseEnd({ tasks }: BoardPart, id: string, from: readonly string[] = [], as?: string): string | undefined {
  const phase = tasks.get(id)?.work.phase;
  if (phase === undefined) return noTask(tasks, id);
  if (phase.at === 'advancing') return `${id} is being delivered`;
  if (phase.at === 'stopping') return `${id} is being stopped; try again in a moment`;
  if (phase.at !== 'ended') return undefined;
  if (phase.as === as) return `${id} is ${phase.as} already`;
  return from.includes(phase.as) ? undefined : `${id} is ${phase.as === 'done' ? 'delivered' : phase.as} already`;
}

/** The commit to deliver is not known yet. The task would count as done without its work. */
function refuseBeforeLook({ tasks }: BoardPart, id: string): string | undefined {
  const state = tasks.get(id);
  if (state?.work.phase.at !== 'gathering' || !state.task.integrate) return undefined;
  return `the work of ${id} is being checked; try again in a moment`;
}

function refuseRetry({ tasks }: BoardPart, id: string): string | undefined {
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
function refuseAgent({ tasks, facts }: BoardPart, id: string, agent: string | undefined): string | undefined {
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

function taskOf(scope: string): string {
  return scope.slice(taskScope('').length);
}

/** `agent/ada` → `agent ada`. */
function scopeName(scope: string): string {
  return scope.replace('/', ' ');
}
