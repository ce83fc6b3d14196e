import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { TURN_EVENTS } from '../../src/model/run-event.ts';
import { APPROVE_ALL, author, commits, piece, plan, waitFor, type Entry, type Step } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import { openShells, SQUAD } from '../support/shells.ts';
import { NO_TMUX } from '../support/tmux.ts';

const SLOW = [{ say: 'I look around first.' }, { run: ['sleep', '4'] }, ...commits({ 'b.txt': 'b\n' })];

function script(last: readonly Step[]): Entry[] {
  const pieces = [piece('a'), piece('b', { needs: ['a'] })];
  return [plan(pieces), author('a', commits({ 'a.txt': 'a\n' })), author('b', last), APPROVE_ALL];
}

function bench(last: readonly Step[] = SLOW): RunBench {
  const made = openRunBench({ script: script(last) });
  onTestFinished(() => made.end());
  return made;
}

describe('squad watch', { timeout: 300_000 }, () => {
  it('shows a run of another process with the output of its live turns, and ends as it does', ALL, async () => {
    const runs = bench();
    const [watched, shown] = [join(runs.root, 'watched'), join(runs.root, 'shown')];
    const last = [waitFor(watched), { say: 'I look around first.' }, waitFor(shown), ...commits({ 'b.txt': 'b\n' })];
    runs.rescript(script(last));
    const running = runs.startRun();
    await running.line(({ type, task, kind }) => type === 'attempt-taken' && task === 'b' && kind === 'turn');
    const watching = [runs.start(['watch', '--json']), runs.start(['watch'])] as const;
    await Promise.all(watching.map(({ child }) => once(child.stdout!, 'data')));
    writeFileSync(watched, '');
    await watching[0].line(({ type, text }) => type === 'text' && text === 'I look around first.');
    writeFileSync(shown, '');
    const [programs, people] = await Promise.all([watching[0].finished, watching[1].finished]);
    const { code, lines } = await running.finished;
    expect(code).toBe(0);
    expect([programs.code, people.code]).toEqual([0, 0]);
    // The same as the engine's own terminal shows, in the same order, but for what only the engine itself can say.
    const ofEngine: readonly string[] = ['run-started', ...TURN_EVENTS];
    const key = ({ type, task, attemptId, status }: Record<string, unknown>) =>
      [type, task, attemptId, status].join(' ');
    const ofLedger = (all: readonly Record<string, unknown>[]) =>
      all.filter(({ type }) => !ofEngine.includes(String(type))).map(key);
    expect(ofLedger(programs.lines)).toEqual(ofLedger(lines));
    expect(programs.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0 });
    expect(people.stdout).toMatch(/^ {2}\S+\/b +says +I look around first\.$/m);
    expect(people.stdout).toMatch(/^DONE, all work is delivered/m);
  });

  it('says that a run is over, how it ended, and exits as it did', ALL, async () => {
    const runs = bench([{ answer: 'I cannot do that.' }]);
    expect((await runs.runAll()).code).toBe(1);
    for (const args of [['watch'], ['watch', 'make-things', '--plain'], ['status', '--watch']]) {
      const { code, stdout } = await runs.start(args).finished;
      expect({ args, code }).toEqual({ args, code: 1 });
      expect(stdout).toMatch(/^No engine runs make-things\. It ended \d+ s ago\.$/m);
      expect(stdout).toMatch(/^FAILED/m);
    }
    const { code, lines } = await runs.start(['watch', '--json']).finished;
    expect(code).toBe(1);
    expect(lines).toEqual([expect.objectContaining({ type: 'run-ended', outcome: 'failed', exitCode: 1 })]);
  });

  it('ends when the engine is killed, and says how to continue', ALL, async () => {
    const runs = bench();
    const running = runs.startRun();
    await running.line(({ type, task }) => type === 'attempt-taken' && task === 'b');
    const watching = runs.start(['watch']);
    setTimeout(() => running.child.kill('SIGKILL'), 2_500);
    const { code, stdout } = await watching.finished;
    expect(code).toBe(4);
    expect(stdout).toMatch(/^INTERRUPTED, its engine is gone$/m);
    expect(stdout).toContain('squad resume make-things');
    expect((await runs.run(['resume', '--json'])).code).toBe(0);
  });

  it('ends when nobody reads its lines any more, and the run continues', ALL, async () => {
    const runs = bench();
    const running = runs.startRun();
    await running.line(({ type, task }) => type === 'attempt-taken' && task === 'b');
    const watching = runs.start(['watch']);
    watching.child.stdout?.once('data', () => watching.child.stdout?.destroy());
    const { code, stderr } = await watching.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(running.child.exitCode).toBeNull();
    expect((await running.finished).code).toBe(0);
  });

  it('refuses a run that is not there', async () => {
    const runs = bench();
    const { code, stderr } = await runs.run(['watch', 'nothing']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^squad: /);
  });
});

describe.skipIf(NO_TMUX !== undefined)('a board at a terminal', { timeout: 300_000 }, () => {
  it('has what happened before a crash, obeys keys, and leaves the end on the shell’s screen', ALL, async () => {
    const runs = bench();
    await runs.runAll([], { SQUAD_FAILPOINTS: 'attempt.settled:2=kill' });
    const [shell] = openShells(runs);
    shell.type(`${SQUAD} resume; echo code $?`, 'Enter');
    const board = await shell.shows(/● b +in work/);
    // The plan was made by the engine that was killed.
    expect(board).toMatch(/✓ plan +done/);
    expect(board).toMatch(/plan +✓ done — Plan the work/);
    shell.type('p');
    await shell.shows(/‖ paused/);
    shell.type('p');
    await shell.shows(/● running/);
    await shell.shows(/^code 0$/m);
    const all = shell.history();
    expect(all).toMatch(/^task +b done/m);
    expect(all).toMatch(/^DONE, all work is delivered/m);
    expect(all).not.toContain('q leave');
  });

  it('asks the run’s question where it is watched, too', ALL, async () => {
    const runs = bench(commits({ 'b.txt': 'b\n' }));
    runs.settings({ plan: 'ask' });
    const [driving, watching] = openShells(runs);
    driving.type(`${SQUAD} run objective.md --runtime scripted --yes; echo code $?`, 'Enter');
    await driving.shows(/Start this plan\?/);
    watching.type(`${SQUAD} watch; echo code $?`, 'Enter');
    await watching.shows(/\? waits for you/);
    watching.type('a');
    await watching.shows(/Start this plan\?/);
    watching.type('Enter');
    await Promise.all([driving.shows(/^code 0$/m), watching.shows(/^code 0$/m)]);
    expect(driving.history()).toContain('plan-1 was answered elsewhere.');
    expect(driving.history()).toMatch(/^DONE, all work is delivered/m);
  });
});
