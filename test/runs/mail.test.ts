import { describe, expect, it, type TestContext } from 'vitest';
import type { Finished } from '../support/engine.ts';
import { mailOf } from '../support/mail-of.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry, type Step } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const agent = (name: string, role: string, access = 'edit') => ({ name, role, access, runtime: 'scripted' });

const AGENTS = [
  agent('planner', 'planner', 'read-only'),
  agent('builder-1', 'builder'),
  agent('mason-1', 'mason'),
  agent('painter-1', 'painter'),
  agent('reviewer-1', 'reviewer', 'read-only'),
];

function open(test: TestContext, script: readonly Entry[]): RunBench {
  const bench = openRunBench({ settings: { agents: AGENTS }, script: [APPROVE_ALL, ...script] });
  test.onTestFinished(() => bench.end());
  return bench;
}

function tool(name: string, given: Readonly<Record<string, unknown>>): Step {
  return { mcp: 'squad', tool: name, arguments: given };
}

function handOff(to: string): Step {
  const given = {
    to: [to],
    task_id: `PAINT-${to}`,
    summary: 'The colour is left.',
    files: ['a.txt'],
    success_criteria: ['it is green'],
  };
  return tool('handoff', given);
}

/** As each turn of this agent announced it. */
function sessionsOf({ lines }: Finished, task: string, by: string): unknown[] {
  return lines.flatMap((line) =>
    line['type'] === 'session-announced' && line['task'] === task && line['agent'] === by ? [line['id']] : [],
  );
}

/** What a tool was answered, in the order of the calls. */
function answersOf({ lines }: Finished, task: string): string[] {
  return lines.flatMap((line) =>
    line['type'] === 'tool-ended' && line['task'] === task && String(line['output']).startsWith('{')
      ? [String(line['output'])]
      : [],
  );
}

