import { expect, it } from 'vitest';
import type { Kickoff, SprintEnd, SprintProgress } from '../../../src/model/sprint/sprint.ts';
import { readTeam, type Team } from '../../../src/model/sprint/team.ts';
import { estimateText } from '../../../src/rules/sprint/sprint-estimate.ts';

interface Past {
  readonly minutes: number;
  readonly todos?: number;
  readonly outcome?: SprintEnd['outcome'];
}

function teamAfter(sprints: readonly Past[]): Team {
  const of = <T>(make: (past: Past) => T): ReadonlyMap<string, T> =>
    new Map(sprints.map((past, at) => [`s-${at}`, make(past)]));
  const kickoff: Kickoff = { milestone: 'm', text: 'm', items: [], attachments: [], by: 'ada', trigger: 'person' };
  return {
    ...readTeam(() => []),
    sprint: of(() => ({ kickoff, run: 'x', base: 'c', at: 0, until: null })),
    end: of(({ minutes, outcome = 'completed' }) => ({ outcome, head: null, at: minutes * 60_000 })),
    progress: of(({ todos = 2 }): SprintProgress => {
      const one = (at: number) => ({ id: `t-${at}`, item: `b-${at}`, title: 'x', state: 'committed' as const });
      return { state: 'completed', phase: 'REPORT', todos: Array.from({ length: todos }, (_, at) => one(at)), at: 0 };
    }),
  };
}

const NONE = 'no estimate: fewer than three sprints of this repository were completed';
const TEN = Array.from({ length: 10 }, (_, at) => ({ minutes: (at + 1) * 10 }));

it.each<[string, readonly Past[], string]>([
  ['no sprint', [], NONE],
  ['two', [{ minutes: 10 }, { minutes: 20 }], NONE],
  ['two and a failed one', [{ minutes: 10 }, { minutes: 20 }, { minutes: 30, outcome: 'failed' }], NONE],
  ['two and one without todos', [{ minutes: 10 }, { minutes: 20 }, { minutes: 30, todos: 0 }], NONE],
  [
    'three',
    [{ minutes: 10 }, { minutes: 20, todos: 4 }, { minutes: 60 }],
    'by the last 3 sprints, half took at most 20 min, nine of ten at most 60 min; per todo 5 and 30 min',
  ],
  ['ten', TEN, 'by the last 10 sprints, half took at most 55 min, nine of ten at most 90 min; per todo 28 and 45 min'],
  [
    'twenty, which do not count what was before them',
    [...TEN.map(() => ({ minutes: 900 })), ...Array.from({ length: 20 }, () => ({ minutes: 30 }))],
    'by the last 20 sprints, half took at most 30 min, nine of ten at most 30 min; per todo 15 and 15 min',
  ],
])('the estimate for the todos of a sprint after %s', (_, sprints, text) => {
  expect(estimateText(teamAfter(sprints))).toBe(text);
});
