import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findObject, gitFailed, requireName, type Git, type GitCall } from './git-call.ts';
import { attemptRef, userCall, type GitContext, type RunRepository } from './git-context.ts';
import { share } from './run-repository.ts';

/** Longer than any id. */
const MOST_CHARACTERS = 100;

/** The ref that says which run has a name in this repository. No attempt can have this name, because of the dot. */
export function claimRef(run: string): string {
  return attemptRef(requireName(run), 'owner.id');
}

/** The id of the run that claimed a name; undefined: none did. */
export async function claimedBy(git: Git, call: GitCall, run: string): Promise<string | undefined> {
  const ref = claimRef(run);
  if ((await findObject(git, call, `${ref}^{blob}`)) === undefined) return undefined;
  return (await git.text(['cat-file', 'blob', ref], call)).slice(0, MOST_CHARACTERS);
}

/** Makes the claim and the branch in one transaction. false: one of them is there by now. */
export async function claimWithBranch(
  context: GitContext,
  repository: RunRepository,
  { run, owner, branch, base }: { run: string; owner: string; branch: string; base: string },
): Promise<boolean> {
  const ref = claimRef(run);
  const note = join(context.temporary, `owner-${randomUUID()}`);
  try {
    await writeFile(note, owner, { flag: 'wx', mode: 0o600 });
    const blob = await context.git.text(['hash-object', '-w', '--no-filters', '--', note], repository.call);
    await share(context, repository);
    const made = await context.talk.create([
      [ref, blob],
      [branch, base],
    ]);
    if (made) return true;
    const isThere = async (name: string) => (await context.talk.find(name)) !== undefined;
    // A conversation that broke off may have made it all the same, and no other run has this id.
    if (await isThere(ref)) return (await claimedBy(context.git, userCall(context), run)) === owner;
    if (await isThere(branch)) return false;
    // Neither is there: git says what it has against one of them.
    let answer = await context.talk.move(ref, blob, '');
    if (answer.code === 0) {
      await context.talk.move(ref, null, blob);
      answer = await context.talk.move(branch, base, '');
      if (answer.code === 0) await context.talk.move(branch, null, base);
    }
    throw gitFailed(['update-ref'], answer);
  } finally {
    await rm(note, { force: true });
  }
}
