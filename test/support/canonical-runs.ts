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
  type Piece,
  type Scenario,
} from './scenario-parts.ts';

/** Between the refusal and the reset: long enough that a killed engine is back before it. */
const RESET_MS = 2_500;

/** Pieces that need each other as they say, each made in one turn. */
function pieces(name: string, title: string, plan: readonly Piece[]): Scenario {
  const all = plan.map(({ id }) => `${id}.txt`).join(' ');
  return {
    name,
    objective: objective(title, `cat ${all}`),
    settings: (script, effects) => settings([PLANNER, ...builders(plan.length)], script, effects, { parallel: 4 }),
    script: (effects) => ({ turns: [planTurn(plan, effects), ...plan.map(({ id }) => pieceTurn(id, effects))] }),
  };
}

const SINGLE = pieces('single task', 'Single task', [{ id: 'only', needs: [] }]);

const FAN_OUT_4 = pieces(
  'fan-out of 4',
  'Fan out to four',
  ['north', 'east', 'south', 'west'].map((id) => ({ id, needs: [] })),
);

const DIAMOND = pieces('diamond', 'Diamond', [
  { id: 'top', needs: [] },
  { id: 'left', needs: ['top'] },
  { id: 'right', needs: ['top'] },
  { id: 'bottom', needs: ['left', 'right'] },
]);

/** Rejected three times for another reason each, and approved in the last round that there is. */
const REVIEW_LOOP: Scenario = {
  name: 'review loop of 4',
  objective: objective('Review loop', 'grep -q "^4" page.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(1), REVIEWER], script, effects, { reviewRounds: 4 }),
  script: (effects) => {
    const findings = ['the title is missing', 'no example is given', 'links lead nowhere'];
    const write = (round: number) => ({ write: { path: 'page.txt', text: `${round}\n` } });
    const mend = (round: number) => ({
      when: 'was rejected in review',
      turn: round,
      steps: [leave(`mend-${round}`, effects), write(round), ...commit(`Round ${round}`), { answer: 'mended' }],
    });
    return {
      turns: [
        planTurn([{ id: 'page', needs: [] }], effects),
        ...[2, 3, 4].map(mend),
        ...findings.map((finding, index) => reviewTurn(index + 1, `reject-${index + 1}`, finding, effects)),
        reviewTurn(4, 'approve', undefined, effects),
        { when: '# Task page:', steps: [leave('page', effects), write(1), ...commit('Make it'), { answer: 'done' }] },
      ],
    };
  },
};

/** Waits for what another process does, at most a minute. */
function until(condition: string, ...values: string[]): { run: string[] } {
  const loop = `n=0; until ${condition}; do n=$((n+1)); [ $n -lt 1200 ] || exit 1; sleep 0.05; done`;
  return { run: ['/bin/sh', '-c', loop, ...values] };
}

/** A run that is killed as it is made leaves its name behind: the one that counts may be called `merge-conflict-2`. */
const USERS_GIT = 'git --git-dir="$(sed -n "2s|/objects$||p" .git/objects/info/alternates)"';
const RUN_BRANCH = `${USERS_GIT} for-each-ref --format="%(objectname)" "refs/heads/squad/merge-conflict*" | tail -n 1`;

/** Two pieces write one file; the second goes back to its author once the first is on the run branch. */
const CONFLICT: Scenario = {
  name: 'merge conflict',
  objective: objective('Merge conflict', 'grep -q first both.txt && grep -q second both.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(2)], script, effects),
  script: (effects) => {
    const write = (text: string) => ({ write: { path: 'both.txt', text } });
    // Whoever crashes when: both begin on the same base, and `first` is delivered before `second` is done.
    const secondBegan = until('grep -q "^second " "$0"', effects);
    const firstDelivered = until(`git cat-file -e "$(${RUN_BRANCH}):both.txt" 2>/dev/null`);
    return {
      turns: [
        planTurn(
          ['first', 'second'].map((id) => ({ id, needs: [] })),
          effects,
        ),
        {
          when: '# Task first:',
          steps: [leave('first', effects), secondBegan, write('first\n'), ...commit('First'), { answer: 'done' }],
        },
        {
          when: 'cannot be merged',
          steps: [
            leave('mend', effects),
            { run: ['/bin/sh', '-c', `git merge --quiet "$(${RUN_BRANCH})" >/dev/null 2>&1`] },
            write('first\nsecond\n'),
            ...commit('Both'),
            { answer: 'merged' },
          ],
        },
        {
          when: '# Task second:',
          steps: [leave('second', effects), write('second\n'), ...commit('Second'), firstDelivered, { answer: 'done' }],
        },
      ],
    };
  },
};

/** The author cannot log in: a person is asked, and answers. */
const QUESTION: Scenario = {
  name: 'human question',
  objective: objective('Human question', 'grep -q only only.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(1)], script, effects),
  script: (effects) => ({
    turns: [
      planTurn([{ id: 'only', needs: [] }], effects),
      {
        when: '# Task only:',
        turn: 1,
        steps: [leave('refused', effects), { fail: { kind: 'auth', message: 'log in first' } }],
      },
      { ...pieceTurn('only', effects), when: '', turn: 2 },
    ],
  }),
  operator: { 3: { commands: [['answer', 'try again']], resume: [] } },
};

/** The third turn is over the cap: nothing starts until somebody has raised it. */
const BUDGET: Scenario = {
  name: 'budget stop',
  objective: objective('Budget stop', 'grep -q only only.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(1), REVIEWER], script, effects, { turns: 2 }),
  script: (effects) => ({
    turns: [
      planTurn([{ id: 'only', needs: [] }], effects),
      pieceTurn('only', effects),
      reviewTurn(1, 'approve', undefined, effects),
    ],
  }),
  operator: { 4: { commands: [], resume: ['--max-turns', '20'] } },
};

/** The author's account is used up; it goes on in the same session when that is over. */
const USAGE_LIMIT: Scenario = {
  name: 'usage limit',
  objective: objective('Usage limit', 'grep -q only only.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(1)], script, effects, { retries: 0 }),
  script: (effects) => {
    const fail = { kind: 'rate-limited', message: 'come back later', retryIn: RESET_MS };
    return {
      turns: [
        planTurn([{ id: 'only', needs: [] }], effects),
        { when: '# Task only:', turn: 1, steps: [leave('refused', effects), { fail }] },
        { ...pieceTurn('only', effects), when: '', turn: 2 },
      ],
    };
  },
};

/** One of each kind that a user can have. `FAN_OUT` and `REVIEW` are killed at every failpoint beside them. */
export const CANONICAL_RUNS: readonly Scenario[] = [
  SINGLE,
  FAN_OUT_4,
  DIAMOND,
  REVIEW_LOOP,
  CONFLICT,
  QUESTION,
  BUDGET,
  USAGE_LIMIT,
];
