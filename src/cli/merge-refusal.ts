import { usageError, wrongEnvironment, type SquadError } from '../model/errors.ts';
import { CHECK_GIT } from '../substrate/git/git-call.ts';
import type { MergeAnswer } from '../substrate/git/merge-order.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/** A merge of a run into a branch. */
interface RefusedMerge {
  readonly branch: string;
  readonly root: string;
  readonly run: string;
  /** The command that a person gave. */
  readonly again: string;
  readonly isCheckedOut: boolean;
}

/** Files that a message names; the rest are counted. */
const MOST_FILES = 10;

/** Why nothing was merged, with the next command. */
export function mergeRefusal(
  answer: Exclude<MergeAnswer, { type: 'merged' | 'already' }>,
  { branch, root, run, again, isCheckedOut }: RefusedMerge,
  isInFolder: (path: string) => boolean,
): SquadError {
  const there = `git -C ${shellWord(root)}`;
  const byGit = `\`${isCheckedOut ? '' : `${there} switch ${shellWord(branch)} && `}${there} merge squad/${run}\``;
  switch (answer.type) {
    case 'conflict':
      return usageError(
        `squad/${run} and ${branch} change the same lines in ${named(answer.files)}; nothing was changed`,
        `Merge and resolve them yourself: ${byGit}.`,
      );
    case 'dirty':
      return usageError(
        `the checkout has uncommitted changes in ${named(answer.files)}`,
        // A stash would take away what the folder counts as done.
        `${answer.files.some(isInFolder) ? 'Commit them' : 'Commit or stash them'}, then \`${again}\`.`,
      );
    case 'untracked':
      return usageError(
        `files that git does not know would be overwritten: ${named(answer.files)}`,
        `Move them away or commit them, then \`${again}\`.`,
      );
    case 'filtered':
      return usageError(
        `a filter of your git configuration has to write ${named(answer.files)}, and squad runs none`,
        `Merge with git, which runs it: ${byGit}.`,
      );
    case 'cut-short':
      return usageError(
        `an earlier merge of squad/${answer.run} was cut short, and left files in the checkout; nothing was changed`,
        `Finish that one first: \`squad merge ${answer.run}\`.`,
      );
    case 'busy':
      return usageError(
        `another operation of git is not finished in the checkout (${answer.with})`,
        'See `git status`, and finish or abort it.',
      );
    case 'unrelated':
      return usageError(
        `squad/${run} and ${branch} have no common history`,
        `Check out the branch that the run started from, then \`${again}\`.`,
      );
    case 'moved':
      return wrongEnvironment(`${branch} moved meanwhile; nothing was changed`, `Try again: \`${again}\`.`);
    case 'refused':
      return wrongEnvironment(
        `git cannot move ${branch}, and nothing was changed: ${answer.why || 'it ended without a reason'}`,
        `${CHECK_GIT} Then \`${again}\`.`,
      );
  }
}

function named(files: readonly string[]): string {
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  return `${files
    .slice(0, MOST_FILES)
    .map((path) => plainLine(path, 200))
    .join(', ')}${more}`;
}
