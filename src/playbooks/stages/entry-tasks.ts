import type { PlanChange } from '../../model/plan/change.ts';
import type { PlannedEntry } from '../../model/plan.ts';
import { failRun } from '../shared/tasks.ts';
import { defined } from '../../text/defined.ts';
import { chainBehind, committedBy, entriesOf, stageOf, taskIdOf, titleOf } from './list-facts.ts';
import type { Opening } from './opening.ts';
import { freeId } from './stage-ids.ts';
import type { Stage, StageList } from './stage-list.ts';
import { isUnopened, type Placed, type StageProgress } from './stage-progress.ts';
import { plannedIn } from './stage-records.ts';

/** A task of one stage for one entry. */
export interface EntryTask {
  readonly entry: PlannedEntry;
  /** The stage whose answer has the entries. */
  readonly from: string;
  readonly id: string;
  /** The tasks of the entry in the stage before. */
  readonly before: readonly string[];
  /** No plan has the entry. */
  readonly added?: true;
  /** Besides those of its stage. */
  readonly needs: readonly string[];
}

type TaskOfEntry = (opening: Opening, about: EntryTask) => PlanChange[];

/**
 * The tasks of a stage for each entry, in the order of their needs, and with each those of the stages that follow it entry by entry: one
 * entry may be reviewed while another one is still being built. An entry begins once all work on those that it needs is delivered.
 */
export function entryTasks(opening: Opening, taskOf: TaskOfEntry): PlanChange[] {
  const { scene, options, progress, of } = opening;
  const { list } = options;
  const from = entriesOf(list, of.stage) ?? '';
  const entries = plannedIn(scene, from);
  if (entries === undefined) return [failRun(`${of.stage.id} has no tasks: ${from} gave none`)];
  const chain = [of, ...chainBehind(list, of.stage).flatMap((stage) => unopened(progress, stage))];
  const ids = new Map<string, readonly string[]>();
  const taken = new Set(opening.taken);
  return entries
    .filter((entry) => canGoOn(opening, entry))
    .flatMap((entry) => {
      const needs = entry.needs.flatMap((need) => ids.get(need) ?? []);
      const { changes, ends } = chainTasks({ ...opening, taken }, taskOf, { chain, entry, from, needs });
      ids.set(entry.id, ends);
      for (const change of changes) if (change.do === 'add-task') taken.add(change.task.id);
      return changes;
    });
}

interface Chain {
  readonly chain: readonly StageProgress[];
  readonly entry: PlannedEntry;
  readonly from: string;
  /** The first task needs these besides the needs of its stage. */
  readonly needs: readonly string[];
  readonly added?: true;
}

/** The tasks of one entry through these stages, and the last of them. */
export function chainTasks(
  opening: Opening,
  taskOf: TaskOfEntry,
  { chain, entry, from, needs, added }: Chain,
): { readonly changes: PlanChange[]; readonly ends: readonly string[] } {
  const taken = new Set(opening.taken);
  const own = new Map<string, readonly string[]>();
  const last = endsOf(chain);
  let parent: string | undefined;
  const changes = chain.flatMap((one, index) => {
    const of = one.stage.each?.of ?? '';
    const before = of === from ? [] : (own.get(of) ?? entryTasksIn(opening, of, entry));
    const isFirst = index === 0;
    const wanted = added === true && isFirst ? entry.id : idOf(one, entry, !isFirst || of !== from);
    const id = freeId(opening.scene, wanted, taken);
    const next = {
      ...opening,
      of: withoutBarrier(one, added === true || of !== from),
      taken,
      entryTasks: new Map(own),
    };
    const more = [...before, ...(isFirst ? needs : [])];
    const made = taskOf(next, { entry, from, id, before, needs: more, ...defined({ added }) });
    const ids = made.flatMap((change) => (change.do === 'add-task' ? [change.task.id] : []));
    for (const task of ids) taken.add(task);
    // A stage that is left out for this entry hands on the work of the one before.
    own.set(one.stage.id, ids.length > 0 ? ids : before);
    const above = parent;
    parent ??= ids[0];
    return above === undefined ? made : made.map((change) => below(change, above));
  });
  return { changes, ends: [...last].flatMap((id) => own.get(id) ?? []) };
}

function below(change: PlanChange, parent: string): PlanChange {
  return change.do === 'add-task' ? { do: 'add-task', task: { ...change.task, parent } } : change;
}

/** A stage that follows another one entry by entry waits for its own entry alone. */
function withoutBarrier(of: StageProgress, isFree: boolean): StageProgress {
  return isFree ? { ...of, stage: { ...of.stage, needs: [] } } : of;
}

function unopened(progress: readonly StageProgress[], stage: Stage): StageProgress[] {
  const one = progress.find((of) => of.stage.id === stage.id);
  return one === undefined || !isUnopened(one.tasks) ? [] : [one];
}

/** The last stages of each way through the chain. */
function endsOf(chain: readonly StageProgress[]): ReadonlySet<string> {
  const followed = new Set(chain.map(({ stage }) => stage.each?.of));
  return new Set(chain.flatMap(({ stage: { id } }) => (followed.has(id) ? [] : [id])));
}

/** An entry whose task of the stage before failed has no later ones. */
function canGoOn({ progress, of }: Opening, entry: PlannedEntry): boolean {
  return placesOf(progress, of.stage.each?.of ?? '', entry).every(
    ({ state: { status } }) => status === 'done' || status === 'skipped',
  );
}

function entryTasksIn(opening: Opening, stage: string, entry: PlannedEntry): readonly string[] {
  const { list } = opening.options;
  const ids = placesOf(opening.progress, stage, entry).map(({ state }) => state.id);
  const leftOut = ids.length === 0 ? committedBy(list, stageOf(list, stage) ?? opening.of.stage) : undefined;
  return leftOut === undefined || leftOut === stage ? ids : entryTasksIn(opening, leftOut, entry);
}

function placesOf(progress: readonly StageProgress[], stage: string, { id }: PlannedEntry): readonly Placed[] {
  return progress.find((one) => one.stage.id === stage)?.tasks.filter((task) => task.entry === id) ?? [];
}

/** The task of a stage that follows another one is named for both the entry and the stage. */
function idOf({ stage, pass }: StageProgress, { id }: PlannedEntry, follows: boolean): string {
  const name = follows ? `${id}-${taskIdOf(stage)}` : id;
  return pass.pass === 1 ? name : `${name}-${pass.pass}`;
}

/** The title of its task. */
export function entryTitle(list: StageList, stage: Stage, { title }: PlannedEntry): string {
  return stage.each?.of === entriesOf(list, stage) ? title : `${titleOf(stage)}: ${title}`;
}
