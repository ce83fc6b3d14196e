import type { Stage, StageList, StageReview } from './stage-list.ts';

/** The id of a stage's first task. */
export function taskIdOf({ id }: Pick<Stage, 'id'>): string {
  return id.toLowerCase().replaceAll('_', '-');
}

/** `SPEC_REVIEW` becomes “Spec Review”. */
export function titleOf({ id, title }: { readonly id: string; readonly title?: string }): string {
  if (title !== undefined) return title;
  const words = id.split(/[_-]+/).filter((word) => word !== '');
  return words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`).join(' ');
}

/** Cache of stages by id; a list never changes. */
const INDICES = new WeakMap<StageList, ReadonlyMap<string, Stage>>();

/** How people know a stage. */
export function nameOf({ id, shownAs = id }: Pick<Stage, 'id' | 'shownAs'>): string {
  return shownAs;
}

export function stageOf(list: StageList, id: string): Stage | undefined {
  const known = INDICES.get(list);
  const index = known ?? new Map(list.stages.map((stage) => [stage.id, stage]));
  if (known === undefined) INDICES.set(list, index);
  return index.get(id);
}

/** Cache of the stages that plan; a list never changes. */
const PLANS = new WeakMap<StageList, ReadonlySet<string>>();

/** Whether its answer plans the tasks of another stage. */
export function givesTasks(list: StageList, { id, each }: Stage): boolean {
  const known = PLANS.get(list);
  const plans = known ?? new Set(list.stages.flatMap(({ each }) => (each === undefined ? [] : [each.of])));
  if (known === undefined) PLANS.set(list, plans);
  return each === undefined && plans.has(id);
}

/** Whether another stage quotes its answer, or has a task for each of its entries. */
export function isRead({ stages }: StageList, id: string): boolean {
  return stages.some(({ each, brief }) => each?.of === id || brief.includes(`{of:${id}}`));
}

/** Its reviews, in their order. */
export function reviewsIn({ review = [] }: Pick<Stage, 'review'>): readonly StageReview[] {
  return isMany(review) ? review : [review];
}

function isMany(review: NonNullable<Stage['review']>): review is readonly StageReview[] {
  return Array.isArray(review);
}

/** The stage whose answer has the entries of a stage with `each`: it names that stage, or one with the same entries. */
export function entriesOf(list: StageList, { each }: Pick<Stage, 'each'>): string | undefined {
  if (each === undefined) return undefined;
  const named = stageOf(list, each.of);
  return named?.each === undefined ? each.of : entriesOf(list, named);
}

/** The stages that follow a stage entry by entry, without a barrier, in the order of the list. */
export function chainBehind({ stages }: StageList, { id }: Pick<Stage, 'id'>): readonly Stage[] {
  const behind = new Set([id]);
  return stages.filter((stage) => {
    if (stage.each === undefined || !behind.has(stage.each.of)) return false;
    behind.add(stage.id);
    return true;
  });
}

/** The roles of which an entry may name one: those of stages with `each` on which more than one role may work. */
export function rolesToChoose({ stages }: StageList): readonly string[] {
  const open = stages.filter(({ each, judges, by }) => each !== undefined && judges === undefined && by.length > 1);
  return [...new Set(open.flatMap(({ by }) => by))];
}

/** The stage whose work a stage commits: the one that its `each` names, or that it needs. */
export function committedBy(list: StageList, stage: Stage): string | undefined {
  return 'commit' in stage.makes ? (stage.each?.of ?? needsOf(list, stage)[0]) : undefined;
}

/** The stage that commits the work of this one. */
export function committerOf(list: StageList, { id }: Pick<Stage, 'id'>): Stage | undefined {
  return list.stages.find((stage) => committedBy(list, stage) === id);
}

/** Whether its verdict is on the whole, not on one entry. */
export function judgesWhole({ judges, each }: Pick<Stage, 'judges' | 'each'>): boolean {
  return judges !== undefined && each === undefined;
}

/** The stages that it directly needs. */
export function needsOf({ stages }: StageList, stage: Stage): readonly string[] {
  if (stage.needs !== undefined) return stage.needs;
  const before = stages[stages.findIndex(({ id }) => id === stage.id) - 1];
  return before === undefined ? [] : [before.id];
}

/** The stages that it needs, directly or through others. */
export function allNeedsOf(list: StageList, id: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const stage = stageOf(list, next);
    const needs = stage === undefined ? [] : needsOf(list, stage).filter((need) => !found.has(need));
    for (const need of needs) found.add(need);
    open.push(...needs);
  }
  return found;
}

/** The stages that need it, directly or through others. */
export function dependentsOf(list: StageList, id: string): ReadonlySet<string> {
  const needing = new Map<string, string[]>();
  for (const stage of list.stages) {
    for (const need of needsOf(list, stage)) {
      const before = needing.get(need);
      if (before === undefined) needing.set(need, [stage.id]);
      else before.push(stage.id);
    }
  }
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const more = (needing.get(next) ?? []).filter((one) => !found.has(one));
    for (const one of more) found.add(one);
    open.push(...more);
  }
  return found;
}

/** The stages on the way from one stage to another, without the first and with the last, in the order of the list. */
export function wayBetween(list: StageList, from: string, to: string): readonly Stage[] {
  const before = allNeedsOf(list, to);
  return list.stages.filter(({ id }) => id === to || (before.has(id) && allNeedsOf(list, id).has(from)));
}

/** The stage that a rejection sends work back to. */
export function targetOf({ judges }: Stage): string | undefined {
  if (judges === undefined) return undefined;
  return 'redo' in judges.else ? judges.else.redo : judges.else.fix;
}

/** The documents that it writes, within the folder of the run's documents. */
export function documentsIn(makes: Stage['makes']): readonly string[] {
  if ('document' in makes) return [makes.document];
  return 'documents' in makes ? makes.documents : [];
}

/** The stages whose work it judges: the one that a rejection goes back to, and documents and code on the way from there. */
export function judgedBy(list: StageList, judge: Stage): readonly Stage[] {
  const target = targetOf(judge);
  if (target === undefined) return [];
  const made = wayBetween(list, target, judge.id).filter(
    ({ makes }) => documentsIn(makes).length > 0 || 'code' in makes,
  );
  return [...list.stages.filter(({ id }) => id === target), ...made];
}

/** The commands that it names itself. Those of criteria belong to the objective. */
export function commandsOf(list: StageList | undefined): readonly string[] {
  return (list?.stages ?? []).flatMap(({ makes }) =>
    'checks' in makes && makes.checks !== 'criteria' ? makes.checks : [],
  );
}
