import { commit, leave, objective, settings, type Scenario } from './scenario-parts.ts';
import { ALL_FIXED, finding } from './findings.ts';

const reader = (name: string, role: string): object => ({ name, role, access: 'read-only' });
const writer = (name: string, role: string): object => ({ name, role });

interface Verdict {
  readonly approved: boolean;
  readonly text?: string;
}

/** What the reviewer that did the guide says at its n-th look, in the session of the guide. */
const verdict = ({ approved, text }: Verdict, more: object = {}): object => ({
  approved,
  summary: approved ? 'good' : 'not yet',
  findings: text === undefined ? [] : [finding(text)],
  settled: ALL_FIXED,
  ...more,
});

const HOW = {
  ...{ type: 'object', properties: { how: { type: 'string' } }, required: ['how'] },
  additionalProperties: false,
};

/** A review that leads back to the stage before, whose answer is another one then. */
export const REVIEW_REOPENS: Scenario = {
  name: 'a review that reopens a stage',
  objective: objective('Reopen a stage', 'grep -q better page.txt'),
  settings: (script, effects) =>
    settings(
      [writer('bob', 'builder'), reader('ada', 'architect'), { ...reader('quinn', 'qa'), model: 'qa' }],
      script,
      effects,
      {},
      {
        playbook: {
          stages: [
            { id: 'GUIDE', by: ['architect'], brief: 'Say how.', makes: { answer: HOW } },
            {
              ...{ id: 'BUILD', by: ['builder'], brief: 'Build it: {of:GUIDE}', makes: 'code' },
              review: { id: 'QA', by: ['qa'], reopens: { code: 'author', design: { stage: 'GUIDE' } } },
            },
          ],
        },
      },
    ),
  script: (effects) => {
    const write = (text: string) => ({ write: { path: 'page.txt', text } });
    const says = (approved: boolean, category: string | null, text?: string): object =>
      verdict({ approved, ...(text === undefined ? {} : { text }) }, { category, ...NOTHING_MISSING });
    return {
      turns: [
        { model: 'qa', turn: 1, steps: [leave('qa-1', effects)], structured: says(false, 'design', 'too plain') },
        { model: 'qa', turn: 2, steps: [leave('qa-2', effects)], structured: says(true, null) },
        { when: 'Task guide is open again', steps: [leave('again', effects)], structured: { how: 'better' } },
        { when: '# Task guide:', steps: [leave('guide', effects)], structured: { how: 'plain' } },
        {
          when: '"how": "better"',
          steps: [leave('mend', effects), write('better\n'), ...commit('Mend it'), { answer: 'mended' }],
        },
        {
          when: '# Task build:',
          steps: [leave('build', effects), write('plain\n'), ...commit('Make it'), { answer: 'done' }],
        },
      ],
    };
  },
};

const NOTHING_MISSING = { required_inputs: [], recommended_next_step: null };

/** Two reviews, one after the other. The first goes on in the session of a stage before; the second sends the work back once. */
export const REVIEWS_IN_ORDER: Scenario = {
  name: 'reviews in order',
  objective: objective('Reviews in order', 'grep -q better page.txt'),
  settings: (script, effects) =>
    settings(
      [writer('bob', 'builder'), reader('ada', 'architect'), { ...reader('quinn', 'qa'), model: 'qa' }],
      script,
      effects,
      {},
      {
        playbook: {
          stages: [
            {
              ...{ id: 'GUIDE', by: ['architect'], brief: 'Say how.' },
              makes: { answer: HOW },
            },
            {
              ...{ id: 'BUILD', by: ['builder'], brief: 'Build it: {of:GUIDE}', makes: 'code' },
              review: [
                { id: 'DESIGN', by: ['architect'], session: { of: 'GUIDE' } },
                { id: 'QA', by: ['qa'], rounds: 2 },
              ],
            },
          ],
        },
      },
    ),
  script: (effects) => {
    const write = (text: string) => ({ write: { path: 'page.txt', text } });
    return {
      turns: [
        {
          model: 'qa',
          turn: 1,
          steps: [leave('qa-1', effects)],
          structured: verdict({ approved: false, text: 'too plain' }),
        },
        { model: 'qa', turn: 2, steps: [leave('qa-2', effects)], structured: verdict({ approved: true }) },
        { when: '# Task guide:', steps: [leave('guide', effects)], structured: { how: 'well' } },
        {
          when: '# Review of task',
          turn: 2,
          steps: [leave('design-1', effects)],
          structured: verdict({ approved: true }),
        },
        {
          when: '# Review of task',
          turn: 3,
          steps: [leave('design-2', effects)],
          structured: verdict({ approved: true }),
        },
        {
          when: 'was rejected in review',
          steps: [leave('mend', effects), write('better\n'), ...commit('Mend it'), { answer: 'mended' }],
        },
        {
          when: '# Task build:',
          steps: [leave('build', effects), write('plain\n'), ...commit('Make it'), { answer: 'done' }],
        },
      ],
    };
  },
};

