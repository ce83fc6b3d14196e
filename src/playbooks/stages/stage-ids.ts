import type { NewTask } from '../../model/plan/task.ts';
import { LONGEST_SLUG, numbered } from '../../model/slug.ts';
import type { Scene, StageProgress } from './stage-progress.ts';

/** The wanted id of a task, or one like it that no other task has. */
export function freeId({ task }: Pick<Scene, 'task'>, wanted: string, taken: ReadonlySet<string>): string {
  const stem = wanted.replace(/-\d+$/, '');
  const first = Number(/-(\d+)$/.exec(wanted)?.[1] ?? 1);
  const isFree = (id: string): boolean => task(id) === undefined && !taken.has(id);
  const plain = wanted.slice(0, LONGEST_SLUG);
  if (isFree(plain)) return plain;
  for (let number = first + 1; ; number += 1) {
    const id = numbered(stem, number);
    if (isFree(id)) return id;
  }
}

/** A stage that runs again continues the session that it had, unless it wants a new one. */
export function sessionFor(
  progress: readonly StageProgress[],
  { stage, all }: StageProgress,
  { entry, role }: { readonly entry?: string; readonly role?: string },
  taskOf: (stage: string) => string | undefined = (id) => lastTask(progress, id, entry),
): NewTask['session'] {
  const before = all.findLast((one) => one.entry === entry && one.role === role && one.as !== 'nothing');
  const { session } = stage;
  if (before !== undefined && session === undefined) return { of: before.state.id };
  if (session === 'role' || session === 'thread') return 'agent';
  if (session === undefined || session === 'new') return 'new';
  const other = taskOf(session.of);
  return other === undefined ? 'new' : { of: other };
}

/** The task of a stage that came last, of the entry if it has one for each. */
export function lastTask(progress: readonly StageProgress[], stage: string, entry?: string): string | undefined {
  const all = progress.find((one) => one.stage.id === stage)?.all;
  return all?.findLast((one) => one.entry === undefined || one.entry === entry)?.state.id;
}
