import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { newWork } from '../../src/rules/work.ts';
import { TaskTable, type TaskState } from '../../src/model/plan/task-table.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { newTask } from './support.ts';

const ENDED: Work['phase'] = { at: 'ended', as: 'done', cause: null, why: 'delivered' };
const LEAVING: Work['leaving'] = [{ attempt: 'a-1', agent: 'bob', session: 's' }];

function stateOf(id: string, order: number, more: Partial<Work> = {}): TaskState {
  return { task: newTask(id), order, depth: 0, at: { added: 0 }, work: { ...newWork(), ...more } };
}

interface Step {
  /** Which of the tables so far is changed: most often the newest, but an old one may get a second line. */
  readonly back: number;
  readonly id: number;
  readonly work: Partial<Work>;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 200 }) }),
    id: fc.nat({ max: 70 }),
    work: fc.record({
      attempts: fc.nat({ max: 3 }),
      phase: fc.constantFrom(ENDED, { at: 'working' as const }),
      leaving: fc.constantFrom([], LEAVING),
    }),
  }),
  { maxLength: 100 },
);

interface Pair {
  readonly table: TaskTable;
  readonly map: ReadonlyMap<string, TaskState>;
}

/** Every table that there was, with the map that it should be like. */
function play(all: readonly Step[]): Pair[] {
  const pairs: Pair[] = [{ table: new TaskTable(), map: new Map() }];
  for (const { back, id, work } of all) {
    const from = pairs[pairs.length - 1 - (back % pairs.length)];
    if (from === undefined) continue;
    const state = stateOf(`t${id}`, from.map.get(`t${id}`)?.order ?? from.map.size, work);
    pairs.push({ table: from.table.with(state), map: new Map(from.map).set(`t${id}`, state) });
  }
  return pairs;
}

describe('the tasks of a plan', () => {
  test.prop([steps], { numRuns: 50 })('are what a map would hold, and what they were in every older table', (all) => {
    for (const { table, map } of play(all)) {
      expect([...table]).toEqual([...map]);
      expect([...table.keys()]).toEqual([...map.keys()]);
      expect(table.size).toBe(map.size);
      for (let id = 0; id <= 70; id += 1) expect(table.get(`t${id}`)).toBe(map.get(`t${id}`));
    }
  });

  test.prop([steps], { numRuns: 50 })('know what is open and how many attempts there were', (all) => {
    for (const { table, map } of play(all)) {
      const states = [...map.values()];
      const open = states.filter(({ work }) => work.phase.at !== 'ended' || work.leaving.length > 0);
      expect(table.open).toEqual(open);
      expect(table.attempts).toBe(states.reduce((sum, { work }) => sum + work.attempts, 0));
    }
  });

  test.prop([steps, fc.nat(), fc.nat()], { numRuns: 50 })('know what has changed since another table', (all, a, b) => {
    const pairs = play(all);
    const [before, after] = [pairs[a % pairs.length], pairs[b % pairs.length]];
    const changed = [...(after?.map.values() ?? [])].filter(
      (state) => !before?.table.has(state.task.id) || before.map.get(state.task.id) !== state,
    );
    const told = after?.table.changedSince(before?.table ?? new TaskTable()) ?? [];
    // Two lines may have the same state at different places: that is told once too often, never once too little.
    expect(told).toEqual(expect.arrayContaining(changed));
  });

  it('tells the one state of many that has changed', () => {
    const before = Array.from({ length: 100 }, (_, order) => stateOf(`t${order}`, order)).reduce(
      (table, state) => table.with(state),
      new TaskTable(),
    );
    const changed = stateOf('t70', 70, { phase: ENDED });
    const after = before.with(changed);
    expect(after.changedSince(before)).toEqual([changed]);
    expect(before.changedSince(before)).toEqual([]);
    expect(after).not.toEqual(before);
    expect(after.with(stateOf('t70', 70))).toEqual(before);
  });
});
