// @module-tag all
import { describe, expect, it } from 'vitest';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const ARGUMENTS = ['objective.md', '--runtime', 'scripted', '--yes'];

function benchFor({ onTestFinished }: { onTestFinished(end: () => void): void }): RunBench {
  const script = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
  const bench = openRunBench({ script, settings: { verify: [{ run: 'true' }] } });
  onTestFinished(() => bench.end());
  return bench;
}

describe.concurrent('squad plan', { timeout: 120_000 }, () => {
  it('stops after the plan, shows it, and says how to continue', async (test) => {
    const bench = benchFor(test);
    const planned = await bench.run(['plan', ...ARGUMENTS]);
    expect(planned.code, planned.stderr).toBe(0);
    expect(planned.stdout).toContain('Plan of make-things: 1 task');
    expect(planned.stdout).toContain('verify: true');
    expect(planned.stdout).toContain('squad answer plan-1 approve');
    expect(await bench.status()).toMatchObject({ phase: 'waiting', waitingFor: { for: 'answer' } });
    expect((await bench.run(['status'])).stdout).toContain('all of it: squad show plan --run make-things');
    const { waitingFor } = (await bench.status()) as { waitingFor: { questions: unknown[] } };
    expect(waitingFor.questions).toMatchObject([{ id: 'plan-1', plan: { estimate: null } }]);
    const waiting = await bench.run(['show', 'plan']);
    expect(waiting.stdout, waiting.stderr).toMatch(
      /Plan of make-things: 1 task\n[^]*It waits for you:\n.*plan-1 approve/,
    );
    const edited = await bench.run(['answer', '--edit']);
    expect(edited).toMatchObject({ code: 2, stderr: expect.stringMatching(/no terminal[^]*Next: Answer with a file/) });
    await bench.run(['answer', 'approve']);
    const [asked] = (await bench.run(['show', 'plan', '--json'])).lines;
    const shownPlan = {
      tasks: [expect.objectContaining({ id: 'a', brief: expect.any(String) })],
      limits: expect.anything(),
    };
    expect(asked).toMatchObject({ type: 'plan', name: 'make-things', question: { id: 'plan-1' }, plan: shownPlan });
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(turnsOf(resumed, 'plan')).toEqual([]);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });

  it('prints one object for programs', async (test) => {
    const bench = benchFor(test);
    const { code, lines } = await bench.run(['plan', ...ARGUMENTS, '--json']);
    expect(code).toBe(0);
    expect(lines).toEqual([
      expect.objectContaining({
        type: 'plan',
        question: 'plan-1',
        summary: 'the plan',
        tasks: [expect.objectContaining({ id: 'a', role: 'builder', needs: [], review: ['reviewer'] })],
        next: [expect.stringContaining('squad resume'), 'squad answer plan-1 approve', expect.any(String)],
      }),
    ]);
  });

  it('prints instructions and prompts of each role, and makes no run', ALL, async (test) => {
    const bench = benchFor(test);
    const { code, stdout } = await bench.run(['plan', ...ARGUMENTS, '--prompts']);
    expect(code).toBe(0);
    expect(stdout).toContain('Instructions of planner (planner, scripted)');
    expect(stdout).toMatch(/First prompt for planner: .*\nThe objective of the whole squad:[^]*\n# Task plan/);
    expect(stdout).toMatch(/First prompt for builder: [^]*\n# Task task-1/);
    expect(stdout).toMatch(/First prompt for reviewer: [^]*\n# Review of task/);
    const [found] = (await bench.run(['plan', ...ARGUMENTS, '--prompts', '--json'])).lines;
    expect(found).toMatchObject({ type: 'prompts', agents: [{ name: 'planner' }, {}, {}] });
    expect((await bench.run(['runs', '--json'])).stdout).not.toContain('make-things');
  });

  it('refuses a playbook that has no plan to approve', async (test) => {
    const bench = benchFor(test);
    const { code, stderr } = await bench.run(['plan', ...ARGUMENTS, '--playbook', 'council']);
    expect([code, stderr]).toEqual([65, expect.stringContaining('there is no plan to approve')]);
  });
});
