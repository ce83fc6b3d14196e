import {
  builders,
  commit,
  leave,
  objective,
  pieceTurn,
  PLANNER,
  planTurn,
  REVIEWER,
  reviewTurn,
  settings,
  type Scenario,
} from './scenario-parts.ts';

/** Plan → two pieces side by side, each of which takes its time → one that is made of both. */
export function fanOut(sleepMs: number): Scenario {
  return {
    name: 'fan-out',
    objective: objective('Fan out', 'test "$(cat both.txt)" = "$(cat left.txt right.txt)"'),
    settings: (script, effects) => settings([PLANNER, ...builders(2)], script, effects),
    script: (effects) => {
      const takesTime = sleepMs === 0 ? [] : [{ sleep: sleepMs }];
      const join = { run: ['/bin/sh', '-c', 'cat left.txt right.txt > both.txt'] };
      const both = {
        when: '# Task both:',
        steps: [leave('both', effects), join, ...commit('Make both'), { answer: 'done' }],
      };
      const [left, right] = [pieceTurn('left', effects, takesTime), pieceTurn('right', effects, takesTime)];
      /** The turn after one that its engine ended. */
      const again = (id: string, turn: object): object => ({ ...turn, when: `on task ${id} was cut short` });
      return {
        turns: [
          planTurn(
            [
              { id: 'left', needs: [] },
              { id: 'right', needs: [] },
              { id: 'both', needs: ['left', 'right'] },
            ],
            effects,
          ),
          both,
          left,
          right,
          ...Object.entries({ both, left, right }).map(([id, turn]) => again(id, turn)),
        ],
      };
    },
  };
}

export const FAN_OUT = fanOut(0);

/** One piece that its reviewer sends back once, and approves in the same session. */
export const REVIEW: Scenario = {
  name: 'review',
  objective: objective('Review', 'grep -q better page.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(1), REVIEWER], script, effects),
  script: (effects) => {
    const write = (text: string) => ({ write: { path: 'page.txt', text } });
    return {
      turns: [
        planTurn([{ id: 'page', needs: [] }], effects),
        {
          when: 'was rejected in review',
          turn: 2,
          steps: [leave('mend', effects), write('better\n'), ...commit('Mend the page'), { answer: 'mended' }],
        },
        reviewTurn(1, 'reject', 'page.txt is too plain', effects),
        reviewTurn(2, 'approve', undefined, effects),
        {
          when: '# Task page:',
          turn: 1,
          steps: [leave('page', effects), write('plain\n'), ...commit('Make the page'), { answer: 'done' }],
        },
      ],
    };
  },
};

/** One piece whose first reviewer never gives a verdict, so that another one does. */
export const SILENT_REVIEWER: Scenario = {
  name: 'silent-reviewer',
  objective: objective('Silent reviewer', 'test -f page.txt'),
  settings: (script, effects) => {
    const other = { ...REVIEWER, name: 'reviewer-2' };
    return settings([PLANNER, ...builders(1), { ...REVIEWER, model: 'mute' }, other], script, effects);
  },
  script: (effects) => ({
    turns: [
      planTurn([{ id: 'page', needs: [] }], effects),
      { model: 'mute', steps: [leave('mute', effects), { answer: 'fine' }] },
      reviewTurn(1, 'approve', undefined, effects),
      pieceTurn('page', effects),
    ],
  }),
};
