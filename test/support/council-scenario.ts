import { commit, leave, objective, settings, type Scenario } from './scenario-parts.ts';

const AGENTS = [{ name: 'main', role: 'main' }, ...['a', 'b'].map((name) => ({ name, role: 'member' }))];
const ISSUE = {
  doc_path: 'docs/design.md',
  code_paths: ['src/router.txt#L1'],
  category: 'func',
  severity: 'high',
  summary: 'Nothing is said.',
  suggestion: 'Say it.',
};
const NOTHING = { issues: [], summary: '', questions: [] };

function mail(tool: string, given: Readonly<Record<string, unknown>>): object {
  return { mcp: 'squad', tool, arguments: given };
}

/** A council with every kind of message in it, by tools and by answers, and a question that stops the work half way. */
export const COUNCIL: Scenario = {
  name: 'council',
  objective: objective('A council', 'test -s docs/design.md && grep -q backoff router.txt'),
  settings: (script, effects) => `playbook: council\n${settings(AGENTS, script, effects)}`,
  script: (effects) => {
    const turn = (when: string, label: string, steps: readonly object[], structured?: unknown): object => ({
      when,
      steps: [leave(label, effects), ...steps, { answer: 'done' }],
      ...(structured === undefined ? {} : { structured }),
    });
    const write = (path: string, text: string) => [{ write: { path, text } }, ...commit(`Write ${path}`)];
    const assigned = { task_id: 'FEAT-1', task_type: 'implement', summary: 'Build it.', files: ['router.txt'] };
    return {
      turns: [
        turn('# Task review-1:', 'review-1', [mail('report', { issues: [ISSUE], summary: 'one' })], NOTHING),
        turn('# Task review-2:', 'review-2', [], NOTHING),
        turn('# Task improve-1:', 'improve-1', write('docs/design.md', 'It waits.\n'), { changes_summary: 'said' }),
        turn('# Task verify-1-1:', 'verify-1-1', [mail('verified', { has_new_issues: false })], NOTHING),
        turn('# Task verify-1-2:', 'verify-1-2', [], NOTHING),
        turn(
          '# Task assign:',
          'assign',
          [mail('assign', { ...assigned, to: ['B'], success_criteria: ['it has a backoff'], minutes: 60 })],
          { summary: 'sent', assignments: [] },
        ),
        turn('What you asked about task execute-1 has been answered', 'go-on', [
          ...write('router.txt', 'backoff\n'),
          mail('done', { task_id: 'FEAT-1' }),
        ]),
        turn('# Task execute-1:', 'execute-1', [
          mail('ask', { to: ['MAIN'], question: 'How long?', context: 'none', code_path: '-' }),
        ]),
        turn(
          'does not understand something',
          'answer',
          [...write('docs/waits.md', '500 ms\n'), mail('reply', { text: '500 ms', doc_updated: true })],
          { answer: '500 ms', doc_updated: true, doc_path: '', reason: '' },
        ),
        turn('# Task close:', 'close', [], { summary: 'built', open_points: [] }),
      ],
    };
  },
};
