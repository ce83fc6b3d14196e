import type { Machine } from '../engine/machine.ts';
import { errorText, isSquadError } from '../model/errors.ts';
import { folderOf } from '../model/repositories.ts';
import type { PublishFacts, RunDefinition } from '../model/run.ts';
import { openCheckout } from '../substrate/git/repository.ts';
import { deleteRefs, dropRunBranch, findSquadRefs } from '../substrate/git/squad-refs.ts';
import { plainLine } from '../text/plain-text.ts';
import { branchLines } from './clean-run.ts';

interface OfRun {
  readonly name: string;
  readonly definition: Pick<RunDefinition, 'repositories'>;
  readonly published: Pick<PublishFacts, 'repositories'> | undefined;
}

/** `merged`: only branches whose work another branch there has. `all`: without a ref that keeps their work. */
type What = 'merged' | 'kept' | 'all';

/** Drops the branch of a run in its other repositories. One that is gone is left out. Returns lines for people. */
export async function dropElsewhere(
  git: Machine['git'],
  { name: run, definition, published }: OfRun,
  what: What,
): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, root, base } of definition.repositories?.others ?? []) {
    const got = published?.repositories?.find((one) => one.name === name);
    if (got?.changed !== true) continue;
    const of = { run, root, delivered: [got.head, base] };
    lines.push(...(await dropIn(git, of, what)).map((line) => `${line}  (${folderOf(name)}: ${plainLine(root, 300)})`));
  }
  return lines;
}

async function dropIn(
  git: Machine['git'],
  { run, root, delivered }: { readonly run: string; readonly root: string; readonly delivered: readonly string[] },
  what: What,
): Promise<string[]> {
  try {
    const checkout = await openCheckout(git, root);
    if (what === 'merged') {
      const { branches } = await findSquadRefs(git, checkout, [run]);
      const own = branches.find(({ ref }) => ref === `refs/heads/squad/${run}`);
      if (own === undefined) return [];
      if (own.stays === 'unmerged' || own.stays === 'checked-out')
        return branchLines(run, { type: 'kept', head: own.at, why: own.stays });
    }
    const lines = branchLines(run, await dropRunBranch(git, checkout, run, { keep: what === 'kept', delivered }));
    if (what !== 'all') return lines;
    const { work } = await findSquadRefs(git, checkout, [run]);
    const problem = await deleteRefs(
      git,
      checkout,
      work.filter(({ ref }) => ref.startsWith(`refs/squad/${run}/`)),
    );
    return problem === undefined ? lines : [...lines, `kept      ${plainLine(problem, 300)}`];
  } catch (error) {
    if (!isSquadError(error)) throw error;
    return [`kept      branch squad/${run}: ${plainLine(errorText(error), 300)}`];
  }
}
