import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { mailOf } from '../support/mail-of.ts';
import { answers, COUNCIL_AGENTS, COUNCIL_FILES, COUNCIL_OBJECTIVE, councilScript, ISSUE } from './council-script.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { again, author, commits, type Entry, type Step } from './run-script.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

function open(
  test: TestContext,
  more: readonly Entry[] = [],
  settings: Readonly<Record<string, unknown>> = {},
): RunBench {
  const bench = openRunBench({
    script: councilScript(more),
    settings: { playbook: 'council', agents: COUNCIL_AGENTS, ...settings },
    objective: COUNCIL_OBJECTIVE,
    files: COUNCIL_FILES,
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

async function play(bench: RunBench) {
  const ended = await bench.runAll();
  const status = await bench.status();
  const runs = join(stateOf(bench.repository), 'runs');
  const minutes = readFileSync(join(runs, readdirSync(runs)[0] ?? '', 'files', 'council.md'), 'utf8');
  return { ended, minutes, status, mail: mailOf(bench, status.runId) };
}

describe.concurrent('a council on the real engine', { timeout: 300_000 }, () => {
  it('goes its whole way in messages that are all read, though nobody sends one itself', ALL, async (test) => {
    const bench = open(test);
    const { ended, minutes, status, mail } = await play(bench);
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    const { messages } = mail;
    expect([messages[0], messages[4], ...messages.slice(8)]).toEqual([
      'MAIN → A B C: ask/review',
      'MAIN → A B C: ask/verify',
      'MAIN → B: ask/assign',
      'B → MAIN: done',
    ]);
    expect(messages.slice(1, 4).toSorted()).toEqual([
      'A → MAIN: report/review_feedback',
      'B → MAIN: done',
      'C → MAIN: done',
    ]);
    expect(messages.slice(5, 8).toSorted()).toEqual(['A', 'B', 'C'].map((who) => `${who} → MAIN: done/verified`));
    expect([mail.unread, mail.status.counts.unread, mail.status.unanswered]).toEqual([[], 0, []]);
    expect(mail.status.tasks.map(({ id, status: state }) => `${id} ${state}`)).toEqual([
      expect.stringMatching(/^DOC-\d{8}-0001 verified$/),
      'execute-1 done',
    ]);
    expect(bench.fileOnBranch('docs/design.md')).toContain('with a backoff');
    expect(bench.fileOnBranch('src/router.txt')).toBe('try again with a backoff');
    expect(status.tasks.filter(({ status: state }) => state !== 'done')).toEqual([]);
    expect(minutes).toContain('- A, high func, docs/design.md#L3, src/router.txt#L1: It is not said when');
    expect(ended.lines.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  it('goes on at the deadline without a reviewer that says nothing, and names it', ALL, async (test) => {
    const bench = open(test, [author('review-2', [{ run: ['sleep', '100'] }])], { council: { reviewMinutes: 0.15 } });
    const { ended, minutes, mail } = await play(bench);
    expect(ended.code, ended.stderr).toBe(0);
    // The other one is of its work.
    expect(mail.messages.filter((line) => line === 'B → MAIN: done')).toHaveLength(1);
    expect(turnsOf(ended, 'review-2').map(({ outcome }) => outcome)).toEqual(['cancelled']);
    expect(minutes).toContain('| B | silent: approves nothing | 0 |  |');
    expect(ended.lines.at(-1)?.['why']).toContain('review: no answer from B (silent)');
    expect(await bench.report()).toContain('no answer from B (silent)');
  });

  it('tells MAIN of work that was not done, whatever the member says, and closes all the same', ALL, async (test) => {
    const bench = open(test, [author('execute-1', [{ answer: 'done' }])]);
    const { ended, mail } = await play(bench);
    expect(ended.code).toBe(1);
    expect(mail.messages.slice(-2)).toEqual(['MAIN → B: ask/assign', 'B → MAIN: fail']);
    expect([mail.unread, turnsOf(ended, 'close').length]).toEqual([[], 1]);
    expect(bench.fileOnBranch('docs/design.md')).toContain('with a backoff');
  });

  it('delivers no code of MAIN’s', ALL, async (test) => {
    const code = { 'docs/design.md': '# Design\n\nWith a backoff.\n', 'src/router.txt': 'backoff\n' };
    const structured = { changes_summary: 'all' };
    const bench = open(test, [
      { ...author('improve-1', commits(code)), structured },
      { ...again('improve-1', 'evidence', [{ answer: 'it stays' }]), structured },
    ]);
    const { ended } = await play(bench);
    expect(ended.code).toBe(1);
    expect(ended.lines.at(-1)?.['why']).toContain('may change, but these files did: src/router.txt');
    expect(bench.fileOnBranch('src/router.txt')).toBe('try again at once');
  });

  it(
    'goes its way by the tools of the agents too, with a question and its answer, and says nothing twice',
    NIGHT,
    async (test) => {
      const bench = open(test, [
        answers('review-1', NOTHING, [tool('report', { issues: [ISSUE], summary: 'by the tool', questions: [] })]),
        answers('review-2', NOTHING, [tool('done', {})]),
        answers('verify-1-1', NOTHING, [tool('verified', { has_new_issues: false })]),
        answers('assign', { summary: 'sent', assignments: [] }, [tool('assign', ASSIGNMENT)]),
        author('execute-1', [tool('ask', QUESTION), { answer: 'I wait for the answer' }]),
        {
          when: 'What you asked about task execute-1 has been answered',
          steps: [
            ...commits({ 'src/router.txt': 'try again with a backoff\n' }).slice(0, -1),
            tool('done', { task_id: 'FEAT-1', summary: 'it waits' }),
            { answer: 'done' },
          ],
        },
        {
          when: 'does not understand something and cannot continue',
          steps: [
            ...commits({ 'docs/waits.md': '500 ms at first.\n' }).slice(0, -1),
            tool('reply', { text: '500 ms: docs/waits.md says it.', doc_updated: true }),
            { answer: 'answered' },
          ],
          structured: { answer: '500 ms', doc_updated: true, doc_path: 'docs/waits.md', reason: '' },
        },
      ]);
      const { ended, minutes, status, mail } = await play(bench);
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      const { messages } = mail;
      expect(messages.slice(1, 4).toSorted()).toEqual([
        'A → MAIN: report/review_feedback',
        'B → MAIN: done',
        'C → MAIN: done',
      ]);
      expect(messages.slice(8)).toEqual([
        'MAIN → C: ask/assign',
        'C → MAIN: ask/clarify',
        'MAIN → C: send/answer',
        'C → MAIN: done',
      ]);
      expect([mail.unread, mail.status.unanswered, mail.status.counts.refused]).toEqual([[], [], 0]);
      expect(status.tasks.filter(({ status: state }) => state !== 'done')).toEqual([]);
      expect(bench.fileOnBranch('docs/waits.md')).toBe('500 ms at first.');
      expect(bench.fileOnBranch('src/router.txt')).toBe('try again with a backoff');
      expect(minutes).toContain('| execute-1 | C | implement | done');
    },
  );

  it(
    'does all work that MAIN assigns by its tool and by its answer, each once, in the order of what depends on what',
    NIGHT,
    async (test) => {
      const second = { ...ASSIGNMENT, to: ['A'], task_id: 'FEAT-2', summary: 'Build on it.', dependencies: ['FEAT-1'] };
      const listed = (task_id: string, to: string, dependencies: readonly string[]) => ({
        ...{ task_id, to, task_type: 'implement', summary: `Do ${task_id}.`, files: ['src/router.txt'] },
        ...{ success_criteria: ['it is there'], dependencies, deadline_minutes: 1_000 },
      });
      const assignments = [listed('FEAT-1', 'C', []), listed('FEAT-3', 'B', ['FEAT-2'])];
      const router = { 'src/router.txt': 'try again with a backoff\n' };
      const writes = (task: string) =>
        commits({ [`src/${task}.txt`]: '{prompt}', ...(task === 'execute-1' ? router : {}) }, task);
      const bench = open(
        test,
        [
          answers('assign', { summary: 'both ways', assignments }, [
            tool('assign', { ...ASSIGNMENT, minutes: 1_000 }),
            tool('assign', second),
          ]),
          ...['execute-1', 'execute-2', 'execute-3'].map((task) => author(task, writes(task))),
        ],
        { council: { assignMinutes: 90 } },
      );
      const { ended, status, mail } = await play(bench);
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      expect(mail.messages.filter((line) => line.endsWith('ask/assign'))).toEqual([
        'MAIN → C: ask/assign',
        'MAIN → A: ask/assign',
        'MAIN → B: ask/assign',
      ]);
      expect(mail.status.counts.refused).toBe(0);
      const done = ended.lines.flatMap((line) => (line['type'] === 'attempt-ended' ? [String(line['task'])] : []));
      expect(done.filter((task) => task.startsWith('execute-'))).toEqual(['execute-1', 'execute-2', 'execute-3']);
      expect(status.tasks.filter(({ status: state }) => state !== 'done')).toEqual([]);
      // The last one saw what it waited for.
      expect(bench.fileOnBranch('src/execute-3.txt')).toContain('execute-2');
      const deadlines = mail.status.tasks.flatMap(({ deadline }) => deadline ?? []);
      expect(Math.max(...deadlines) - Date.now()).toBeLessThan(90 * 60_000);
    },
  );

  it(
    'loses nothing and counts nothing twice where a member is killed after it spoke, at each step',
    ALL,
    async (test) => {
      const dies = { run: ['/bin/sh', '-c', 'kill -9 "$PPID"'] };
      const again = (task: string, steps: readonly Step[], structured?: unknown): Entry => ({
        when: `task ${task} was cut short`,
        steps: [...steps, { answer: 'done' }],
        ...(structured === undefined ? {} : { structured }),
      });
      const done = tool('done', {});
      const bench = open(test, [
        again('review-1', [], NOTHING),
        again('verify-1-2', [tool('verified', { has_new_issues: false })], NOTHING),
        again('execute-1', [done]),
        author('review-1', [tool('report', { issues: [ISSUE], summary: 'one' }), dies]),
        author('verify-1-2', [tool('verified', { has_new_issues: false }), dies]),
        author('execute-1', [...commits({ 'src/router.txt': 'a backoff\n' }).slice(0, -1), done, dies]),
      ]);
      const { ended, mail } = await play(bench);
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      expect(['review-1', 'verify-1-2', 'execute-1'].map((task) => turnsOf(ended, task).length)).toEqual([2, 2, 2]);
      const of = (who: string) => mail.messages.filter((line) => line.startsWith(`${who} →`));
      expect(of('A')).toEqual(['A → MAIN: report/review_feedback', 'A → MAIN: done/verified']);
      expect(of('B')).toEqual(['B → MAIN: done', 'B → MAIN: done/verified', 'B → MAIN: done']);
      expect([mail.unread, mail.status.unanswered]).toEqual([[], []]);
    },
  );

  it('ends work honestly that a member gives up by its tool', ALL, async (test) => {
    const bench = open(test, [author('execute-1', [tool('fail', { reason: 'there is no router' }), { answer: 'no' }])]);
    const { ended, mail } = await play(bench);
    expect(ended.code).toBe(1);
    expect(ended.lines.at(-1)?.['why']).toContain('B gave up: there is no router');
    expect(mail.messages.slice(-2)).toEqual(['MAIN → B: ask/assign', 'B → MAIN: fail']);
    expect([turnsOf(ended, 'execute-1').length, turnsOf(ended, 'close').length]).toEqual([1, 1]);
  });
});

const NOTHING = { issues: [], summary: 'nothing to say', questions: [] };
const ASSIGNMENT = {
  to: ['C'],
  task_id: 'FEAT-1',
  task_type: 'implement',
  summary: 'Let the router wait.',
  files: ['src/router.txt'],
  success_criteria: ['the router has a backoff'],
  dependencies: [],
  minutes: 60,
};
const QUESTION = {
  to: ['MAIN'],
  question: 'How long is the first wait?',
  context: 'The document does not say it.',
  code_path: 'src/router.txt#L1',
};

function tool(name: string, given: Readonly<Record<string, unknown>>): Step {
  return { mcp: 'squad', tool: name, arguments: given };
}
