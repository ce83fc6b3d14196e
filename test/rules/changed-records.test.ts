import { expect, it } from 'vitest';
import type { Board } from '../../src/model/plan/board.ts';
import { createBoard } from '../../src/rules/board.ts';
import { changedRecords } from '../../src/rules/changed-records.ts';
import { factsOf } from '../playbooks/simulator.ts';

const records = (view: { readonly records: (where: string) => readonly { id: string; value: unknown }[] }) =>
  view.records('own').map(({ id, value }) => ({ kind: 'item', id, value: value as never }));

function boardWith(own: Readonly<Record<string, number>>): Board {
  const board = createBoard(factsOf([]));
  return { ...board, records: new Map([['own', new Map(Object.entries(own))]]) };
}

it('writes what a step made new or otherwise, and nothing else', () => {
  const changed = changedRecords({ records }, boardWith({ a: 1, b: 1 }), boardWith({ a: 1, b: 2, c: 1 }));
  expect(changed.map(({ id, value }) => [id, value])).toEqual([
    ['b', 2],
    ['c', 1],
  ]);
});

it('asks a playbook without records for nothing', () => {
  expect(changedRecords({}, boardWith({}), boardWith({ a: 1 }))).toEqual([]);
});