const TASKS = (ids: readonly string[]): object[] =>
  ids.map((id) => ({
    ...{ id, title: `Make ${id}`, brief: `Write ${id}.txt.`, needs: [] },
    ...{ paths: [`${id}.txt`], acceptance: [`${id}.txt is there`] },
  }));

/** Two entries that go through two stages, each at its own pace, with the answer of the first in the brief of the second. */
export const ENTRIES: Scenario = {
  name: 'entries without a barrier',
  objective: objective('Entries', 'cat left.txt right.txt'),
  settings: (script, effects) =>
    settings(
      [writer('bob', 'builder'), writer('bea', 'builder'), reader('ada', 'architect')],
      script,
      effects,
      {},
      {
        playbook: {
          stages: [
            { id: 'PLAN', by: ['architect'], brief: 'Plan it.', makes: { answer: 'tasks' } },
            { id: 'GUIDE', by: ['architect'], brief: 'Guide {item:id}.', each: { of: 'PLAN' }, makes: { answer: HOW } },
            {
              id: 'BUILD',
              by: ['builder'],
              brief: 'Build {item:id}: {of:GUIDE}',
              each: { of: 'GUIDE' },
              makes: 'code',
            },
          ],
        },
      },
    ),
  script: (effects) => ({
    turns: [
      { when: '# Task plan:', steps: [leave('plan', effects)], structured: { tasks: TASKS(['left', 'right']) } },
      ...['left', 'right'].flatMap((id) => [
        {
          when: `"how": "as ${id}"`,
          steps: [
            leave(`build-${id}`, effects),
            { write: { path: `${id}.txt`, text: `${id}\n` } },
            ...commit(`Make ${id}`),
            { answer: 'done' },
          ],
        },
        { when: `# Task ${id}:`, steps: [leave(`guide-${id}`, effects)], structured: { how: `as ${id}` } },
      ]),
    ],
  }),
};

/** One entry: another agent commits what its author left, and a judge sends it back once. */
export const JUDGED_ENTRY: Scenario = {
  name: 'a commit and a verdict for each entry',
  objective: objective('Judged entry', 'grep -q better page.txt'),
  settings: (script, effects) =>
    settings(
      [
        { ...writer('bob', 'builder'), commits: false },
        writer('cam', 'committer'),
        reader('ada', 'architect'),
        { ...reader('quinn', 'qa'), model: 'qa' },
      ],
      script,
      effects,
      {},
      {
        playbook: {
          stages: [
            { id: 'PLAN', by: ['architect'], brief: 'Plan it.', makes: { answer: 'tasks' } },
            { id: 'BUILD', by: ['builder'], brief: 'Build {item:id}.', each: { of: 'PLAN' }, makes: 'code' },
            {
              ...{ id: 'COMMIT', by: ['committer'], brief: 'Commit what is staged.' },
              ...{ each: { of: 'BUILD' }, makes: { commit: true } },
            },
            {
              ...{ id: 'TEST', by: ['qa'], brief: 'Test {item:id}.', each: { of: 'COMMIT' } },
              ...{ makes: { answer: 'verdict' }, judges: { rounds: 3, else: { redo: 'BUILD' } } },
            },
          ],
        },
      },
    ),
  script: (effects) => {
    const write = (text: string) => ({ write: { path: 'page.txt', text } });
    const finding = { file: 'page.txt', line: 1, problem: 'too plain', suggestion: null };
    const says = (approved: boolean): object => ({
      ...{ approved, summary: approved ? 'good' : 'not yet', findings: approved ? [] : [finding], criteria: [] },
    });
    return {
      turns: [
        { when: '# Task plan:', steps: [leave('plan', effects)], structured: { tasks: PAGE } },
        { model: 'qa', turn: 1, steps: [leave('test-1', effects)], structured: says(false) },
        { model: 'qa', turn: 2, steps: [leave('test-2', effects)], structured: says(true) },
        {
          when: 'Task page-commit is open again',
          steps: [leave('commit-2', effects), ...commit('Mend the page'), { answer: 'done' }],
        },
        {
          when: '# Task page-commit:',
          steps: [leave('commit', effects), ...commit('Add the page'), { answer: 'done' }],
        },
        { when: 'Task page is open again', steps: [leave('again', effects), write('better\n'), { answer: 'better' }] },
        { when: '# Task page:', steps: [leave('build', effects), write('plain\n'), { answer: 'done' }] },
      ],
    };
  },
};

