// @module-tag all
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, objective, piece, plan, type Entry, type Step } from './run-script.ts';

let bench: RunBench;
afterEach(() => bench.end());

const SECRET = 'TOKEN=the-secret-of-this-checkout\n';
const VALUE = 'postgres-of-this-shell';
/** Without the value itself, which is searched for below. */
const CHECK =
  'grep -q the-secret .env && test "${DATABASE_URL#postgres}" = -of-this-shell && test {port} = "$SQUAD_PORT"';
const shell = (text: string): Step => ({ run: ['sh', '-c', text] });

function open(script: readonly Entry[], more: Readonly<Record<string, unknown>> = {}): void {
  bench = openRunBench({
    script: [plan([piece('a')]), ...script, APPROVE_ALL],
    files: { '.gitignore': '.env\n', '.worktreeinclude': '.env\n' },
    settings: { env: ['DATABASE_URL'], verify: [{ run: CHECK }], ...more },
    objective: objective({ criteria: [`it holds (run: \`${CHECK}\`)`] }),
  });
  writeFileSync(join(bench.repository, '.env'), SECRET);
}

/** All objects of the person's repository, those that nothing names too. */
function contents(): string {
  const all = ['cat-file', '--batch-all-objects', '--batch', '--unordered'];
  return execFileSync('git', all, { cwd: bench.repository, encoding: 'latin1', maxBuffer: 1e8 });
}

const headline = (ended: { lines: readonly Record<string, unknown>[] }): unknown => ended.lines.at(-1)?.['headline'];
const DONE = 'DONE, all work is delivered and verified';

describe('ignored files and variables that checks need', { timeout: 120_000 }, () => {
  it('are in each check as they were at the start, whatever an agent and a later change make of them', async () => {
    const seen =
      'ls -A > "$HOME/$0"; cat .env >> "$HOME/$0"; printenv DATABASE_URL >> "$HOME/$0"; echo "port $SQUAD_PORT" >> "$HOME/$0"';
    const spoil = 'rm .env; mkfifo .env; rm -rf .env; mkdir .env; rm -r .env; ln -s /etc/hostname .env; :';
    const commit = 'echo a > a.txt; git add a.txt; git commit -qm a';
    const look: Step = { run: ['sh', '-c', `${seen}; exit 0`, 'builder'] };
    const build = author('a', [
      look,
      shell(`echo changed > "$HOME/started"; ${spoil}`),
      shell(commit),
      { answer: 'ok' },
    ]);
    const review: Entry = {
      ...APPROVE_ALL,
      steps: [{ run: ['sh', '-c', `${seen}; exit 0`, 'reviewer'] }, { answer: 'fine' }],
    };
    open([build, review]);
    const engine = bench.startRun([], { DATABASE_URL: VALUE });
    const home = join(bench.repository, '..');
    const homeOf = (name: string): string => {
      const found = [home, bench.root, join(bench.root, 'home')]
        .map((at) => join(at, name))
        .find((at) => existsSync(at));
      return found === undefined ? '' : readFileSync(found, 'utf8');
    };
    for (let tries = 0; tries < 400 && homeOf('started') === ''; tries += 1)
      await new Promise((end) => setTimeout(end, 50));
    writeFileSync(join(bench.repository, '.env'), 'another\n');
    const ended = await engine.finished;
    expect([headline(ended), ended.code], ended.stderr).toEqual([DONE, 0]);
    expect(homeOf('builder')).toContain('the-secret');
    expect(homeOf('builder')).not.toContain(VALUE);
    const ports = ['builder', 'reviewer'].map((name) => /^port (2\d{4})$/m.exec(homeOf(name))?.[1]);
    expect(new Set(ports).size, String(ports)).toBe(2);
    expect(ports).not.toContain(undefined);
    expect(homeOf('reviewer')).toContain('a.txt');
    expect(homeOf('reviewer')).not.toContain('.env');
    expect(bench.fileOnBranch('.env')).toBeUndefined();
    expect(contents()).not.toContain('the-secret');
    const [kept = ''] = readdirSync(join(stateOf(bench.repository), 'copies')).map((id) =>
      join(stateOf(bench.repository), 'copies', id),
    );
    expect(readdirSync(kept).map((name) => statSync(join(kept, name)).mode & 0o777)).toEqual([0o600]);
    expect(spawnSync('grep', ['-rl', VALUE, stateOf(bench.repository)], { encoding: 'utf8' }).stdout).toBe('');
  });

  it('are not taken from an agent that commits them: it is told, and its next commit counts', async () => {
    const bad =
      'echo > .gitignore; echo a > a.txt; git add -A; git commit -qm bad; git rm -q --cached .env; git commit -qm gone';
    const good = 'git reset -q --soft HEAD~2; git checkout -q HEAD .gitignore; git add a.txt; git commit -qm good';
    open([
      author('a', [shell(bad), { answer: 'ok' }]),
      { when: 'never delivers', steps: [shell(good), { answer: 'ok' }] },
    ]);
    const ended = await bench.runAll([], { DATABASE_URL: VALUE });
    expect([headline(ended), ended.code], ended.stderr).toEqual([DONE, 0]);
    expect(contents()).not.toContain('the-secret');
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });

  it.each<[what: string, leave: string]>([
    ['uncommitted, with other rules', 'echo > .gitignore; echo a > a.txt'],
    ['staged by force', 'echo a > a.txt; git add -f .env'],
    ['in a stash', 'git stash -qa; echo a > a.txt; git add a.txt; git commit -qm a'],
    ['on another branch', 'git checkout -qb x; git add -f .env; git commit -qm x; git checkout -q -; echo a > a.txt'],
  ])('are in nothing that is kept or delivered: %s', ALL, async (_, leave) => {
    open([
      author('a', [shell(leave), { answer: 'ok' }]),
      again('a', 'evidence', [
        shell('git reset -q; git checkout -q .gitignore; git add a.txt; git commit -qm a'),
        { answer: 'ok' },
      ]),
    ]);
    const ended = await bench.runAll([], { DATABASE_URL: VALUE });
    expect([headline(ended), ended.code], ended.stderr).toEqual([DONE, 0]);
    expect(contents()).not.toContain('the-secret');
    expect(bench.fileOnBranch('.env')).toBeUndefined();
  });

  it('wait for a shell that has the variables', ALL, async () => {
    open([author('a', commits({ 'a.txt': 'a\n' }))]);
    const stopped = await bench.runAll(['--max-turns', '1'], { DATABASE_URL: VALUE });
    expect(stopped.code, stopped.stderr).toBe(4);
    const refused = await bench.run(['resume', '--max-turns', '9', '--json']);
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      78,
      expect.stringContaining('commands of run make-things need the variable DATABASE_URL, which is not set here'),
    ]);
    rmSync(join(bench.repository, '.env'));
    const done = await bench.start(['resume', '--max-turns', '9', '--json'], { DATABASE_URL: VALUE }).finished;
    expect([headline(done), done.code], done.stderr).toEqual([DONE, 0]);
  });
});
