// @module-tag all
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, planWithCriteria } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import type { Finished } from '../support/engine.ts';
import { killAll } from '../support/marked-pids.ts';
import { eventually } from '../support/tmux.ts';
import { stateOf } from '../support/state.ts';

type Test = { onTestFinished: (end: () => void) => void };

/** Its agent works for longer than the test. */
function openBench({ onTestFinished }: Test): RunBench {
  const waits = { run: ['sleep', '300'] };
  const plans = [
    planWithCriteria([piece('a')], [{ text: 'a is there', command: 'test -s a.txt' }]),
    plan([piece('a')]),
  ];
  const script = [...plans, author('a', [waits, ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL];
  const bench = openRunBench({ script, settings: { verify: [{ run: 'test -s a.txt' }] } });
  onTestFinished(() => bench.end());
  return bench;
}

const detached = ({ lines: [line] }: Finished) => line as { runId: string; name: string; pid: number; log: string };

describe.concurrent('an engine in the background', { timeout: 180_000 }, () => {
  it('has the run when the command ends, a session of its own and its output in the run’s folder', async (test) => {
    const bench = openBench(test);
    const started = await bench.start(['run', 'make things', '--runtime', 'scripted', '--yes', '--detach', '--json'])
      .finished;
    expect([started.code, started.lines], started.stderr).toMatchObject([
      0,
      [{ type: 'detached', name: 'make-things' }],
    ]);
    const { pid, log, runId } = detached(started);
    test.onTestFinished(() => killAll([pid]));
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).toBe(String(pid));
    expect(log).toBe(join(stateOf(bench.repository), 'runs', runId, 'engine.log'));
    expect(statSync(log).mode & 0o077).toBe(0);
    const kept = join(bench.repository, '.squad', 'runs', runId, 'objective.md');
    await eventually('the objective', () => existsSync(kept) || undefined);
    expect(readFileSync(kept, 'utf8')).toBe('make things');
    const busy = await bench.start(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--detach']).finished;
    expect([busy.code, busy.stdout]).toEqual([75, '']);
    const stopped = await bench.run(['stop', 'make-things']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(readdirSync(join(stateOf(bench.repository), 'panes'))).toEqual([]);
    // The run is stopped before its engine has said so and ended.
    await eventually('its last line', () => readFileSync(log, 'utf8').includes('"type":"run-ended"') || undefined);
  });

  it('resumes a run, and says how to watch and stop it', async (test) => {
    const bench = openBench(test);
    const first = await bench.runAll(['--max-turns', '1']);
    expect(first.code, first.stderr).toBe(4);
    const resumed = await bench.start(['resume', '--detach', '--max-turns', '9']).finished;
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.stdout).toMatch(
      /^make-things runs in the background \(process \d+\)\.\n {2}watch {3}squad watch make-things\n {2}stop {4}squad stop make-things\n {2}output {2}\/.+\/state\/squad\/repository-[0-9a-f]+\/runs\/[^/]+\/engine\.log\n$/,
    );
    test.onTestFinished(() => killAll([Number(/process (\d+)/.exec(resumed.stdout)?.[1])]));
    const stopped = await bench.run(['stop']);
    expect(stopped.code, stopped.stderr).toBe(0);
  });

  it('leaves the error of the checks and its code to the command', ALL, async (test) => {
    const bench = openBench(test);
    const refusals: [string[], number, string][] = [
      [['run', 'gone.md', '--detach'], 65, 'gone.md:1: file not found'],
      [['run', 'objective.md', '--detach', '--runtime', 'scripted'], 78, 'this needs your consent'],
      [['run', 'objective.md', '--detach', '--yes', '--runtime', 'none'], 2, 'no runtime is called none'],
      [['resume', '--detach'], 2, 'there is no run'],
      [['resume', '--detach', '--all'], 2, '--detach works on one whole run'],
    ];
    for (const [args, code, message] of refusals) {
      const refused = await bench.start(args).finished;
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([code, '', expect.stringContaining(message)]);
    }
    expect(existsSync(join(stateOf(bench.repository), 'runs'))).toBe(false);
  });
});
