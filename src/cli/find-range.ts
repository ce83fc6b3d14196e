import { workRangeOf } from '../view/work-range.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import { findCommit, type DiffRange } from '../substrate/git/show-diff.ts';
import type { OpenedTarget } from './find-target.ts';
import { attemptName } from '../model/attempt-id.ts';

/** The commits of the work; undefined: there never was any, or its commits are gone. */
export async function findRange(target: OpenedTarget): Promise<DiffRange | undefined> {
  const { reading, repository, composition, attempt } = target;
  const { git } = composition;
  const task = attempt?.taskId ?? target.task;
  const kept = task === undefined ? [] : await listKeptWork(git, repository.root, reading.row.name);
  const range = workRangeOf(reading, { task, attempt: attempt && attemptName(attempt) }, kept);
  if (range === undefined || (await findCommit(git, repository, range.from)) === undefined) return undefined;
  for (const name of range.to) {
    const to = await findCommit(git, repository, name);
    if (to !== undefined) return { from: range.from, to };
  }
  return undefined;
}
