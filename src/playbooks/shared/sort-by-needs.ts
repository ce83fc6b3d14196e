/**
 * Needs first, otherwise in the order given. Leaves out tasks in a circle and those that need them. Linear in tasks and needs.
 */
export function sortByNeeds<T extends { readonly id: string; readonly needs: readonly string[] }>(
  tasks: readonly T[],
): T[] {
  const missing = tasks.map(({ needs }) => new Set(needs).size);
  const waiting = new Map<string, number[]>();
  for (const [index, { needs }] of tasks.entries()) {
    for (const need of new Set(needs)) {
      const behind = waiting.get(need);
      if (behind === undefined) waiting.set(need, [index]);
      else behind.push(index);
    }
  }
  const sorted: T[] = [];
  let ready = tasks.flatMap((_task, index) => (missing[index] === 0 ? [index] : []));
  while (ready.length > 0) {
    const layer = ready.flatMap((index) => tasks[index] ?? []);
    for (const task of layer) sorted.push(task);
    ready = layer.flatMap(({ id }) => release(id, waiting, missing)).sort((a, b) => a - b);
  }
  return sorted;
}

/** Tasks that waited only for this one. */
function release(id: string, waiting: Map<string, number[]>, missing: number[]): number[] {
  const behind = waiting.get(id) ?? [];
  waiting.delete(id);
  for (const index of behind) missing[index] = (missing[index] ?? 0) - 1;
  return behind.filter((index) => missing[index] === 0);
}
