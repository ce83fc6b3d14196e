import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BacklogEntry } from '../../../src/model/sprint/item.ts';
import { backlogWritesSchema, writeBacklog } from '../../../src/model/sprint/backlog-writes.ts';
import type { Json } from '../../../src/text/json.ts';
import { entry, write } from '../../support/sprint-script.ts';

const BACKLOG: readonly BacklogEntry[] = [
  entry('b-old', { version: 3 }),
  entry('b-other'),
  entry('b-taken', { state: 'selected' }),
  entry('b-done', { state: 'done' }),
  entry('b-gone', { state: 'dropped', dropped: 'no use' }),
  entry('b-blocked', { state: 'blocked' }),
];
const apply = (writes: readonly Json[], sources = ['sprint:s']) =>
  writeBacklog(BACKLOG, backlogWritesSchema.parse(writes), { now: 9, sources });
const on = (id: string, version: number, op: string, more: Record<string, Json> = {}): Json =>
  write(id, { title: null, kind: null, acceptance: null, priority: null, op, version, ...more });

describe('writes of a planner', () => {
  it('add, update, reprioritise, dedupe and drop items, each with a receipt', () => {
    const written = apply([
      write('b-new'),
      on('b-old', 3, 'update', { title: 'Make it better' }),
      on('b-other', 1, 'dedupe', { same_as: 'b-new' }),
      on('b-blocked', 1, 'reprioritise', { priority: 90 }),
    ]);
    if (written.problems !== undefined) throw new Error(written.problems.join('\n'));
    expect(written.receipts).toEqual([
      { op: 'add', id: 'b-new', version: 1 },
      { op: 'update', id: 'b-old', version: 4 },
      { op: 'dedupe', id: 'b-other', version: 2 },
      { op: 'reprioritise', id: 'b-blocked', version: 2 },
    ]);
    expect(written.items.get('b-new')).toMatchObject({ source: 'sprint:s', createdAt: 9, updatedAt: 9, version: 1 });
    expect(written.items.get('b-old')).toMatchObject({ title: 'Make it better', createdAt: 1, updatedAt: 9 });
    expect(written.items.get('b-other')).toMatchObject({ dropped: 'the same as b-new' });
    expect(Object.keys(written.items.get('b-old') ?? {})).not.toContain('state');
  });

  it.each<[string, readonly Json[], string]>([
    ['an id that no item has', [on('b-none', 1, 'drop', { reason: 'x' })], 'the backlog has no such item'],
    ['a stale version', [on('b-old', 2, 'drop', { reason: 'x' })], 'its version is 3, and this write is of 2'],
    [
      'a version that no one wrote',
      [on('b-old', 4, 'drop', { reason: 'x' })],
      'its version is 3, and this write is of 4',
    ],
    ['a version of a new item', [write('b-new', { version: 1 })], 'the version of a new item is 0'],
    ['an id that is taken', [write('b-old')], 'there is an item with this id already'],
    ['an id that is no id', [write('B New')], 'its id must be'],
    ['an item of a sprint that runs', [on('b-taken', 1, 'drop', { reason: 'x' })], 'it is selected'],
    ['an item that is done', [on('b-done', 1, 'reprioritise', { priority: 1 })], 'it is done'],
    ['an item that is gone', [on('b-gone', 1, 'update', { priority: 1 })], 'it is dropped'],
    [
      'one item twice',
      [write('b-new'), on('b-new', 1, 'drop', { reason: 'x' })],
      'that an earlier one of this answer writes',
    ],
    ['no title', [write('b-new', { title: '  ' })], 'it needs a title'],
    ['no acceptance', [write('b-new', { acceptance: [' '] })], 'at least one acceptance criterion'],
    ['no priority', [on('b-old', 3, 'reprioritise')], 'it names no priority'],
    ['no change', [on('b-old', 3, 'update')], 'it changes nothing'],
    ['no reason', [on('b-old', 3, 'drop')], 'it gives no reason'],
    ['no other item', [on('b-old', 3, 'dedupe')], 'it names no item in `same_as`'],
    ['itself as the other', [on('b-old', 3, 'dedupe', { same_as: 'b-old' })], 'it is the same as itself'],
    ['another that is gone', [on('b-old', 3, 'dedupe', { same_as: 'b-gone' })], 'is dropped'],
    ['a source that is none', [write('b-new', { source: 'request:r-9' })], 'its source must be one of sprint:s'],
  ])('are all refused with %s', (_, writes, problem) => {
    const written = apply([write('b-good'), ...writes]);
    expect(written).toEqual({ problems: expect.arrayContaining([expect.stringContaining(problem)]) });
  });

  it('name a source where there are several', () => {
    const sources = ['request:r-1', 'request:r-2'];
    expect(apply([write('b-new')], sources).problems?.join('')).toContain(
      'it names no source; one of request:r-1, request:r-2',
    );
    expect(apply([write('b-new', { source: 'request:r-2' })], sources).problems).toBeUndefined();
  });

  it('never change an item that they may not, whatever they say', () => {
    const id = fc.constantFrom(...BACKLOG.map((item) => item.id), 'b-new', 'b-x', 'B', '');
    const text = fc.constantFrom(null, '', ' ', 'a title');
    const any = fc.record({
      op: fc.constantFrom('add', 'update', 'dedupe', 'reprioritise', 'drop'),
      ...{ id, same_as: fc.option(id), version: fc.integer({ min: -1, max: 4 }), title: text, reason: text },
      kind: fc.constantFrom(null, 'bug'),
      acceptance: fc.constantFrom(null, [], [''], ['it works']),
      priority: fc.option(fc.integer({ min: 0, max: 100 })),
      source: fc.constantFrom(null, 'sprint:s', 'sprint:t'),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 6 }), (writes) => {
        const written = apply(writes as Json[]);
        if (written.problems !== undefined) return written.problems.length > 0;
        const before = new Map(BACKLOG.map((item) => [item.id, item]));
        return [...written.items].every(([one, item]) => {
          const old = before.get(one);
          if (old === undefined) return item.version === 1 && one.startsWith('b-');
          return item.version === old.version + 1 && ['pending', 'blocked'].includes(old.state);
        });
      }),
      { numRuns: 300 },
    );
  });
});
