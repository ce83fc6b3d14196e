import type { Machine } from '../../engine/machine.ts';
import type { RunState } from '../../rules/sprint/decide-team.ts';
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
  if (row === undefined || findDefinition(ledger, row) === undefined) return 'absent';
  return endOfRun(ledger, row) === undefined ? 'open' : 'over';
}

/** The team, and how its runs stand. Read only; a repository without a ledger has an empty team. */
export function lookAtTeam(workspace: Pick<OpenedWorkspace<Machine>, 'directory' | 'composition'>): SeenTeam {
  return lookIn(workspace, seenIn) ?? { team: readTeam(() => []), runState: () => 'absent' };
}

export interface SeenTeam {
  readonly team: Team;
  readonly runState: (run: string) => RunState;
}

function seenIn(ledger: Ledger): SeenTeam {
  const team = teamIn(ledger);
  const runs = [...team.review.values(), ...team.sprint.values()].map(({ run }) => run);
  // The ledger is closed by the time that someone asks.
  const states = new Map(runs.map((run) => [run, runStateIn(ledger, run)]));
  return { team, runState: (run) => states.get(run) ?? 'absent' };
}
