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
  readonly runs: boolean;
}

export interface TidyingPlan {
  readonly due: readonly Tidying[];
  /** When something that is known now becomes due; null: nothing will. */
  readonly nextAt: number | null;
}

/**
 * Whether anything of these runs can be due, by their beginnings alone: most often nothing is old enough. After a clock was set back, what
 * is due is found later.
 */
export function canBeDue(
  runs: readonly { readonly createdAt: number }[],
  { outputMs, refsMs, branches, runs: kept }: Keep,
  now: number,
): boolean {
  if (branches === 'until-merged' || kept !== null) return true;
  const since = now - Math.min(outputMs ?? Infinity, refsMs ?? Infinity);
  return runs.some(({ createdAt }) => createdAt <= since);
}

/** Decides what squad removes by itself: nothing of a run that can continue, and no work that only squad's own refs have. */
export function decideTidying(runs: readonly KeptRun[], keep: Keep, now: number): TidyingPlan {
  const old = runsBeyond(runs, keep, now);
  const due = runs
    .map((run) => tidyingOf(run, keep, now, old.has(run.id)))
    .filter(({ output, refs, branches, runs: all }) => all || output.length + refs.length + branches.length > 0);
  const later = runs.flatMap(({ endedAt, turns, hasFiles, refs = [] }) => {
    if (endedAt === null) return [];
    const after = (ms: number | null | undefined, isThere: boolean): number[] =>
      ms === null || ms === undefined || !isThere ? [] : [endedAt + ms];
    const forRuns = keep.runs !== null && 'ms' in keep.runs ? keep.runs.ms : null;
    return [
      ...after(keep.outputMs, turns.length > 0),
      ...after(keep.refsMs, refs.some(isMergedWork)),
      ...after(forRuns, hasFiles && !hasUnmerged(refs)),
    ];
  });
  const next = later.filter((at) => at > now);
  return { due, nextAt: next.length === 0 ? null : Math.min(...next) };
}

function tidyingOf(
  { id, name, endedAt, turns, hasFiles, refs }: KeptRun,
  keep: Keep,
  now: number,
  old: boolean,
): Tidying {
  const none = { id, name, output: [], refs: [], branches: [], runs: false };
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
