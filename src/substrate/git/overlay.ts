import { rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { OverlayOrder } from '../ports/changes.ts';
import { requireCommitId } from './git-call.ts';
import type { GitContext } from './git-context.ts';
import { openRun } from './open-run.ts';
import { NOT_THERE, readRawDiff } from './raw-diff.ts';

const DATE = '1970-01-01T00:00:00Z';

/** A commit on top of `onto` with some of its files as `from` has them. The same order always makes the same commit. */
export async function overlay(context: GitContext, run: string, order: OverlayOrder): Promise<string> {
  const [onto, from] = [requireCommitId(order.onto), requireCommitId(order.from)];
  const { git, temporary } = context;
  const { call } = await openRun(context, run);
  const [index, input] = [join(temporary, `overlay-${randomUUID()}`), join(temporary, `entries-${randomUUID()}`)];
  const own = { ...call, index };
  const different = new Map((await readRawDiff(context, call, onto, from)).map((one) => [one.path, one]));
  try {
    await git.text(['read-tree', onto], own);
    const lines: string[] = [];
    for (const [path, text] of order.files) {
      const change = different.get(path);
      if (change === undefined) continue;
      if (text === null) {
        const isGone = change.newMode === NOT_THERE;
        lines.push(
          `${isGone ? '0' : change.newMode} ${isGone ? '0'.repeat(onto.length) : change.newObject}\t${path}\0`,
        );
        continue;
      }
      await writeFile(input, text);
      const object = await git.text(['hash-object', '-w', '--stdin'], { ...call, input });
      lines.push(`${change.oldMode} ${object}\t${path}\0`);
    }
    await writeFile(input, lines.join(''));
    await git.text(['update-index', '-z', '--index-info'], { ...own, input });
    const tree = await git.text(['write-tree'], own);
    const environment = { ...call.environment, GIT_AUTHOR_DATE: DATE, GIT_COMMITTER_DATE: DATE };
    const message = 'The work with its checks as they were';
    return await git.text(['commit-tree', tree, '-p', onto, '-m', message], { ...call, environment });
  } finally {
    await Promise.all([index, input].map(async (path) => rm(path, { force: true })));
  }
}
