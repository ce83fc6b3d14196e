import type { Fault } from './faults.ts';
import type { Trial } from './trial.ts';

export interface Row {
  readonly fault: string;
  readonly what: string;
  readonly trials: number;
  /** Runs that reached the uncrashed run's final state. */
  readonly reached: number;
  readonly rerun: number;
  readonly lost: number;
  readonly cutShort: number;
  readonly sameCounts: number;
  readonly movingMs: Spread;
  readonly resumedMs: Spread;
  /** What both engines took, beyond the uncrashed run. */
  readonly addedMs: Spread;
  readonly met: boolean;
}

export interface Spread {
  readonly median: number;
  readonly max: number;
}

/** A trial that threw counts as one that did not reach anything. `uncrashedMs`: what a run takes that nobody kills. */
export function rowOf(
  { name, what, killsAgents }: Fault,
  { tried, broken }: { readonly tried: readonly Trial[]; readonly broken: number },
  uncrashedMs: number,
): Row {
  const total = (of: (trial: Trial) => number): number => tried.reduce((sum, trial) => sum + of(trial), 0);
  const trials = tried.length + broken;
  const reached = tried.filter(({ wrong }) => wrong.length === 0).length;
  const rerun = total((trial) => trial.rerun);
  const lost = total((trial) => trial.lost);
  const cutShort = total((trial) => trial.cutShort);
  const sameCounts = tried.filter((trial) => trial.sameCounts).length;
  return {
    fault: name,
    what,
    trials,
    reached,
    rerun,
    lost,
    cutShort,
    sameCounts,
    movingMs: spreadOf(tried.map(({ movingMs }) => movingMs)),
    resumedMs: spreadOf(tried.map(({ resumedMs }) => resumedMs)),
    addedMs: spreadOf(tried.map(({ tookMs }) => tookMs - uncrashedMs)),
    met: reached === trials && sameCounts === trials && rerun + lost === 0 && (killsAgents || cutShort === 0),
  };
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, max: sorted.at(-1) ?? 0 };
}

const HEAD = [
  'fault',
  'trials',
  'same final state',
  'finished turns run again',
  'paid results lost',
  'counts towards caps as uncrashed',
  'turns cut short',
  'moves again after (median / max)',
  'resumed run ends after (median / max)',
  'longer than uncrashed (median / max)',
];

/** Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    `\`${row.fault}\`: ${row.what}`,
    `${row.trials}`,
    share(row.reached, row.trials),
    `${row.rerun}`,
    `${row.lost}`,
    share(row.sameCounts, row.trials),
    `${row.cutShort}`,
    seconds(row.movingMs),
    seconds(row.resumedMs),
    seconds(row.addedMs),
  ]);
  return [HEAD, HEAD.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function share(part: number, whole: number): string {
  return `${part} of ${whole}`;
}

function seconds({ median, max }: Spread): string {
  return `${(median / 1000).toFixed(2)} / ${(max / 1000).toFixed(2)} s`;
}
