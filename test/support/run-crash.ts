import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FailpointName } from '../../src/substrate/system/failpoint.ts';
import { driveToEnd, endStateOf, expectUnharmed, inRunRoom, type EndState } from './run-room.ts';
import type { Scenario } from './scenario-parts.ts';

export interface Kill {
  readonly point: FailpointName;
  /** Of the engine that is killed, from 1. */
  readonly pass: number;
}

/** A run that nobody killed. */
export interface Reference {
  readonly end: EndState;
  readonly exitCode: number | null;
  /** How long it took, from the start of its first engine to the end of its last. */
  readonly ms: number;
  /** Points in the order of their first pass, each with how often it was passed. */
  readonly passes: ReadonlyMap<FailpointName, number>;
}

export async function recordReference(scenario: Scenario): Promise<Reference> {
  return inRunRoom(scenario, async (room) => {
    const trace = join(room.root, 'trace');
    const begun = performance.now();
    const { last } = await driveToEnd(room, [{ SQUAD_FAILPOINTS: `trace=${trace}` }]);
    const ms = performance.now() - begun;
    expect(last.code, last.stderr).toBe(0);
    expectUnharmed(room);
    const passes = new Map<FailpointName, number>();
    for (const line of readFileSync(trace, 'utf8').split('\n').slice(0, -1)) {
      const point = line as FailpointName;
      passes.set(point, (passes.get(point) ?? 0) + 1);
    }
    return { end: endStateOf(room), exitCode: last.code, ms, passes };
  });
}

/** One run whose first engine dies at the first of these, the engine that resumes it at the second, and so on. */
export async function crashAt(scenario: Scenario, reference: Reference, kills: readonly Kill[]): Promise<void> {
  await inRunRoom(scenario, async (room) => {
    const environments = kills.map(({ point, pass }) => ({ SQUAD_FAILPOINTS: `${point}:${pass}=kill` }));
    const { last, killed } = await driveToEnd(room, environments);
    expect(last.stderr).toBe('');
    expect(killed, 'engines killed').toBe(kills.length);
    expect(last.code, last.stdout).toBe(reference.exitCode);
    expect(endStateOf(room)).toEqual(reference.end);
    expectUnharmed(room);
  });
}

function titleOf(kills: readonly Kill[]): string {
  return kills.map(({ point, pass }) => (pass === 1 ? point : `${point}:${pass}`)).join(', ');
}

/** At most `width` runs at a time, each in a room of its own; what breaks is told with where its run was killed. */
export async function crashEach(
  scenario: Scenario,
  reference: Reference,
  runs: readonly (readonly Kill[])[],
  width = 2,
): Promise<readonly Error[]> {
  const rest = [...runs];
  const problems: Error[] = [];
  const lane = async (): Promise<void> => {
    for (let kills = rest.shift(); kills !== undefined; kills = rest.shift()) {
      try {
        await crashAt(scenario, reference, kills);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        problems.push(new Error(`${scenario.name} killed at ${titleOf(kills)}: ${message}`, { cause: error }));
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return problems;
}

/** As `crashEach`. Throws when one breaks, once all have been made. */
export async function crashAll(
  scenario: Scenario,
  reference: Reference,
  runs: readonly (readonly Kill[])[],
  width = 2,
): Promise<void> {
  const problems = await crashEach(scenario, reference, runs, width);
  if (problems.length > 0) throw new AggregateError(problems, problems.map(({ message }) => message).join('\n\n'));
}

/**
 * Every point once, on as few runs as `runs`: each run dies again and again. Neighbours are in different runs, so that a
 * run always gets on between its deaths, and meets the points in the order in which it passes them.
 */
export function spreadFirstPasses({ passes }: Reference, runs: number): Kill[][] {
  const points = [...passes.keys()];
  return Array.from({ length: runs }, (_, run) =>
    points.filter((_, index) => index % runs === run).map((point) => ({ point, pass: 1 })),
  );
}

/** How often these are passed follows from the work alone, not from how busy the machine is. */
const STEADY = /^(?:git|publish)\./;

/** Every point at up to `most` of its passes. The last ones of most points are not passed by every run: they are left out. */
export function spreadPasses({ passes }: Reference, most: number): Kill[] {
  return [...passes].flatMap(([point, count]) => {
    const last = STEADY.test(point) ? count : Math.max(1, Math.floor(count * 0.8));
    const step = Math.max(1, Math.ceil(last / most));
    return Array.from({ length: Math.ceil(last / step) }, (_, index) => ({ point, pass: 1 + index * step }));
  });
}

/**
 * Each of these points once on every run, each time at another stage: every engine gets through its share of the passes
 * that an uncrashed run has, and dies.
 */
export function spreadHotPoints({ passes }: Reference, points: readonly FailpointName[]): Kill[][] {
  const share = (point: FailpointName): number =>
    Math.max(1, Math.floor((passes.get(point) ?? 0) / (points.length + 2)));
  return points.map((_, run) =>
    points.map((_, index) => {
      const point = points[(index + run) % points.length] ?? 'ledger.after-commit';
      return { point, pass: share(point) };
    }),
  );
}