const PAGE = [
  {
    ...{ id: 'page', title: 'Make the page', brief: 'Write page.txt.', needs: [] },
    ...{ paths: ['page.txt'], acceptance: ['page.txt is good'] },
  },
];

const asks = (question: string): object => ({
  ...{ mcp: 'squad', tool: 'ask' },
  arguments: { to: ['designer'], question, context: 'none', code_path: 'page.txt' },
});

/** A stage that asks for advice once, and whose second question is refused. */
export const ASKS: Scenario = {
  name: 'advice that is capped',
  objective: objective('Ask for advice', 'grep -q blue page.txt'),
  settings: (script, effects) =>
    settings(
      [writer('bob', 'builder'), reader('dee', 'designer')],
      script,
      effects,
      {},
      {
        playbook: {
          stages: [
            {
              ...{ id: 'BUILD', by: ['builder'], brief: 'Paint it.', makes: 'code' },
              asks: { of: ['designer'], most: 1 },
            },
          ],
        },
      },
    ),
  script: (effects) => ({
    turns: [
      {
        when: 'has had its 1 question',
        steps: [
          leave('paint', effects),
          { write: { path: 'page.txt', text: 'blue\n' } },
          ...commit('Paint it'),
          { answer: 'done' },
        ],
      },
      {
        when: '# Task answer-',
        steps: [leave('answer', effects), { answer: 'blue' }],
        structured: { answer: 'blue', doc_updated: false, doc_path: '', reason: 'a matter of taste' },
      },
      { when: '# Task build:', steps: [leave('ask', effects), asks('Which colour?'), { answer: 'wait' }] },
      { when: 'blue', steps: [leave('ask-again', effects), asks('Which blue?'), { answer: 'wait' }] },
    ],
  }),
};

/** The run waits for a person, and goes on once the work is approved. */
export const APPROVAL: Scenario = {
  name: 'a person who judges',
  objective: objective('Have it approved', 'grep -q better page.txt'),
  settings: (script, effects) =>
    settings(
      [writer('bob', 'builder')],
      script,
      effects,
      {},
      {
        playbook: {
          stages: [
            { id: 'BUILD', by: ['builder'], brief: 'Build it.', makes: 'code' },
            {
              ...{ id: 'SIGN_OFF', brief: 'Is it good?', makes: { approval: true } },
              judges: { rounds: 2, else: { redo: 'BUILD' } },
            },
            { id: 'SHIP', by: ['builder'], brief: 'Ship it.', makes: 'code' },
          ],
        },
      },
    ),
  script: (effects) => {
    const turn = (id: string, text: string) => ({
      when: `# Task ${id}:`,
      steps: [leave(id, effects), { write: { path: 'page.txt', text } }, ...commit(id), { answer: 'done' }],
    });
    return { turns: [turn('build', 'plain\n'), turn('ship', 'better\n')] };
  },
  operator: { 3: { commands: [['answer', 'approve']], resume: [] } },
};
