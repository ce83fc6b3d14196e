/** Needs first, otherwise in the order given. What is in a circle, or behind one, is left out. */
export function sortByNeeds<T extends { readonly id: string; readonly needs: readonly string[] }>(
  tasks: readonly T[],
): T[] {
  const sorted: T[] = [];
  const placed = new Set<string>();
  let left = [...tasks];
  for (;;) {
    const ready = left.filter((task) => task.needs.every((need) => placed.has(need)));
    if (ready.length === 0) return sorted;
    for (const task of ready) {
      sorted.push(task);
      placed.add(task.id);
    }
    left = left.filter((task) => !placed.has(task.id));
  }
}
