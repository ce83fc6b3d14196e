import { join } from 'node:path';
import { readPlain } from '../system/files/read-plain.ts';
import { isCommitId, requireName } from './git-call.ts';
import { runBranch, userCall, type GitContext } from './git-context.ts';

/** Reads the ref's file, which is faster, and asks git only if the ref is packed. */
export async function headOf(context: GitContext, run: string): Promise<string | undefined> {
  const ref = runBranch(requireName(run));
  const text = await readPlain(join(context.commonDirectory, ref)).catch(() => '');
  if (isCommitId(text.trimEnd())) return text.trimEnd();
  return context.talk.find(`${ref}^{commit}`);
}

/** The user's checkout whose HEAD is the run branch. */
export async function checkoutOf(context: GitContext, run: string): Promise<string | undefined> {
  const args = ['for-each-ref', '--format=%(worktreepath)', runBranch(requireName(run))];
  const path = await context.git.text(args, userCall(context));
  return path === '' ? undefined : path;
}
