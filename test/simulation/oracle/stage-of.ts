/** A later pass of a stage makes good what an earlier one found, or came to nothing with. */
export function stageOf(task: string, tasks: ReadonlySet<string>): string {
  const stage = task.replace(/-\d+$/, '');
  return tasks.has(stage) ? stage : task;
}
