/** In a session only code owes a change. */
export function owesNothing(playbook: string, task: string): boolean {
  return playbook === 'session' && /^(?:other|doc)-/.test(task);
}

/** Who builds, commits or tests a piece has its fate. */
export function pieceOf(task: string): string {
  return task.replace(/-(?:build|commit|test(?:-writer)?)$/, '');
}

/** A later pass of a stage makes good what an earlier one found, or came to nothing with. */
export function stageOf(task: string, tasks: ReadonlySet<string>): string {
  const stage = task.replace(/-\d+$/, '');
  return tasks.has(stage) ? stage : task;
}
