import type { Machine } from '../../engine/machine.ts';
import type { RunState } from '../../rules/sprint/decide-team.ts';
import { newRunsCappedUntil } from '../../model/shared-spending.ts';
import { readTeam, type Team } from '../../model/sprint/team.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { endOfRun } from '../../view/end-row.ts';
import { findDefinition } from '../../view/read-run.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';

export function teamIn(ledger: Pick<Ledger, 'records'>): Team {
  return readTeam((kind) => ledger.records(kind));
}

export function runStateIn(ledger: Ledger, run: string): RunState {
  const row = ledger.run(run);
  if (row === undefined) return 'absent';
  // Before its definition, which is large: most runs of a team are over.
  if (endOfRun(ledger, row) !== undefined) return 'over';
  return findDefinition(ledger, row) === undefined ? 'absent' : 'open';
}

/** The team, and how its runs stand. Read only; a repository without a ledger has an empty team. */
export function lookAtTeam(workspace: Pick<OpenedWorkspace<Machine>, 'directory' | 'composition'>): SeenTeam {
  return (
    lookIn(workspace, (ledger, lockedBy) => seenIn(ledger, lockedBy?.since)) ?? {
      team: readTeam(() => []),
      runState: () => 'absent',
    }
  );
}

export interface SeenTeam {
  /** A cap of the day is reached, for all runs of the repository: none begins until then (epoch ms). */
  readonly cappedUntil?: number | undefined;
  readonly team: Team;
  readonly runState: (run: string) => RunState;
}

function seenIn(ledger: Ledger, engineSince = Infinity): SeenTeam {
  const team = teamIn(ledger);
  const runs = [...team.review.values(), ...team.sprint.values()].map(({ run }) => run);
  // The ledger is closed by the time that someone asks.
  const states = new Map(runs.map((run) => [run, runStateIn(ledger, run)]));
  const cappedUntil = newRunsCappedUntil(ledger.sharedUse(engineSince));
  return { team, cappedUntil, runState: (run) => states.get(run) ?? 'absent' };
}
