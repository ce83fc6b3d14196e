import { expect, it } from 'vitest';
import { attachmentsOfItem, eachOnce, referencesOf } from '../../../src/model/sprint/references.ts';
import type { Attachment } from '../../../src/model/sprint/request.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { readTeam } from '../../../src/model/sprint/team.ts';

const file = (name: string, hash = name): Attachment => ({
  id: hash.slice(0, 8),
  name,
  bytes: 1,
  sha256: hash.repeat(64).slice(0, 64),
});
const request = (attachments: Attachment[], more: object = {}) => ({
  ...{ text: 'a form', by: 'Ann', at: 1, fingerprint: 'form', attachments, joined: [], ...more },
});
const plan = (...items: string[]) => ({ outcome: 'planned', items, answer: 'yes', at: 1 });
const kickoff = {
  ...{ milestone: 'm', text: '', items: [], attachments: [file('a')], by: 'Ann', trigger: 'person' as const },
};
const records: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  [KINDS.request]: {
    'r-1': request([file('a'), file('b')]),
    'r-2': request([file('b'), file('b', 'c')]),
    'r-3': request([file('d')], { reopens: 'i-1' }),
    'r-4': request([file('e')]),
  },
  [KINDS.requestPlan]: { 'r-1': plan('i-1'), 'r-2': plan('i-1', 'i-2'), 'r-4': plan('i-3') },
  [KINDS.sprint]: { s: { kickoff, run: 'u', base: 'c', at: 1, until: null } },
  [KINDS.progress]: {
    s: {
      ...{ state: 'running', phase: 'BUILD', at: 1, routed: [], routes: [] },
      todos: ['i-1', 'i-2', 'i-9'].map((item) => ({ id: `t-${item}`, item, title: item, state: 'queued' })),
    },
  },
};
const team = readTeam((kind) => Object.entries(records[kind] ?? {}).map(([id, value]) => ({ id, value })));
const names = (files: readonly Attachment[]): string[] => files.map(({ id, name }) => `${id}/${name}`);

it('an item has the files of all that asked for it, each once, and no other', () => {
  expect(names(attachmentsOfItem(team, 'i-1'))).toEqual(['a/a', 'b/b', 'c/b', 'd/d']);
  expect(names(attachmentsOfItem(team, 'i-2'))).toEqual(['b/b', 'c/b']);
  expect(attachmentsOfItem(team, 'i-9')).toEqual([]);
});

it('a sprint refers to the files of its start, and to those of the items that it has selected', () => {
  const { own, ofItems } = referencesOf(team, 's');
  expect(names(own)).toEqual(['a/a']);
  expect([...ofItems].map(([item, files]) => [item, names(files)])).toEqual([
    ['i-1', ['a/a', 'b/b', 'c/b', 'd/d']],
    ['i-2', ['b/b', 'c/b']],
  ]);
  expect(names(eachOnce([...own, ...[...ofItems.values()].flat()]))).toEqual(['a/a', 'b/b', 'c/b', 'd/d']);
  expect(referencesOf(team, 'none')).toEqual({ own: [], ofItems: new Map() });
});
