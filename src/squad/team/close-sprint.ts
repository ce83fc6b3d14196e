import { publishFactsSchema, RUN_EVENTS } from '../../model/run.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { isTodoDone, type SprintEnd } from '../../model/sprint/sprint.ts';
import { backlogOf, type Team } from '../../model/sprint/team.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainJson } from '../../text/json.ts';
import { endedPart, shortViewSchema } from '../../view/ended-view.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { bringToLine } from './line.ts';
import { teamIn } from './read-team.ts';

interface RunEnding {
  /** undefined: it delivered no branch. */
  readonly head: string | undefined;
  readonly isDone: boolean;
  readonly headline: string;
}

/** How a sprint was closed; `held`: why it cannot be closed yet. */
export type Closed = { readonly end: SprintEnd } | { readonly held: string };

/** Moves the line to the work of a sprint whose run is over, and records its end. Safe to repeat. */
export async function closeSprint(workspace: OpenedWorkspace, branch: string, id: string): Promise<Closed> {
  const { composition, repository } = workspace;
  const { team, ending } = await withLedger(workspace, 'read', (ledger) => {
    const team = teamIn(ledger);
    return { team, ending: endingOf(ledger, team.sprint.get(id)?.run ?? '') };
  });
  const known = team.end.get(id);
  const sprint = team.sprint.get(id);
  if (known !== undefined) return { end: known };
  const isOld = ending.head === undefined || ending.head === sprint?.base;
  const line = isOld
    ? undefined
    : await bringToLine(composition.git, repository.root, {
        ...{ branch, commit: ending.head ?? '' },
        message: `Merge ${id} into ${branch}`,
      });
  if (line !== undefined && 'held' in line) return line;
  failpoint('sprint.line');
  return withLedger(workspace, 'write', (ledger) => {
    const at = composition.clock.now();
    carryOver(ledger, id, at);
    const end = { ...outcomeOf(team, id, ending), head: line?.head ?? null, line: branch, at };
    ledger.writeRecord({ kind: KINDS.end, id, value: plainJson(end), after: 0 });
    failpoint('sprint.closed');
    return { end };
  });
}

function endingOf(ledger: Ledger, run: string): RunEnding {
  const published = ledger.events({ stream: run, types: [RUN_EVENTS.published] }).at(-1);
  const { branch, head } = published === undefined ? {} : publishFactsSchema.parse(published.data);
  const ended = endedPart(ledger, { id: run }, shortViewSchema);
  const state = ended?.run.state;
  return {
    head: branch === undefined ? undefined : head,
    isDone: state === 'done',
    // Its first word is the outcome, which is said anyway.
    headline: ended?.end?.headline.replace(/^[A-Z]+, /, '') ?? `its run ended as ${state ?? 'unknown'}`,
  };
}

function outcomeOf(
  { progress, stop }: Team,
  id: string,
  { isDone, headline }: RunEnding,
): Pick<SprintEnd, 'outcome' | 'reason'> {
  const { state, reason, todos = [] } = progress.get(id) ?? {};
  const stopped = stop.get(id);
  if (stopped !== undefined && todos.length === 0)
    return { outcome: 'blocked', reason: `${stopped.by} stopped it before it had todos` };
  if (state === 'blocked') return { outcome: 'blocked', reason: reason ?? headline };
  if (!isDone) return { outcome: 'failed', reason: reason ?? headline };
  return todos.some(isTodoDone)
    ? { outcome: 'completed' }
    : { outcome: 'failed', reason: 'none of its todos was done' };
}

/** Items that the sprint had selected and did not end wait for the next one. */
function carryOver(ledger: Pick<Ledger, 'records' | 'writeRecord'>, sprint: string, at: number): void {
  for (const { id, state, selected_in_sprint_id: selected } of backlogOf(teamIn(ledger))) {
    if (state !== 'selected' || selected !== sprint) continue;
    const value = { state: 'carried_over', selected_in_sprint_id: sprint, at };
    ledger.writeRecord({ kind: KINDS.itemState, id, value });
  }
}
