import type { Ledger } from '../../substrate/ports/ledger.ts';
import { shownTeam } from '../../view/sprint/shown-team.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import { followTeam } from './follow-team.ts';
import { teamIn } from './read-team.ts';

/** Follows the team next to one of its runs. Reads only what was written since. */
export function followShownTeam(ledger: Ledger, run: string): () => ShownTeam | undefined {
  const follow = followTeam(ledger);
  let version = ledger.dataVersion();
  let team = follow();
  let shown = shownTeam(team, run);
  return () => {
    const now = ledger.dataVersion();
    if (version === now) return shown;
    version = now;
    const before = team;
    team = follow();
    if (team !== before) shown = shownTeam(team, run);
    return shown;
  };
}

/** The team as it is now, next to one of its runs if `run` is given. */
export function readShownTeam(ledger: Ledger, run?: string): ShownTeam | undefined {
  return shownTeam(teamIn(ledger), run);
}
