/** One figure beside what the bare machine needs for the same, measured in the same run. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly squad: number;
  readonly bare: number;
  /** How many times the bare machine's cost; 1 is free. */
  readonly ratio: number;
  /** The bound of what squad costs, or of the ratio. */
  readonly target?: { readonly of: 'squad' | 'ratio'; readonly most: number };
  /** What the specification of the playbook `objective` asks for. */
  readonly asked?: string;
  readonly note?: string;
}

/** One file, one bench. */
export interface Bench {
  readonly name: string;
  /** Paths of its folder, which is removed afterwards. `isQuick`: less, where it takes many minutes. */
  run(folder: string, how: { readonly isQuick: boolean }): Promise<readonly Row[]>;
}

export function rowOf(
  name: string,
  unit: string,
  squad: number,
  bare: number,
  more: Pick<Row, 'target' | 'asked' | 'note'> = {},
): Row {
  return { name, unit, squad, bare, ratio: squad / bare, ...more };
}

/** undefined: it has no target. */
export function isMet({ target, squad, ratio }: Row): boolean | undefined {
  return target === undefined ? undefined : (target.of === 'squad' ? squad : ratio) <= target.most;
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, two) => one - two)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The value that this share of them does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, two) => one - two)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function round(value: number): number {
  return Number(value.toPrecision(3));
}

export async function milliseconds(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Of all threads, because others make the clock's time worse. */
export async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export function perSecond(count: number, work: () => void): number {
  const from = performance.now();
  work();
  return count / ((performance.now() - from) / 1000);
}
