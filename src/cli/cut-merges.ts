import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../model/errors.ts';
import { commonDirectoryAt } from '../substrate/git/plain-checkout.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';

/** Commands that show or use a checkout in which a merge may be unfinished. */
const NOTED = new Set([
  'run',
  'resume',
  'status',
  'show',
  'diff',
  'runs',
  'clean',
  'report',
  'doctor',
  'retry',
  'fork',
]);

/** Tells a person about merges that were cut short here, whatever else the command is about. */
export async function noteCutMerges(
  { host, output }: Pick<CommandContext, 'host' | 'output'>,
  command: string,
): Promise<void> {
  if (!NOTED.has(command)) return;
  const commonDirectory = commonDirectoryAt(host.workingDirectory);
  if (commonDirectory === undefined) return;
  for (const { run, root, isAtWork } of await findCutMerges(commonDirectory)) {
    if (!isAtWork) output.problem(`note: ${textOf(run, root)} \`squad merge ${run}\` finishes it.`);
  }
}

/** Throws `usage` where the work of a run, or of any, has to stay because a merge of it is not finished. */
export async function refuseCutMerge(commonDirectory: string, name?: string): Promise<void> {
  const cut = (await findCutMerges(commonDirectory)).find(({ run }) => name === undefined || run === name);
  if (cut === undefined) return;
  throw usageError(
    textOf(cut.run, cut.root).replace(/\.$/, ''),
    `Finish it first with \`squad merge ${cut.run}\` there. If you have undone it yourself, remove ${cut.folder}.`,
  );
}

function textOf(run: string, root: string): string {
  return `a merge of squad/${run} into ${plainLine(root, 300)} was cut short: git status shows its files as changes, and locks of git may be there.`;
}

/** Only where there is one is anything loaded. */
async function findCutMerges(commonDirectory: string) {
  const directories = [commonDirectory, ...linkedTo(commonDirectory)];
  if (!directories.some((directory) => existsSync(join(directory, 'squad-merge')))) return [];
  const { findJournals, journalFolder } = await import('../substrate/git/merge-journal.ts');
  const { isOwnerAlive } = await import('../substrate/system/process/owner.ts');
  return findJournals(directories).map(({ run, root, owner, directory }) => ({
    ...{ run, root, folder: journalFolder(directory) },
    isAtWork: owner !== null && isOwnerAlive(owner),
  }));
}

function linkedTo(commonDirectory: string): readonly string[] {
  const all = join(commonDirectory, 'worktrees');
  return existsSync(all) ? readdirSync(all).map((name) => join(all, name)) : [];
}
