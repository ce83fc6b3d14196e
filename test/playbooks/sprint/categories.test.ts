import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/text/json.ts';
import { CATEGORIES } from '../../../src/model/sprint/transition.ts';
import { APPROVES, playSprint, progressIn, rejectsFor, todoStates, turnsOf } from './support.ts';

const ROUNDS = 4;
const FIRST: Readonly<Record<(typeof CATEGORIES)[number], string>> = {
  scope: 'b-one',
  ux: 'b-one',
  architecture: 'b-one-guide',
  implementation: 'b-one-build',
  verification: 'b-one-build',
};

const rows = (['architect', 'qa'] as const).flatMap((role) =>
  CATEGORIES.flatMap((category) => [1, 2, 3, ROUNDS].map((rejections) => ({ role, category, rejections }))),
);

describe('a rejection with a category', () => {
  it.each(rows)('$category by $role, $rejections times in a row', ({ role, category, rejections }) => {
    const said: Json[] = Array.from({ length: rejections }, (_, at) => ({
      ...(rejectsFor(category) as Record<string, Json>),
      findings: (rejectsFor(`${category} ${at}`) as { findings: Json }).findings,
    }));
    const played = playSprint({ items: ['b-one'], answers: { [`b-one-build/${role}`]: [...said, APPROVES] } });
    const isOver = rejections >= ROUNDS;
    expect(todoStates(played)).toEqual([`b-one ${isOver ? 'failed' : 'committed'}`]);
    expect(progressIn(played).todos[0]?.reopened).toEqual({ [category]: rejections });
    const turns = turnsOf(played).filter((one) => one.startsWith('b-one'));
    const rejected = turns.flatMap((one, at) => (one === `b-one-build/${role}` ? [at] : []));
    const next = rejected.slice(0, Math.min(rejections, ROUNDS - 1)).map((at) => turns[at + 1]);
    expect(next).toEqual(next.map(() => FIRST[category]));
    // Whatever was opened again leads back to the work, and the last rejection ends the todo.
    expect(turns.filter((one) => one === 'b-one-build')).toHaveLength(Math.min(rejections + 1, ROUNDS));
    expect(turnsOf(played).at(-1)).toBe('report');
  });

  it('gives the planner and the architect what was found, and the developer the new answers', () => {
    const played = playSprint({ items: ['b-one'], answers: { 'b-one-build/qa': [rejectsFor('scope'), APPROVES] } });
    const again = played.turns.filter(({ task, review }) => task === 'b-one' && review === null)[1];
    expect(again?.prompt).toMatchObject({ text: expect.stringMatching(/^QA rejected b-one-build for its scope:/) });
    const builds = played.turns.filter(({ task, review }) => task === 'b-one-build' && review === null);
    expect(builds.map(({ session }) => session.resume)).toEqual([true, false]);
  });
});
