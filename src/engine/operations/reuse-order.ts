import { pathsOf } from '../../model/setup-step.ts';
import { sha256Of } from '../../model/sha256.ts';
import { defined } from '../../text/defined.ts';
import type { MadeOrder } from '../../substrate/ports/made.ts';
import type { TaskFolder } from '../../substrate/ports/workspaces.ts';
import type { OperationPorts } from './operation-ports.ts';

type Reuse =
  | { readonly type: 'order'; readonly order: MadeOrder }
  /** Why the command runs as if it named nothing. */
  | { readonly type: 'none'; readonly why: string };

/**
 * Names the folders that a command of `setup` makes at a commit by all on which they depend. Those that a commit of an agent changed count
 * for that commit alone, because its install scripts may have written them.
 */
export async function reuseOrder(
  ports: OperationPorts,
  folder: TaskFolder,
  { index, commit, isProven }: { readonly index: number; readonly commit: string; readonly isProven: boolean },
): Promise<Reuse | undefined> {
  const { definition, workspaces } = ports;
  const step = definition.setup[index];
  if (step?.reuse === undefined || ports.programsOf === undefined) return undefined;
  const paths = pathsOf(step.reuse);
  const names = { when: pathsOf(step.when), reuse: paths };
  const { base } = definition.repository;
  const here = await workspaces.namedAt(commit, names);
  if (here.tracked !== undefined) return { type: 'none', why: `git tracks ${here.tracked} at ${commit.slice(0, 12)}` };
  const atBase = commit === base ? here : await workspaces.namedAt(base, names);
  const made = {
    // A command may read what the ones before it have made.
    runs: definition.setup.slice(0, index + 1).map(({ run, env = [] }) => [run, ...env]),
    paths,
    env: definition.env ?? [],
    programs: await ports.programsOf(step.run),
    // A command may make less where a part of the repository is missing. Folders of the engine, `_…`, have all of it.
    ...(folder.task.startsWith('_') ? {} : defined({ sparse: definition.sparse })),
  };
  const keyOf = (when: unknown): string => sha256Of(JSON.stringify(['squad-setup-1', made, when]));
  const key = keyOf(here.when);
  const isOfBase = key === keyOf(atBase.when);
  return {
    type: 'order',
    order: {
      key: isOfBase ? key : keyOf([here.when, here.all]),
      step: sha256Of(JSON.stringify([step.run, paths])).slice(0, 16),
      paths,
      isKept: folder.fresh === true && commit === folder.base && (commit === base || !isOfBase),
      isProven,
    },
  };
}
