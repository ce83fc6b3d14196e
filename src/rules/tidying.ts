import type { Keep, KeptRef } from '../model/keep.ts';

/** A run, and what it has left. */
export interface KeptRun {
  readonly id: string;
  readonly name: string;
  /** null: it can continue. */
  readonly endedAt: number | null;
  /** Ids of the attempts whose output is there. */
  readonly turns: readonly string[];
  /** Its report and other files for people are there. */
  readonly hasFiles: boolean;
  /** The ignored files of the checkout that its folders got are there. */
  readonly hasCopies: boolean;
  /** How many checkpoints it has besides the newest. */
  readonly checkpoints: number;
  /** Those of its own; undefined: they were not read. */
  readonly refs: readonly KeptRef[] | undefined;
}

/** The part of one run that goes, by the key under `keep` that says so. */
export interface Tidying {
  readonly id: string;
  readonly name: string;
  readonly output: readonly string[];
  readonly refs: readonly KeptRef[];
  readonly branches: readonly KeptRef[];
  readonly checkpoints: number;
  /** Under `refs`: only work that was kept there could need them. */
  readonly copies: boolean;
  readonly runs: boolean;
}

type LaterKey = 'output' | 'refs' | 'checkpoints' | 'runs';

export interface TidyingPlan {
  readonly due: readonly Tidying[];
  /** When something that is known now becomes due, by which key and of which run; null: nothing will. */
  readonly next: { readonly at: number; readonly key: LaterKey; readonly run: string } | null;
}

/**
 * Whether anything of these runs can be due, by their beginnings alone: most often nothing is old enough. After a clock was set back, what
 * is due is found later.
 */
export function canBeDue(
  runs: readonly { readonly createdAt: number }[],
  { outputMs, refsMs, checkpointsMs, branches, runs: kept }: Keep,
  now: number,
): boolean {
  if (branches === 'until-merged' || kept !== null) return true;
  const since = now - Math.min(outputMs ?? Infinity, refsMs ?? Infinity, checkpointsMs ?? Infinity);
  return runs.some(({ createdAt }) => createdAt <= since);
}

/** Before this moment nothing of a run that began then can be due: it ended later. */
export function soonestOf(createdAt: number, run: Omit<KeptRun, 'endedAt'>, keep: Keep): number {
  const { turns, hasFiles, hasCopies, checkpoints, refs = [] } = run;
  const isNow = (keep.branches === 'until-merged' && refs.length > 0) || (keep.runs !== null && hasFiles);
  const ages = [
    turns.length > 0 ? keep.outputMs : null,
    refs.length > 0 || hasCopies ? keep.refsMs : null,
    checkpoints > 0 ? keep.checkpointsMs : null,
    isNow ? 0 : null,
  ];
  return createdAt + Math.min(...ages.map((age) => age ?? Infinity));
}

/** Decides what squad removes by itself: nothing of a run that can continue, and no work that only squad's own refs have. */
export function decideTidying(runs: readonly KeptRun[], keep: Keep, now: number): TidyingPlan {
  const old = runsBeyond(runs, keep, now);
  const due = runs.map((run) => tidyingOf(run, keep, now, old.has(run.id))).filter((one) => !isNothing(one));
  const later = runs.flatMap((run) => laterOf(run, keep)).filter(({ at }) => at > now);
  const [next = null] = later.toSorted((one, other) => one.at - other.at);
  return { due, next };
}

function isNothing({ output, refs, branches, checkpoints, copies, runs }: Tidying): boolean {
  return !runs && !copies && output.length + refs.length + branches.length + checkpoints === 0;
}

function laterOf(
  { name, endedAt, turns, hasFiles, hasCopies, checkpoints, refs = [] }: KeptRun,
  keep: Keep,
): NonNullable<TidyingPlan['next']>[] {
  if (endedAt === null) return [];
  const after = (key: LaterKey, ms: number | null, isThere: boolean): NonNullable<TidyingPlan['next']>[] =>
    ms === null || !isThere ? [] : [{ at: endedAt + ms, key, run: name }];
  const isMerged = !hasUnmerged(refs);
  return [
    ...after('output', keep.outputMs, turns.length > 0),
    ...after('refs', keep.refsMs, refs.some(isMergedWork) || (hasCopies && isMerged)),
    ...after('checkpoints', keep.checkpointsMs, checkpoints > 0),
    ...after('runs', keep.runs !== null && 'ms' in keep.runs ? keep.runs.ms : null, hasFiles && isMerged),
  ];
}

function tidyingOf(
  { id, name, endedAt, turns, hasFiles, hasCopies, checkpoints, refs }: KeptRun,
  keep: Keep,
  now: number,
  old: boolean,
): Tidying {
  const none = { id, name, output: [], refs: [], branches: [], checkpoints: 0, copies: false, runs: false };
  if (endedAt === null) return none;
  const isPast = (ms: number | null): boolean => ms !== null && endedAt + ms <= now;
  const known = refs ?? [];
  const all = old && refs !== undefined && !hasUnmerged(known);
  const branches = known.filter(
    ({ kind, isMerged, isCheckedOut }) =>
      keep.branches === 'until-merged' && kind === 'branch' && isMerged && !isCheckedOut,
  );
  const work = isPast(keep.refsMs) || all ? known.filter(isMergedWork) : [];
  const left = known.filter((ref) => ref.kind !== 'note' && !work.includes(ref) && !branches.includes(ref));
  // The name stays claimed for as long as anything has it.
  const notes =
    left.length > 0 || work.length + branches.length === 0 ? [] : known.filter(({ kind }) => kind === 'note');
  return {
    ...{ id, name, branches },
    output: isPast(keep.outputMs) || all ? turns : [],
    refs: [...work, ...notes],
    checkpoints: isPast(keep.checkpointsMs) || all ? checkpoints : 0,
    copies: hasCopies && (all || (isPast(keep.refsMs) && refs !== undefined && !hasUnmerged(known))),
    runs: all && hasFiles,
  };
}

function isMergedWork({ kind, isMerged }: KeptRef): boolean {
  return kind === 'work' && isMerged;
}

function hasUnmerged(refs: readonly KeptRef[]): boolean {
  return refs.some(({ kind, isMerged }) => kind !== 'note' && !isMerged);
}

/** Runs whose files are not kept any more. */
function runsBeyond(runs: readonly KeptRun[], { runs: kept }: Keep, now: number): ReadonlySet<string> {
  const ended = runs.flatMap(({ id, endedAt }) => (endedAt === null ? [] : [{ id, endedAt }]));
  if (kept === null) return new Set();
  const beyond =
    'ms' in kept
      ? ended.filter(({ endedAt }) => endedAt + kept.ms <= now)
      : ended.toSorted((one, other) => other.endedAt - one.endedAt).slice(kept.newest);
  return new Set(beyond.map(({ id }) => id));
}
