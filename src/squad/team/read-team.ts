import type { Machine } from '../../engine/machine.ts';
import type { RunState } from '../../rules/sprint/decide-team.ts';
import { newRunsCappedUntil } from '../../model/shared-spending.ts';
import type { BacklogEntry } from '../../model/sprint/item.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { backlogOf, readTeam, type Team } from '../../model/sprint/team.ts';
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

/** Its items alone, most urgent first: what they say is a small part of what a team has on record. */
export function lookAtBacklog(workspace: Pick<OpenedWorkspace<Machine>, 'directory' | 'composition'>): BacklogEntry[] {
  const isOfItems = (kind: string): boolean => kind === KINDS.item || kind === KINDS.itemState;
  return (
    lookIn(workspace, (ledger) => backlogOf(readTeam((kind) => (isOfItems(kind) ? ledger.records(kind) : [])))) ?? []
  );
}

export interface SeenTeam {
  /** A cap of the day is reached, for all runs of the repository: none begins until then (epoch ms). */
  readonly cappedUntil?: number | undefined;
  readonly team: Team;
  /** Answers for runs of planners, and of sprints that have no end on record. */
  readonly runState: (run: string) => RunState;
}

function seenIn(ledger: Ledger, engineSince = Infinity): SeenTeam {
  const team = teamIn(ledger);
  const active = [...team.sprint].flatMap(([id, sprint]) => (team.end.has(id) ? [] : [sprint]));
  // The ledger is closed by the time that someone asks. A sprint that has its end on record is over: after weeks, most are.
  const states = new Map(active.map(({ run }) => [run, runStateIn(ledger, run)]));
  // A planner begins once all before it are over.
  let isOver = false;
  for (const { run } of [...team.review.values()].toReversed()) {
    const state: RunState = isOver ? 'over' : runStateIn(ledger, run);
    isOver = state === 'over';
    states.set(run, state);
  }
  const cappedUntil = newRunsCappedUntil(ledger.sharedUse(engineSince));
  return { team, cappedUntil, runState: (run) => states.get(run) ?? 'absent' };
}
