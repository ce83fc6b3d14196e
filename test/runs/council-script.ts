import { author, commits, objective, type Entry, type Step } from './run-script.ts';

/** MAIN and three members on the scripted runtime. */
export const COUNCIL_AGENTS = [
  { name: 'main', role: 'main', runtime: 'scripted' },
  ...['a', 'b', 'c'].map((name) => ({ name, role: 'member', runtime: 'scripted' })),
];

export const COUNCIL_OBJECTIVE = objective({
  title: 'Make things',
  criteria: ['the router waits longer and longer (run: `grep -q backoff src/router.txt`)'],
}).replace('Things that were not there before', 'docs/design.md says how the router tries again, and it does so');

/** The document as it is before anybody has looked at it. */
export const COUNCIL_FILES = {
  'docs/design.md': '# Design\n\nThe router tries again.\n',
  'src/router.txt': 'try again at once\n',
};

export const ISSUE = {
  doc_path: 'docs/design.md#L3',
  code_paths: ['src/router.txt#L1'],
  category: 'func',
  severity: 'high',
  summary: 'It is not said when the router tries again.',
  suggestion: 'Say how long it waits.',
};

const NOTHING = { issues: [], summary: 'nothing to say', questions: [] };
const LOOK: readonly Step[] = [{ run: ['cat', 'docs/design.md'] }];

/** A turn that looks, says nothing by mail, and answers. */
export function answers(task: string, structured: unknown, steps: readonly Step[] = LOOK): Entry {
  return { ...author(task, [...steps, { answer: 'see the answer' }]), structured };
}

/** One round of a council in which everybody only answers. `more`: what goes first. */
export function councilScript(more: readonly Entry[] = []): Entry[] {
  return [
    ...more,
    answers('review-1', { issues: [ISSUE], summary: 'one issue', questions: [] }),
    answers('review-2', NOTHING),
    answers('review-3', NOTHING),
    {
      ...author('improve-1', commits({ 'docs/design.md': '# Design\n\nThe router tries again with a backoff.\n' })),
      structured: { changes_summary: 'It says that the wait grows.' },
    },
    ...[1, 2, 3].map((member) => answers(`verify-1-${member}`, NOTHING)),
    answers('assign', {
      summary: 'one piece',
      assignments: [
        {
          task_id: 'T-1',
          to: 'B',
          task_type: 'implement',
          summary: 'Let the router wait.',
          files: ['src/router.txt'],
          success_criteria: ['the router has a backoff'],
          dependencies: [],
          deadline_minutes: 60,
        },
      ],
    }),
    author('execute-1', commits({ 'src/router.txt': 'try again with a backoff\n' })),
    answers('close', { summary: 'The router waits.', open_points: [] }),
  ];
}
