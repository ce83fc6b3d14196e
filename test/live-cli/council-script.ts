import type { Act, ScriptedTurn } from './turn-scripts.ts';

/** One round of a council: some of it said by tools, some only by the answers of turns, and one question in between. */

export const COUNCIL_OBJECTIVE = `# Objective: The router waits

## Goals

1. docs/design.md says how long the router waits before it tries again
2. The router does so

## Success Criteria

- [ ] The router has a backoff (run: grep -q backoff src/router.mjs)
`;

export const COUNCIL_FILES = {
  'docs/design.md': '# Design\n\nThe router tries again.\n',
  'src/router.mjs': 'export const wait = () => 0;\n',
};

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
/** By `mail`, unless it is a tool of its own: whether all are offered depends on the mail that waits. */
const mail = (action: string, given: Record<string, unknown>): Act =>
  ['ask', 'send', 'handoff'].includes(action)
    ? { act: 'mail', tool: action, arguments: given }
    : { act: 'mail', tool: 'mail', arguments: { action, arguments: given } };
const answer = (value: Record<string, unknown>): Act => ({ act: 'answer', value });

const ISSUE = {
  doc_path: 'docs/design.md#L3',
  code_paths: ['src/router.mjs#L1'],
  category: 'func',
  severity: 'high',
  summary: 'It is not said how long the router waits.',
  suggestion: 'Say it, with the longest wait.',
};
const NOTHING = { issues: [], summary: 'nothing', questions: [] };

const writes = (path: string, text: string, why: string): Act =>
  shell(`printf '%s\\n' '${text}' >> ${path} && git commit -q -am "${why}"`);

const turn = (name: string, when: RegExp, acts: ScriptedTurn['acts']): ScriptedTurn => ({ name, when, acts });

export const COUNCIL_TURNS: readonly ScriptedTurn[] = [
  turn('review a', /# Task review-1:/, [
    shell('cat docs/design.md src/router.mjs'),
    mail('report', { issues: [ISSUE], summary: 'one issue', questions: [] }),
    answer({ issues: [ISSUE], summary: 'one issue', questions: [] }),
  ]),
  turn('review b', /# Task review-2:/, [mail('done', {}), answer(NOTHING)]),
  turn('improve', /# Task improve-1:/, [
    mail('inbox', {}),
    writes('docs/design.md', 'It waits with a backoff, at most 10 minutes.', 'Say how long the router waits'),
    answer({ changes_summary: 'The wait is said.' }),
  ]),
  turn('verify a', /# Task verify-1-1:/, [mail('verified', { has_new_issues: false }), answer(NOTHING)]),
  turn('verify b', /# Task verify-1-2:/, [answer(NOTHING)]),
  turn('assign', /# Task assign:/, [
    mail('assign', {
      to: ['B'],
      task_id: 'FEAT-1',
      task_type: 'implement',
      summary: 'Let the router wait.',
      files: ['src/router.mjs'],
      success_criteria: ['the router has a backoff'],
      dependencies: [],
      minutes: 60,
    }),
    answer({ summary: 'assigned', assignments: [] }),
  ]),
  turn('answer', /# Task answer-\d+-main:/, [
    writes('docs/design.md', 'The first wait is 500 ms.', 'Say how long the first wait is'),
    mail('reply', { text: '500 ms: docs/design.md says it now.', doc_updated: true }),
    answer({ answer: '500 ms', doc_updated: true, doc_path: '', reason: '' }),
  ]),
  turn('go on', /What you asked about task execute-1 has been answered/, [
    writes('src/router.mjs', 'export const backoff = (n) => 500 * 2 ** n;', 'The router waits longer and longer'),
    mail('done', { task_id: 'FEAT-1', summary: 'it waits' }),
    say('It waits.'),
  ]),
  turn('execute', /# Task execute-1:/, [
    mail('ask', {
      to: ['MAIN'],
      question: 'How long is the first wait?',
      context: 'The document names the longest only.',
      code_path: 'src/router.mjs#L1',
    }),
    say('I wait for the answer.'),
  ]),
  turn('close', /# Task close:/, [answer({ summary: 'The router waits.', open_points: [] })]),
];

/** Every step of every turn, each once. */
export const COUNCIL_STEPS: readonly string[] = COUNCIL_TURNS.flatMap(({ name, acts }) =>
  acts.map((_act, step) => `${name} ${step}`),
);