describe.concurrent('mail in a run that is no council', { timeout: 300_000 }, () => {
  it(
    'hands work on to an agent that has finished, which goes on in its session, and to a role that nobody has had',
    ALL,
    async (test) => {
      const bench = open(test, [
        plan([piece('a'), piece('b', { role: 'mason', needs: ['a'] })]),
        author('a', commits({ 'a.txt': 'a\n' })),
        author('b', [handOff('builder-1'), handOff('painter'), handOff('plumber'), ...commits({ 'b.txt': 'b\n' })]),
        { when: 'PAINT-painter', steps: commits({ 'colour.txt': 'green\n' }) },
        { when: 'PAINT-builder-1', steps: [{ write: { path: 'told.txt', text: '{prompt}' } }, ...commits({})] },
      ]);
      const ended = await bench.runAll();
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.slice(-3))}`).toBe(0);
      const status = await bench.status();
      const handed = status.tasks.filter(({ id }) => id.startsWith('mail-'));
      expect(handed.map(({ role, status: state }) => `${role} ${state}`)).toEqual(['builder done', 'painter done']);
      const [first, second] = handed.map(({ id }) => id);
      // The one that built `a` has its conversation; the painter begins one.
      expect(sessionsOf(ended, first ?? '', 'builder-1')).toEqual(sessionsOf(ended, 'a', 'builder-1'));
      expect(turnsOf(ended, first ?? '')).toMatchObject([
        { agent: 'builder-1', outcome: 'completed' },
        { agent: 'reviewer-1', outcome: 'completed' },
      ]);
      expect(turnsOf(ended, second ?? '')).toMatchObject([
        { agent: 'painter-1', outcome: 'completed' },
        { agent: 'reviewer-1', outcome: 'completed' },
      ]);
      expect(
        new Set(
          ended.lines.flatMap((line) =>
            line['agent'] === 'painter-1' && line['type'] === 'session-announced' ? [line['resumed']] : [],
          ),
        ),
      ).toEqual(new Set([false]));
      const [, , refused = ''] = answersOf(ended, 'b');
      expect(JSON.parse(refused)).toMatchObject({ reason: 'invalid_format', field: 'to[0]' });
      for (const name of ['builder', 'mason', 'painter', 'planner', 'reviewer']) expect(refused).toContain(name);
      const { messages, unread, status: mail } = mailOf(bench, status.runId);
      // Whoever handed on hears of its end, and has no turn left in which to read of it.
      expect(messages.toSorted()).toEqual([
        'builder-1 → mason-1: done',
        'mason-1 → builder-1: ask/assign',
        'mason-1 → painter: ask/assign',
        'painter-1 → mason-1: done',
      ]);
      expect(unread.filter((line) => !line.endsWith('mason-1'))).toEqual([]);
      expect([mail.unanswered, mail.counts.refused]).toEqual([[], 1]);
      expect(bench.fileOnBranch('told.txt')).toContain('The colour is left.');
    },
  );

  it(
    'asks a person where nobody else is MAIN, waits for the answer, and goes on by it in the same session',
    ALL,
    async (test) => {
      const question = {
        to: ['MAIN'],
        question: 'Which colour?',
        context: 'none is named',
        code_path: 'a.txt#L1',
      };
      const bench = open(test, [
        plan([piece('a')]),
        author('a', [tool('ask', question), { answer: 'I wait' }]),
        {
          when: 'has been answered',
          steps: [{ write: { path: 'told.txt', text: '{prompt}' } }, ...commits({ 'a.txt': 'green\n' })],
        },
      ]);
      const waiting = await bench.runAll();
      expect(waiting.code).toBe(3);
      expect(waiting.lines.at(-1)).toMatchObject({
        outcome: 'waiting',
        questions: [{ text: expect.stringContaining('Which colour?') }],
      });
      const [asked] = (waiting.lines.at(-1)?.['questions'] ?? []) as { id: string }[];
      expect((await bench.run(['answer', asked?.id ?? '', 'green'])).code).toBe(0);
      const ended = await bench.run(['resume', '--json']);
      expect(ended.code, ended.stderr).toBe(0);
      expect(bench.fileOnBranch('a.txt')).toBe('green');
      expect(bench.fileOnBranch('told.txt')).toContain('"answer":"green"');
      expect(sessionsOf(ended, 'a', 'builder-1')).toEqual(sessionsOf(waiting, 'a', 'builder-1'));
      const { messages, unread, status } = mailOf(bench, (await bench.status()).runId);
      expect(messages).toEqual(['builder-1 → MAIN: ask/clarify', 'MAIN → builder-1: send/answer']);
      expect(status.unanswered).toEqual([]);
      // A person was asked in another way, and need not read the question as well.
      expect(unread.filter((line) => line.endsWith('builder-1'))).toEqual([]);
    },
  );

  it('takes a person’s answer by mail as well, also while no engine lives', ALL, async (test) => {
    const question = {
      to: ['MAIN'],
      question: 'Which colour?',
      context: 'none is named',
      code_path: '-',
    };
    const bench = open(test, [
      plan([piece('a')]),
      author('a', [tool('ask', question), { answer: 'I wait' }]),
      { when: 'has been answered', steps: commits({ 'a.txt': 'green\n' }) },
    ]);
    expect((await bench.runAll()).code).toBe(3);
    expect((await bench.status()).waitingFor).toMatchObject({ for: 'answer' });
    const replied = await bench.run(['mail', 'reply', 'green', '--json']);
    expect(replied.code, replied.stderr).toBe(0);
    // Nobody has to be asked again.
    const answered = await bench.status();
    expect([answered.phase, answered.waitingFor]).toEqual(['stopped', { for: 'resume', why: 'an answer is recorded' }]);
    const twice = await bench.run(['answer', 'blue']);
    expect(twice.code, twice.stdout).not.toBe(0);
    const ended = await bench.run(['resume', '--json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('green');
    const late = await bench.run(['mail', 'say', 'one more thing']);
    expect(late.code).toBe(2);
    expect(late.stderr).toBe(
      'squad: run make-things is finished: no agent reads mail any more\nNext: To have more done, start another run: `squad run objective.md`.\n',
    );
    expect((await bench.run(['mail', 'inbox'])).code).toBe(0);
  });

  it('ends handed-over work of an agent that says that it cannot be done, at no further try', ALL, async (test) => {
    const bench = open(test, [
      plan([piece('a')]),
      author('a', [handOff('painter'), ...commits({ 'a.txt': 'a\n' })]),
      {
        when: 'builder-1 hands its work on to you',
        steps: [tool('fail', { reason: 'there is no paint' }), { answer: 'it cannot be done' }],
      },
    ]);
    const ended = await bench.runAll();
    expect(ended.code).toBe(1);
    const [task] = (await bench.status()).tasks.filter(({ id }) => id.startsWith('mail-'));
    expect(turnsOf(ended, task?.id ?? '')).toHaveLength(1);
    expect(ended.lines.at(-1)?.['why']).toContain('painter-1 gave up: there is no paint');
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    const say = ['mail', 'say', 'there is paint now', '--to', 'painter-1'];
    const late = await bench.run(say);
    expect(late.code).toBe(2);
    expect(late.stderr).toContain(`Next: Open it again with \`squad retry ${task?.id} --run make-things`);
    expect((await bench.run(['retry', task?.id ?? ''])).code).toBe(0);
    // What opens it again opens its mail.
    expect((await bench.run(say)).code).toBe(0);
  });
});
