// @module-tag all
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSquad } from '../../src/squad/squad.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from './run-script.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';

const AUTHORS = ['a', 'b', 'x'].map((id) => author(id, commits({ [`${id}.txt`]: `${id}\n` })));
const SCRIPT: Entry[] = [plan([piece('b')], 'asks for a change'), plan([piece('a')]), ...AUTHORS, APPROVE_ALL];

interface Test {
  onTestFinished(end: () => void): void;
}

function benchFor({ onTestFinished }: Test, settings: Readonly<Record<string, unknown>> = { plan: 'ask' }): RunBench {
  const bench = openRunBench({ script: SCRIPT, settings });
  onTestFinished(() => bench.end());
  return bench;
}

const planText = (...tasks: readonly unknown[]): string => JSON.stringify({ summary: 'mine', tasks });

/** As the editor shows it. */
const planYaml = (id: string): string =>
  `summary: mine\ntasks:\n  - { id: ${id}, title: Make ${id}, role: builder, needs: [], brief: Make it, acceptance: [it is there] }\n`;

describe.concurrent('a plan that a person approves', { timeout: 120_000 }, () => {
  it('waits with exit 3 without a terminal, is shown everywhere, and goes on after the answer', async (test) => {
    const bench = benchFor(test);
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(3);
    expect(turnsOf(ended, 'a')).toEqual([]);
    expect(ended.lines.at(-1)).toMatchObject({
      outcome: 'waiting',
      questions: [{ id: 'plan-1', options: ['approve', 'stop'], plan: { tasks: [{ id: 'a' }] } }],
      next: ['squad answer plan-1 approve'],
    });
    const asked = {
      tasks: [{ id: 'a', agents: ['builder-1'], review: ['reviewer'] }],
      criteria: [{ proposed: false }],
    };
    expect(ended.lines.find(({ type }) => type === 'question-asked')).toMatchObject({ plan: asked });
    expect(await bench.status()).toMatchObject({ waitingFor: { questions: [{ id: 'plan-1', plan: asked }] } });
    expect((await bench.run(['status'])).stdout).toContain('plan-1');
    expect(await bench.report()).toContain('Approve the plan?');
    const again = await bench.run(['resume', '--plain']);
    expect(again.code, again.stderr).toBe(3);
    expect(again.stdout).toMatch(
      /^ {2}plan {6}squad show plan --run make-things .*\n {2}answer .*\n {2}change {4}squad answer --edit$/m,
    );
    expect((await bench.run(['answer', 'approve'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });

  it('is changed by the planner in its session', ALL, async (test) => {
    const bench = benchFor(test);
    await bench.runAll();
    expect((await bench.run(['answer', 'plan-1', 'call it b'])).code).toBe(0);
    const changed = await bench.run(['resume', '--json']);
    expect(changed.code, changed.stderr).toBe(3);
    const changes = [
      { change: 'added', task: 'b', after: 'Make b' },
      { change: 'removed', task: 'a', before: 'Make a' },
    ];
    expect(changed.lines.at(-1)).toMatchObject({ questions: [{ id: 'plan-2', plan: { changes } }] });
    await bench.run(['answer', 'approve']);
    expect(await bench.run(['resume', '--json'])).toMatchObject({ code: 0 });
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual([undefined, 'b']);
  });

  it('is edited in a file: what cannot be used is refused, and the right one is built', ALL, async (test) => {
    const bench = benchFor(test);
    await bench.runAll();
    const answerWith = async (text: string, ...words: string[]) => {
      writeFileSync(join(bench.repository, 'my plan.yaml'), text);
      return bench.run(['answer', ...words, '--file', 'my plan.yaml']);
    };
    const refused: [text: string, words: string[], code: number, why: string][] = [
      ['', [], 65, 'my plan.yaml has no plan:\n  - it is empty'],
      ['tasks: [', [], 65, 'my plan.yaml has no plan:\n  - line 1'],
      ['summary: mine\n', [], 65, 'the edited plan cannot be used'],
      [planYaml('x'), ['plan-2'], 2, '--file answers plan-1'],
    ];
    for (const [text, words, code, why] of refused) {
      const { stderr, ...done } = await answerWith(text, ...words);
      expect([done.code, stderr]).toEqual([code, expect.stringContaining(why)]);
    }
    expect((await bench.run(['answer', '--file', 'none.yaml'])).stderr).toContain('none.yaml does not exist');
    expect((await bench.run(['answer'])).stderr).toContain('the answer is missing');
    expect((await answerWith(planYaml('x'))).code).toBe(0);
    const again = await answerWith(planYaml('x'));
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('asks about no plan')]);
    expect(await bench.run(['resume', '--json'])).toMatchObject({ code: 0 });
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('x.txt')]).toEqual([undefined, 'x']);
  });

  it(
    'is edited: a circle is refused with its place and nothing is recorded, the right one is built',
    ALL,
    async (test) => {
      const bench = benchFor(test);
      await bench.runAll();
      const circle = planText(piece('x', { needs: ['y'] }), piece('y', { needs: ['x'] }));
      const refused = await bench.run(['answer', 'plan-1', circle]);
      expect([refused.code, refused.stderr]).toEqual([65, expect.stringContaining('in a circle: x, y')]);
      const unknown = await bench.run(['answer', 'plan-1', planText(piece('x', { needs: ['q'] }))]);
      expect(unknown.stderr).toContain('task 1 (x): it needs q, which is not in the plan');
      expect((await bench.run(['answer', 'plan-1', planText(piece('x'))])).code).toBe(0);
      expect(await bench.run(['resume', '--json'])).toMatchObject({ code: 0 });
      expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('x.txt')]).toEqual([undefined, 'x']);
    },
  );

  it('is stopped: nothing starts, the run is cancelled and leaves no branch', ALL, async (test) => {
    const bench = benchFor(test);
    await bench.runAll();
    await bench.run(['answer', 'stop']);
    const ended = await bench.run(['resume', '--json']);
    expect(ended.code).toBe(1);
    expect(ended.lines.at(-1)).toMatchObject({
      outcome: 'cancelled',
      headline: expect.stringMatching(/^CANCELLED by .*: the plan was not approved$/) as string,
    });
    expect(git(bench.repository, 'branch', '--list', 'squad/*')).toBe('');
    expect((await bench.run(['status'])).stdout).toContain('Next: squad report');
  });

  it('survives a kill between the question and the answer', ALL, async (test) => {
    const bench = benchFor(test);
    const killed = await bench.startRun([], { SQUAD_FAILPOINTS: 'graph.applied:4=kill' }).finished;
    expect(killed.signal).toBe('SIGKILL');
    expect((await bench.run(['log', '--json'])).stdout).toContain('Approve the plan?');
    let asked = await bench.run(['resume', '--json']);
    expect(asked.code, asked.stderr).toBe(3);
    expect(asked.lines.at(-1)).toMatchObject({ questions: [{ id: 'plan-1' }] });
    expect((await bench.run(['answer', 'approve'])).code).toBe(0);
    asked = await bench.run(['resume', '--json']);
    expect(asked.code, asked.stderr).toBe(0);
    expect(turnsOf(asked, 'plan')).toEqual([]);
  });

  it('is answered from another process while its engine waits', ALL, async (test) => {
    const bench = benchFor(test);
    const squad = createSquad({
      cwd: bench.repository,
      environment: { PATH: process.env['PATH'], HOME: bench.root, XDG_STATE_HOME: join(bench.root, 'state') },
    });
    const asked = Promise.withResolvers<void>();
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'decided' && event.next === 'ask') asked.resolve();
    };
    const leave = new AbortController();
    const options = { runtime: 'scripted', trust: 'yes', plan: 'ask', onEvent, attended: leave.signal } as const;
    const running = await squad.run({ text: objective() }, options);
    await asked.promise;
    expect(await squad.status()).toMatchObject({ phase: 'waiting', waitingFor: { for: 'answer' } });
    const answered = await bench.start(['answer', 'approve', '--json']).finished;
    expect(answered.lines).toMatchObject([{ driven: true }]);
    expect(await running.done).toMatchObject({ outcome: 'done', exitCode: 0 });
  });

  it('ends as waiting once the person leaves', ALL, async (test) => {
    const bench = benchFor(test);
    const squad = createSquad({
      cwd: bench.repository,
      environment: { PATH: process.env['PATH'], HOME: bench.root, XDG_STATE_HOME: join(bench.root, 'state') },
    });
    const leave = new AbortController();
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'decided' && event.next === 'ask') leave.abort();
    };
    const options = { runtime: 'scripted', trust: 'yes', onEvent, attended: leave.signal } as const;
    const end = await (await squad.run({ text: objective() }, options)).done;
    expect(end).toMatchObject({ outcome: 'waiting', exitCode: 3, questions: [{ id: 'plan-1' }] });
  });

  it('is not asked about with `plan: auto`', ALL, async (test) => {
    const bench = benchFor(test, { plan: 'auto' });
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.lines.filter(({ type }) => type === 'question-asked')).toEqual([]);
  });
});
