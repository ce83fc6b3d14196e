import { openMachine } from '../../engine/machine.ts';
import { usageError, wrongEnvironment } from '../../model/errors.ts';
import { adoptState } from '../../squad/adopt-state.ts';
import { lookIn, openWorkspace } from '../../squad/open-workspace.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { treeSize } from '../../substrate/system/files/tree-size.ts';
import { findLostStates, type LostState } from '../../substrate/git/known-checkouts.ts';
import { refuseBusy } from '../../substrate/ledger/workspace-lock.ts';
import { byteCount } from '../../text/byte-count.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { agreesToRemove } from '../consent.ts';
import { printResult } from '../output.ts';

/** Shows where squad keeps the state of this repository, takes one over, or removes that of a repository that is gone. */
export async function state(context: CommandContext, options: Options<'state'>): Promise<void> {
  if (options.adopt !== undefined && options.forget !== undefined) {
    throw usageError('--adopt and --forget cannot be given together', 'Give one of them.');
  }
  if (options.adopt !== undefined) return adopt(context, options.adopt, options);
  if (options.forget !== undefined) return forget(context, options.forget, options);
  const { host, output } = context;
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  const { state: found, directory } = workspace;
  const runs = lookIn(workspace, (ledger) => ledger.runs().length) ?? 0;
  const bytes = found.type === 'known' ? await treeSize(directory) : null;
  const gone = await withSizes(await findGone(host.stateDirectory, directory));
  const about = {
    id: found.type === 'known' ? found.id : null,
    directory: found.type === 'known' ? directory : null,
    why: found.type === 'known' ? null : found.why,
    stateDirectory: host.stateDirectory,
    ...{ runs, bytes, gone },
  };
  printResult(output, options, { type: 'state', ...about }, [
    found.type === 'known'
      ? `${plainLine(directory)}  ${counted(runs, 'run')}, ${byteCount(bytes ?? 0)}`
      : WHY[found.why](found.why === 'copy' ? found.of : ''),
    ...gone.map(goneLine),
  ]);
}

const WHY: Readonly<Record<'no-id' | 'unknown' | 'copy', (of: string) => string>> = {
  'no-id': () => 'squad has not run in this repository yet',
  unknown: () =>
    'squad has run in this repository with another state folder. Take that over with `squad state --adopt FOLDER`',
  copy: (of) => `this is a copy of the repository at ${plainLine(of, 300)}, which has the runs`,
};

type Gone = LostState & { readonly bytes: number };

async function withSizes(lost: readonly LostState[]): Promise<Gone[]> {
  return Promise.all(lost.map(async (one) => ({ ...one, bytes: await treeSize(one.directory) })));
}

/** One line about the state of a repository that is not where it was. */
function goneLine({ id, from, bytes }: Gone): string {
  return `gone  ${plainLine(from, 300)}: its state has ${byteCount(bytes)}. If it was not moved, remove it: squad state --forget ${id}`;
}

/** `here`: the state of this repository, which may have been moved since it was last used. */
async function findGone(stateDirectory: string, here: string): Promise<LostState[]> {
  return (await findLostStates(stateDirectory)).filter(({ directory }) => directory !== here);
}

/** Printed by `squad clean`, which removes none of them. */
export async function goneLines(stateDirectory: string, here: string): Promise<string[]> {
  return (await withSizes(await findGone(stateDirectory, here))).map(goneLine);
}

async function adopt(context: CommandContext, folder: string, options: Options<'state'>): Promise<void> {
  const adopted = await adoptState(context, folder);
  printResult(context.output, options, { type: 'state-adopted', ...adopted }, [
    `took over ${counted(adopted.runs.length, 'run')} from ${plainLine(adopted.from, 300)}: ${adopted.runs.join(', ')}`,
    'squad asks for your consent again before it starts a command of theirs.',
    ...(adopted.from === adopted.directory
      ? []
      : [
          `${plainLine(adopted.from, 300)} is as it was. To remove it: rm -r ${shellWord(plainLine(adopted.from, Infinity))}`,
        ]),
  ]);
}

async function forget({ host, output }: CommandContext, id: string, options: Options<'state'>): Promise<void> {
  const lost = (await findLostStates(host.stateDirectory)).find((one) => one.id === id);
  if (lost === undefined) {
    throw usageError(
      `${plainLine(id, 80)} is no state of a repository that is gone`,
      'List those with `squad state`. In a repository that is there, use `squad drop` and `squad clean`.',
    );
  }
  const { directory, from } = lost;
  refuseBusy(directory);
  const consent = {
    about: 'removing a state',
    next: `squad state --forget ${id} --yes`,
    question: `Remove ${plainLine(directory)}, the record and the folders of all runs in ${plainLine(from, 300)}?`,
  };
  if (!(await agreesToRemove(options, consent))) return output.problem('squad: nothing was removed');
  const problem = await deleteFolder(directory);
  if (problem !== undefined)
    throw wrongEnvironment(
      `${plainLine(directory)} cannot be removed: ${problem}`,
      `Remove it yourself: rm -r ${shellWord(directory)}`,
    );
  printResult(output, options, { type: 'state-forgotten', id, directory, from }, [`removed  ${plainLine(directory)}`]);
}
