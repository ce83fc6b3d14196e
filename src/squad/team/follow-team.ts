import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { readTeam, type Team } from '../../model/sprint/team.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { asObject } from '../../text/json.ts';
import { teamIn } from './read-team.ts';

/** Reads the team once, and at each call only what was written since. So little is read while others wait for the ledger. */
export function followTeam(ledger: Pick<Ledger, 'records' | 'events' | 'lastSeq' | 'snapshot'>): () => Team {
  let { seq, team } = ledger.snapshot(() => ({ seq: ledger.lastSeq(), team: teamIn(ledger) }));
  return () => {
    const events = ledger.events({ stream: WORKSPACE_STREAM, after: seq, types: ['record-written'] });
    const last = events.at(-1);
    if (last === undefined) return team;
    seq = last.seq;
    const written = events.map(({ data }) => asObject(data));
    const newer = readTeam((kind) =>
      written.filter((one) => one['kind'] === kind).map(({ id, value }) => ({ id: String(id), value })),
    );
    team = merged(team, newer);
    return team;
  };
}

/** A record that was there keeps its place. */
function merged(team: Team, newer: Team): Team {
  const kinds = Object.keys(team) as (keyof Team)[];
  const all = kinds.map((kind) => [
    kind,
    newer[kind].size === 0 ? team[kind] : new Map<string, unknown>([...team[kind], ...newer[kind]]),
  ]);
  return Object.fromEntries(all) as Team;
}
