/** Scopes of an operator's command: `run`, `agent/<name>` or `task/<id>`. */
export const WHOLE_RUN = 'run';

export function agentScope(name: string): string {
  return `agent/${name}`;
}

export function taskScope(id: string): string {
  return `task/${id}`;
}

/** For people: `agent/ada` → `agent ada`. */
export function scopeName(scope = WHOLE_RUN): string {
  return scope === WHOLE_RUN ? 'the run' : scope.replace('/', ' ');
}
