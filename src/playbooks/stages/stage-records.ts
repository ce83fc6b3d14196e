import type { PlannedEntry, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { defined } from '../../text/defined.ts';
import { asObject, plainJson, type Json } from '../../text/json.ts';

// Records of stages on the board. Read without a schema, so that a list of runs stays fast: only the playbook writes them.

/** The stage that a task belongs to, and its part in it. */
export interface StageTask {
  readonly stage: string;
  /** From 1: a stage that runs again has new tasks. */
  readonly pass: number;
  /** `nothing`: there was nothing to do. */
  readonly as: 'work' | 'judge' | 'fix' | 'nothing';
  /** Set where the stage has a task for each entry. */
  readonly entry?: string;
  /** No plan has its entry: mail or a repair added it. */
  readonly added?: true;
  /** Set in a stage that judges. */
  readonly role?: string;
  /** The agents that gave no verdict on it. Absent: none. */
  readonly tried?: readonly string[];
}

/** Why a stage runs again. Absent: it runs for the first time. */
export interface StagePass {
  readonly pass: number;
  /** `again`: work that it builds on or judges has changed. Code may need no change then; a document says what was done this time. */
  readonly way: 'first' | 'redo' | 'fix' | 'again';
  /** The stage that rejected it; absent: none did. */
  readonly by?: string;
  readonly findings: readonly JudgeFinding[];
}

export interface JudgeFinding {
  readonly file: string | null;
  readonly line: number | null;
  readonly problem: string;
  readonly suggestion: string | null;
  /** The judge’s role, or `engine`. */
  readonly by: string;
}

/** The verdict of a stage that judges, about one pass. */
export interface StageRound {
  readonly stage: string;
  readonly pass: number;
  /** Set where the stage judges each entry. */
  readonly entry?: string;
  /** The rejections before it, and this one. */
  readonly round: number;
  readonly approved: boolean;
  readonly by: readonly { readonly role: string; readonly agent: string; readonly approved: boolean }[];
  readonly summary: string;
  readonly findings: readonly JudgeFinding[];
  /** false: the same findings as in the rejection before it. */
  readonly converging: boolean;
}

export const TASKS = 'stage-tasks';
const PASSES = 'stage-passes';
const ROUNDS = 'stage-rounds';
const ANSWERS = 'stage-answers';
const ENTRIES = 'stage-entries';

type Records = Pick<View, 'record' | 'records'>;

const FIRST: StagePass = { pass: 1, way: 'first', findings: [] };

export function stageTask({ record }: Records, task: string): StageTask | undefined {
  return record(TASKS, task) as unknown as StageTask | undefined;
}

export function stageTasks({ records }: Records): readonly (StageTask & { readonly task: string })[] {
  return records(TASKS).map(({ id, value }) => ({ ...(value as unknown as StageTask), task: id }));
}

export function passOf({ record }: Records, stage: string): StagePass {
  return (record(PASSES, stage) as unknown as StagePass | undefined) ?? FIRST;
}

export function roundsOf({ records }: Records, stage: string): readonly StageRound[] {
  return records(ROUNDS)
    .map(({ value }) => value as unknown as StageRound)
    .filter((round) => round.stage === stage);
}

/** The stage's answer in its current pass, or for this entry; undefined: none yet. Answers of earlier passes do not count. */
export function answerOf(view: Records, stage: string, entry?: string): Json | undefined {
  const { pass, answer } = asObject(view.record(ANSWERS, entry === undefined ? stage : `${stage}/${entry}`));
  return pass === passOf(view, stage).pass ? (answer as Json) : undefined;
}

/** The entries of the plan in that answer; undefined: there is no answer, or it plans nothing. */
export function plannedIn(view: Records, stage: string): readonly PlannedEntry[] | undefined {
  const { pass, entries } = asObject(view.record(ANSWERS, stage));
  return pass === passOf(view, stage).pass ? (entries as readonly PlannedEntry[] | undefined) : undefined;
}

export function putTask(task: string, value: StageTask): PlanChange {
  return put(TASKS, task, value);
}

export function putPass(stage: string, value: StagePass): PlanChange {
  return put(PASSES, stage, value);
}

export function putRound(value: StageRound): PlanChange {
  const { stage, pass, entry, round } = value;
  return put(ROUNDS, entry === undefined ? `${stage}/${pass}` : `${stage}/${pass}/${entry}/${round}`, value);
}

export function putAnswer(
  { stage, pass, entry }: Pick<StageTask, 'stage' | 'pass' | 'entry'>,
  answer: Json,
  entries?: readonly PlannedEntry[],
): PlanChange {
  return put(ANSWERS, entry === undefined ? stage : `${stage}/${entry}`, { pass, answer, ...defined({ entries }) });
}

/** An entry that no plan has. */
export function putEntry(entry: PlannedEntry): PlanChange {
  return put(ENTRIES, entry.id, entry);
}

export function addedEntryOf({ record }: Pick<Records, 'record'>, id: string): PlannedEntry | undefined {
  return record(ENTRIES, id) as unknown as PlannedEntry | undefined;
}

/** A verdict that is given again. */
export function dropRound({ record }: Records, { stage, pass }: StageTask): PlanChange[] {
  const id = `${stage}/${pass}`;
  return record(ROUNDS, id) === undefined ? [] : [{ do: 'put', in: ROUNDS, id, value: null }];
}

function put(where: string, id: string, value: object): PlanChange {
  return { do: 'put', in: where, id, value: plainJson(value) };
}

const NOTHING: ReadonlyMap<string, Json> = new Map();

/** The view with records that a change of this step writes. */
export function withPuts<V extends Records>(view: V, changes: readonly PlanChange[]): V {
  const puts = changes.filter((change) => change.do === 'put');
  if (puts.length === 0) return view;
  const byPlace = new Map<string, Map<string, Json>>();
  for (const put of puts) {
    const there = byPlace.get(put.in);
    if (there === undefined) byPlace.set(put.in, new Map([[put.id, put.value]]));
    else there.set(put.id, put.value);
  }
  const written = (where: string): ReadonlyMap<string, Json> => byPlace.get(where) ?? NOTHING;
  const kept = (value: Json | undefined): Json | undefined => value ?? undefined;
  return {
    ...view,
    record: (where: string, id: string) => {
      const own = written(where);
      return own.has(id) ? kept(own.get(id)) : view.record(where, id);
    },
    records: (where: string) => {
      const all = new Map([...view.records(where).map(({ id, value }) => [id, value] as const), ...written(where)]);
      return [...all].flatMap(([id, value]) => (value === null ? [] : [{ id, value }]));
    },
  };
}
