import { countTasks } from '../graph/decisions/conclude.ts';
import { factsOf } from '../graph/decisions/run-facts.ts';
import { tasksToCome } from '../playbooks/stages/stage-views.ts';
import { publishFactsSchema, RUN_EVENTS, type PublishFacts, type RunDefinition } from '../model/run.ts';
import type { Playbooks } from '../model/plan.ts';
import type { RunState } from '../model/run-state.ts';
import { stageReached } from '../model/shown-stage.ts';
import { engineTime } from '../model/spending.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { findDefinition, findRun, parentOf, type ForkParent, type LockedBy } from './read-run.ts';
import { readEvent } from './replay-plan.ts';
import { standingOf } from './run-state.ts';
import { unfinishedOf, type Unfinished } from './unfinished.ts';
import { allTasks, usageCountOf, type UsageCount } from './usage-count.ts';

/** A run of this repository. */
export interface RunSummary {
  readonly runId: string;
  readonly name: string;
  /** The run that this one is a fork of; null: it is no fork. */
  readonly parent: ForkParent | null;
  /** Title of its objective. */
  readonly objective: string;
  /** Path of its objective, as it was given. */
  readonly source: string;
  readonly playbook: string;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Epoch ms; null: its objective has none. */
  readonly deadline: number | null;
  readonly state: RunState;
  /** The result in one line; null: it is not over. */
  readonly headline: string | null;
  readonly tasks: { readonly all: number; readonly done: number };
  /** Where it is, or ended; null: its playbook has no stages. */
  readonly stage: { readonly id: string; readonly place: number; readonly of: number } | null;
  /** Engine time over all segments, in ms. */
  readonly elapsedMs: number;
  readonly usage: UsageCount['usage'];
  /** What it needs to continue, in one word; null: it is over. */
  readonly need: Unfinished['need'] | null;
  /** The same in a few words; null: it is over. */
  readonly why: string | null;
}

/** One run for a list of them; undefined: it was never defined. Reads the whole history only of a run that has not finished, or may have failed before its plan was whole. */
export function summarizeRun(
  ledger: Ledger,
  row: RunRow,
  lockedBy: LockedBy | null,
  now: number,
  playbooks: Playbooks = {},
): RunSummary | undefined {
  const ended = findEnd(ledger, row);
  if (ended !== undefined && !mayLackTasks(ledger, row, ended)) {
    const definition = findDefinition(ledger, row);
    if (definition === undefined) return undefined;
    const { outcome: state, headline, tasks, stage = null } = ended;
    return { ...aboutOf(ledger, row, definition), state, headline, tasks, stage, need: null, why: null };
  }
  const reading = findRun(ledger, row.id, lockedBy, playbooks);
  if (reading === undefined) return undefined;
  const { state, conclusion } = standingOf(reading, now);
  const { need = null, why = null } = unfinishedOf(reading, now) ?? {};
  const headline = conclusion?.headline ?? null;
  const stage = stageReached(reading.stages) ?? null;
  return {
    ...aboutOf(ledger, row, reading.definition),
    ...{ state, headline, tasks: { ...countTasks(reading.board), all: allTasks(reading.board) }, stage, need, why },
  };
}

/** What can follow the end of a run. */
const LATER = [RUN_EVENTS.published, RUN_EVENTS.resumed, 'operator-command'];

/** How a run ended after which nothing was asked of it; undefined: its plan has to say. */
export function findEnd(ledger: Ledger, { id }: RunRow): PublishFacts['summary'] {
  const last = ledger.events({ stream: id, types: LATER }).at(-1);
  if (last?.type !== RUN_EVENTS.published) return undefined;
  // An engine that was killed before it released its lease is resumed.
  if (ledger.segments(id).at(-1)?.releasedAt === null) return undefined;
  return readEvent(last, publishFactsSchema).summary;
}

/** The end of a run records the tasks of its plan. If the run failed, tasks that were known may not be among them. */
function mayLackTasks(ledger: Ledger, row: RunRow, { outcome }: NonNullable<PublishFacts['summary']>): boolean {
  const definition = outcome !== 'done' ? findDefinition(ledger, row) : undefined;
  return definition !== undefined && tasksToCome({ facts: factsOf(definition), records: new Map() }) > 0;
}

function aboutOf(ledger: Ledger, row: RunRow, { objective, source, playbook }: RunDefinition) {
  const { id, name, createdAt } = row;
  const elapsedMs = engineTime(ledger.segments(id));
  const { usage } = usageCountOf(ledger.totals(id));
  const parent = parentOf(ledger, row);
  const { title, deadline = null } = objective;
  return { runId: id, name, parent, objective: title, source, playbook, createdAt, deadline, elapsedMs, usage };
}
