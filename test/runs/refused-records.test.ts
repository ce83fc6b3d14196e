// @module-tag all
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRunBench, type RunBench } from './run-bench.ts';
import { some, SPREAD } from '../support/lane.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

/** All that is stored about runs. */
function stored(bench: RunBench): unknown {
  const ledger = bench.ledger();
  const all = ledger.events({});
  ledger.close();
  return all;
}

const OVER = [
  ['resume', 'make-things', '--reload', '--yes'],
  ['resume', 'make-things', '--past-deadline'],
  ['resume', 'make-things', '--max-turns', '99'],
  ['resume', 'make-things', '--agent', 'builder-1'],
  ['resume', 'make-things', '--task', 'a'],
  ['pause', 'make-things'],
  ['drain', 'make-things'],
  ['stop', 'make-things'],
  ['cancel', 'make-things'],
  ['cancel', 'make-things', '--task', 'a'],
  ['retry', 'a'],
  ['retry', 'a', '--runtime', 'scripted'],
  ['skip', 'a'],
  ['override', 'a', 'failed', '--reason', 'no'],
  ['override', 'a', 'done', '--reason', 'yes'],
  ['answer', 'yes'],
  ['answer', 'plan-1', 'approve'],
  ['fork', 'make-things', '--at', '1'],
  ['fork', 'make-things', '--at', '999999'],
];

const STRANGE = [
  ['retry', 'zed'],
  ['retry', 'zed', '--runtime', 'scripted'],
  ['retry', 'a', '--agent', 'nobody'],
  ['retry', 'a', '--runtime', 'nothing'],
  ['skip', 'zed'],
  ['override', 'zed', 'done', '--reason', 'yes'],
  ['switch', 'scripted', '--task', 'zed'],
  ['switch', 'scripted', '--agent', 'nobody'],
  ['switch', 'nothing', '--task', 'a'],
  ['switch', 'scripted'],
  ['pause', '--task', 'zed'],
  ['pause', '--agent', 'nobody'],
  ['cancel', '--task', 'zed'],
  ['resume', '--task', 'zed'],
  ['resume', '--agent', 'nobody'],
  ['resume', '--task', 'a'],
  ['resume', '--past-deadline'],
  ['resume', '--reload'],
  ['resume', 'other', '--reload', '--yes'],
  ['answer', 'yes'],
  ['answer', 'zed', 'yes'],
  ['run', 'objective.md', '--runtime', 'scripted', '--yes'],
];

const SCRIPT = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];

async function refuseAll(bench: RunBench, commands: readonly (readonly string[])[]): Promise<void> {
  const before = stored(bench);
  for (const args of commands) {
    const { code, stderr, stdout } = await bench.run(args);
    expect([2, 65, 78], `squad ${args.join(' ')}: ${code} ${stdout} ${stderr}`).toContain(code);
    expect(stderr, args.join(' ')).toMatch(/^(?:squad|error): /m);
    expect(stored(bench), `squad ${args.join(' ')} is refused, and stores something`).toEqual(before);
  }
}

describe('a command that is refused stores nothing', { timeout: 300_000 }, () => {
  it('of a run that is over', SPREAD, async () => {
    const bench = openRunBench({ script: SCRIPT });
    onTestFinished(() => bench.end());
    expect((await bench.runAll()).code).toBe(0);
    // A reload would have something to store.
    bench.settings({ verify: [{ run: 'true' }], limits: { turns: 7 } });
    await refuseAll(bench, some(OVER, 0, 6));
    expect((await bench.run(['resume', 'make-things', '--reload', '--yes'])).stderr).toContain('is over');
  });

  it('of a run that can be resumed, about what it does not have', SPREAD, async () => {
    const bench = openRunBench({ script: SCRIPT });
    onTestFinished(() => bench.end());
    expect((await bench.runAll(['--max-turns', '1'])).code).toBe(4);
    bench.settings({ verify: [{ run: 'true' }] });
    await refuseAll(bench, some(STRANGE, 0, 6));
  });
});

describe('an objective whose run is not over', { timeout: 300_000 }, () => {
  const again = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--json'];

  it('is named before another run of it pays, and only then', async () => {
    const bench = openRunBench({ script: SCRIPT });
    onTestFinished(() => bench.end());
    expect((await bench.runAll(['--max-turns', '1'])).code).toBe(4);
    const before = stored(bench);
    const objective = 'objective.md';
    for (const args of [
      again,
      [...again, '--detach'],
      ['plan', objective, '--runtime', 'scripted', '--yes', '--json'],
    ]) {
      const refused = await bench.run(args);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining('run make-things of this objective is not over'),
      ]);
      expect(refused.stderr).toMatch(
        /Next: Continue it with `squad resume make-things`, .*`squad cancel make-things`.*`--name NAME`/,
      );
      expect(stored(bench)).toEqual(before);
    }
    expect((await bench.run([...again, '--dry-run'])).code).toBe(0);
    // Another objective is no repetition, and a name says that it is meant.
    expect(
      (await bench.run(['run', 'Make more', '--runtime', 'scripted', '--yes', '--json', '--max-turns', '1'])).code,
    ).toBe(4);
    expect((await bench.run([...again, '--name', 'second', '--max-turns', '1'])).code).toBe(4);
    expect((await bench.run([...again, '--max-turns', '1'])).stderr).toContain('run second of this objective');
    for (const name of ['second', 'make-things']) expect((await bench.run(['cancel', name])).code).toBe(0);
    expect((await bench.run([...again, '--max-turns', '9'])).code).toBe(0);
    // It is over.
    expect((await bench.run([...again, '--max-turns', '9'])).code).toBe(0);
  });
});
