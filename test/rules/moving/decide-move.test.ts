import { describe, expect, it } from 'vitest';
import type { MovedMark } from '../../../src/model/moved-mark.ts';
import { decideMove, type MoveSide } from '../../../src/rules/moving/decide-move.ts';

const [M1, M2] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

const side = (id: string | undefined, hasRuns: boolean, mark?: MovedMark): MoveSide => ({
  shown: `${id ?? 'new'}:/r`,
  hasRuns,
  ...(id === undefined ? {} : { id }),
  ...(mark === undefined ? {} : { mark }),
});
const mark = (type: MovedMark['type'], move: string, id: string): MovedMark => ({
  version: 1,
  type,
  move,
  at: 0,
  other: { id, shown: `${id}:/r`, url: `ssh://${id}/r` },
});

describe('the next step of a move', () => {
  it.each<[string, MoveSide, MoveSide, object]>([
    ['of runs into a clone where nothing is', side('a', true), side(undefined, false), { do: 'move' }],
    ['into one that has another state of nothing', side('a', true), side('b', false), { do: 'move' }],
    [
      'back, where a copy is left',
      side('b', true, mark('here', M1, 'a')),
      side('a', true, mark('moved', M1, 'b')),
      { do: 'move' },
    ],
    [
      'that was cut short before the end of its copy',
      side('a', true),
      side('b', true, mark('arriving', M1, 'a')),
      { do: 'move' },
    ],
    [
      'that has not let the runs go',
      side('a', true, mark('moving', M1, 'b')),
      side('b', true, mark('arriving', M1, 'a')),
      { do: 'go-back' },
    ],
    [
      'that has let them go',
      side('a', true, mark('moved', M1, 'b')),
      side('b', true, mark('arriving', M1, 'a')),
      { do: 'begin', move: M1 },
    ],
    [
      'that is done',
      side('a', true, mark('moved', M1, 'b')),
      side('b', true, mark('here', M1, 'a')),
      { do: 'begin', move: M1 },
    ],
    [
      'whose copy another move has replaced',
      side('a', true, mark('moved', M2, 'b')),
      side('b', true, mark('arriving', M1, 'a')),
      { do: 'take', move: M2 },
    ],
    ['whose copy is gone', side('a', true, mark('moved', M1, 'b')), side('b', false), { do: 'take', move: M1 }],
  ])('%s', (_, source, target, step) => {
    expect(decideMove(source, target)).toEqual(step);
  });

  it.each<[string, MoveSide, MoveSide, string]>([
    ['nothing ran', side('a', false), side('b', false), 'no run here yet'],
    ['the other one has runs of its own', side('a', true), side('b', true), 'runs of its own'],
    ['those came from elsewhere', side('a', true), side('b', true, mark('here', M1, 'c')), 'runs of its own'],
    ['others are on their way there', side('a', true), side('b', true, mark('arriving', M1, 'c')), 'not free'],
    ['its runs are at a third place', side('a', true), side('b', true, mark('moved', M1, 'c')), 'not free'],
    ['the runs are arriving here', side('a', true, mark('arriving', M1, 'c')), side('b', false), 'being moved here'],
    ['the runs are at a third place', side('a', true, mark('moved', M1, 'c')), side('b', false), 'are at ssh://c/r'],
    [
      'they went on from there',
      side('a', true, mark('moved', M1, 'b')),
      side('b', true, mark('moved', M2, 'c')),
      'are at ssh://c/r',
    ],
    ['a person has begun others there', side('a', true, mark('moved', M1, 'b')), side('b', true), 'are at ssh://b/r'],
  ])('is a refusal where %s', (_, source, target, says) => {
    const step = decideMove(source, target);
    expect(step.do === 'refuse' ? step.error.message : step).toContain(says);
  });

  it('is never one that lets both sides begin', () => {
    const marks = [undefined, ...(['moving', 'moved', 'arriving', 'here'] as const).map((type) => type)];
    for (const one of marks)
      for (const other of marks) {
        const source = side('a', true, one && mark(one, M1, 'b'));
        const target = side('b', true, other && mark(other, M1, 'a'));
        const step = decideMove(source, target);
        // What begins there has been let go here.
        if (step.do === 'begin' || step.do === 'take') expect(one).toBe('moved');
      }
  });
});
