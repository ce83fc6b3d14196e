import { describe, expect, it } from 'vitest';
import { OBJECTIVE_ROLES, objectiveCast, unstaffed } from '../../src/playbooks/objective/roles.ts';
import { isWholeRole, ownText } from '../../src/squad/preflight/roles.ts';
import { member } from './simulator.ts';

const castOn = (...runtimes: string[]) =>
  Object.fromEntries(objectiveCast({ runtimes, members: 4 }).map(({ name, runtime }) => [name, runtime]));

describe('the six personas', () => {
  it.each([
    [['a'], { pm: 'a', ba: 'a', writer: 'a', 'builder-1': 'a', 'builder-2': 'a', reviewer: 'a' }],
    [['a', 'b'], { pm: 'a', ba: 'a', writer: 'a', 'builder-1': 'a', 'builder-2': 'a', reviewer: 'b' }],
    [['a', 'b', 'c'], { pm: 'c', ba: 'a', writer: 'a', 'builder-1': 'a', 'builder-2': 'c', reviewer: 'b' }],
    [['a', 'b', 'c', 'd'], { pm: 'c', ba: 'a', writer: 'd', 'builder-1': 'a', 'builder-2': 'c', reviewer: 'b' }],
  ])('are spread over %j', (runtimes, expected) => {
    expect(castOn(...runtimes)).toEqual(expected);
  });

  it.each([
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c', 'd', 'e'],
  ])('keep the reviewer’s model from its own work: %s', (...runtimes) => {
    const { reviewer, ...authors } = castOn(...runtimes);
    expect(Object.values(authors)).not.toContain(reviewer);
  });

  it('have roles that are whole', () => {
    const roles = new Set(objectiveCast({ runtimes: ['a'], members: 4 }).map(({ role }) => role));
    expect([...roles].toSorted()).toEqual(Object.keys(OBJECTIVE_ROLES).toSorted());
    for (const role of Object.values(OBJECTIVE_ROLES)) expect(isWholeRole(ownText(role))).toBe(true);
  });
});

it('names each persona that a roster lacks, with the line to add', () => {
  const roster = [member('one', 'pm'), member('two', 'builder')];
  expect(unstaffed(roster)).toEqual([
    expect.stringMatching(/role ba; add it to agents: - \{ name: ba, role: ba, runtime: \S+, access: edit \}$/),
    expect.stringMatching(/role reviewer; .* access: read-only \}$/),
  ]);
  expect(unstaffed(['pm', 'ba', 'builder', 'reviewer'].map((role) => member(role, role)))).toEqual([]);
});
