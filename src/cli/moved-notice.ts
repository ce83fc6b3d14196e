import { openMachine } from '../engine/machine.ts';
import { movedError, type MovedMark } from '../model/moved-mark.ts';
import { openWorkspace } from '../squad/open-workspace.ts';
import { readMark } from '../substrate/ledger/moved-mark.ts';
import type { CommandContext } from './command-context.ts';

/** Where the runs are that this repository only has a copy of. undefined: they are here. */
export async function movedNotice({
  host,
}: Pick<CommandContext, 'host'>): Promise<
  { readonly about: Pick<MovedMark, 'at' | 'other'> & { readonly state: string }; readonly lines: string[] } | undefined
> {
  const { directory, state } = await openWorkspace({ host, composition: openMachine(host) });
  const mark = state.type === 'known' ? readMark(directory) : undefined;
  const error = mark && movedError(mark);
  if (mark === undefined || error === undefined) return undefined;
  const { type, at, other } = mark;
  return {
    about: { state: type, at, other },
    lines: [`moved  ${error.message}. What follows is as it was then.`, `       ${error.next ?? ''}`],
  };
}
