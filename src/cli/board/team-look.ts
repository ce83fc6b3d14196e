import { OF_A_TEAM } from '../../model/playbook-name.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { followTeamOf } from '../../squad/team/team-of-run.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import type { CommandContext } from '../command-context.ts';

/** The team of a run that this process drives. A run of none costs nothing. */
export function createTeamLook(context: CommandContext) {
  let shown: (() => ShownTeam | undefined) | undefined;
  let ledger: Ledger | undefined;
  let isClosed = false;
  const close = (): void => {
    isClosed = true;
    shown = undefined;
    ledger?.close();
    ledger = undefined;
  };
  const read = async (of: { readonly run: string; readonly playbook: string }): Promise<void> => {
    const { directory, composition } = await openWorkspace(context);
    ledger = openLedger(directory, { clock: composition.clock, readOnly: true });
    shown = await followTeamOf(ledger, of);
    if (isClosed) close();
  };
  return {
    /** Never rejects: without the team, the rest of the run is there. */
    open: async (of: { readonly run: string; readonly playbook: string }): Promise<void> => {
      if (OF_A_TEAM.has(of.playbook)) await read(of).catch(close);
    },
    shown: (): ShownTeam | undefined => shown?.(),
    close,
  };
}
