/** A task as a cascade sees it. `touched`: it had a turn, or a person decided on it. */
export interface CascadeTask {
  readonly id: string;
  readonly needs: readonly string[];
  readonly status: string;
  readonly touched: boolean;
}

/** Tasks that were cancelled untouched because a task that they need was not done: by that task's id, in the order given. */
export function cascadesOf(tasks: readonly CascadeTask[]): ReadonlyMap<string, readonly string[]> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const causes = new Map<string, string | undefined>();
  const causeOf = (task: CascadeTask): string | undefined => {
    if (task.status !== 'cancelled' || task.touched) return undefined;
    if (!causes.has(task.id)) causes.set(task.id, firstCause(task));
    return causes.get(task.id);
  };
  const firstCause = ({ needs }: CascadeTask): string | undefined => {
    const missing = needs.flatMap((need) => byId.get(need) ?? []).filter(({ status }) => NOT_DONE.has(status));
    const [first] = missing;
    return first && (causeOf(first) ?? first.id);
  };
  const found = new Map<string, string[]>();
  for (const task of tasks) {
    const cause = causeOf(task);
    if (cause !== undefined) found.set(cause, [...(found.get(cause) ?? []), task.id]);
  }
  return found;
}

const NOT_DONE = new Set(['failed', 'cancelled']);

/** Said after the task that they need. */
export function cascadeText(count: number, of = 'task'): string {
  return count === 1 ? `1 ${of} that needs it was cancelled` : `${count} ${of}s that need it were cancelled`;
}
