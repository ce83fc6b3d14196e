/** Scopes of an operator's command: `run`, `agent/<name>` or `task/<id>`. */
export const WHOLE_RUN = 'run';

export function agentScope(name: string): string {
  return `agent/${name}`;
}

export function taskScope(id: string): string {
  return `task/${id}`;
}
