import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { promptOf, workers } from '../support/session-folder.ts';
import { startsOf } from './run-bench.ts';
import { waitFor } from './run-script.ts';
import { FOLDER, openSessionBench, PAIR } from './session-bench.ts';
import { stateOf } from '../support/state.ts';
import { replayRun } from '../support/replay/replay-run.ts';
import { testHost } from '../support/test-host.ts';

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${join(entry.parentPath, entry.name)} ${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`)
    .toSorted();
}

describe('squad run --session', { timeout: 120_000 }, () => {
  it('plays the session to its end, and starts a completed one no more', ALL, async (test) => {
    const { play, run, state, folder, repository, fileOnBranch } = openSessionBench(test);
    const before = filesIn(repository);
    const dry = await play(['--dry-run']);
    expect([dry.code, dry.stderr], dry.stdout).toEqual([0, '']);
    expect(dry.stdout).toContain('MAKE-002');
    expect(filesIn(repository)).toEqual(before);

    const ended = await play(['--json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(startsOf(ended)).toHaveLength(3);
    expect(state()).toMatchObject({
      status: 'completed',
      completed_tasks: ['SPEC-001', 'MAKE-001', 'MAKE-002'],
      active_workers: [],
    });
    expect(fileOnBranch('make-002.txt')).toBe('MAKE-002');
    const after = filesIn(folder);

    const again = await play();
    expect([again.code, again.stdout, again.stderr]).toEqual([
      0,
      'TC-make-things-2026-02-27 is completed, with 3 tasks: nothing is left to start\n',
      '',
    ]);
    expect((await play(['--json'])).lines).toEqual([
      { type: 'session-completed', session: 'TC-make-things-2026-02-27', folder, tasks: 3 },
    ]);
    expect((await run(['runs', '--json'])).lines).toMatchObject([{ type: 'run', name: 'make-things' }]);
    expect(filesIn(folder)).toEqual(after);
    expect((await run(['status'])).stdout).toContain(`session ${folder}`);
  });

  it(
    'says that it could not write the folder of a run that is over, and writes it when asked to',
    ALL,
    async (test) => {
      const { play, run, status, report, state, folder, rescript, repository } = openSessionBench(test);
      const away = `${folder}.away`;
      const moved = workers(PAIR, (task) => (task === 'MAKE-002' ? [{ run: ['mv', folder, away] }] : []));
      rescript(moved);
      const ended = await play();
      expect(ended.code, ended.stderr).toBe(0);
      const command = 'squad resume make-things';
      expect(ended.stderr + ended.stdout).toContain(`\`${command}\` writes them again`);
      expect(await status()).toMatchObject({
        written: [{ sink: 'session', folder, problem: expect.stringContaining('not there any more') }],
        next: [command, 'squad diff make-things', 'squad merge make-things'],
      });
      expect(await report()).toMatch(/whose files are not complete: /);
      expect((await run(['log'])).stdout).toContain('are not complete: ');
      const early = await run(['resume', 'make-things']);
      expect([early.code, early.stderr]).toEqual([78, expect.stringContaining(`then run \`${command}\` again`)]);

      renameSync(away, folder);
      git(repository, 'merge', '--quiet', 'squad/make-things');
      const again = await play(['--dry-run']);
      expect([again.code, again.stderr]).toEqual([78, expect.stringContaining(command)]);
      const written = await run(['resume', 'make-things']);
      expect([written.code, written.stdout, written.stderr]).toEqual([
        0,
        `Wrote the files in ${folder} again: they are complete.\n`,
        '',
      ]);
      expect(state()).toMatchObject({ status: 'completed', completed_tasks: ['SPEC-001', 'MAKE-001', 'MAKE-002'] });
      expect(await status()).toMatchObject({ written: [{ problem: null }], next: ['squad drop make-things'] });
      const file = readFileSync(join(stateOf(repository), 'runs', (await status()).runId, 'report.md'), 'utf8');
      expect(file).toContain('whose files say what it has done');
      expect((await play()).stdout).toContain('nothing is left to start');
      expect((await run(['resume', 'make-things'])).code).toBe(2);
      expect((await run(['db', 'check'])).code).toBe(0);
    },
  );

  it.for<[string, readonly string[], number, RegExp]>([
    ['no folder', ['run', '--session'], 2, /^squad: Session required\. Usage: --session=<path-to-session-folder>\n/],
    ['an empty folder name', ['run', '--session='], 2, /^squad: Session required\./],
    ['the playbook alone', ['run', 'objective.md', '--playbook', 'session'], 2, /^squad: Session required\./],
    ['the playbook and nothing', ['run', '--playbook', 'session'], 2, /^squad: Session required\./],
    ['a folder that is not there', ['run', '--session=no'], 65, /^squad: Session directory not found: no\n/],
    ['an objective too', ['run', 'objective.md', `--session=${FOLDER}`], 2, /an objective and --session cannot/],
    ['neither', ['run'], 2, /there is no objective\nNext: .*squad run --session=FOLDER/],
  ])('refuses %s', async ([, args, code, said], test) => {
    const { run, repository } = openSessionBench(test);
    const refused = await run(args);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toMatch(said);
    expect(readdirSync(repository)).not.toContain('.squad');
  });

  it('refuses a folder that it cannot write into', ALL, (test) => {
    const { root, repository, folder } = openSessionBench(test);
    const args = ['run', `--session=${FOLDER}`, '--runtime', 'scripted', '--yes'];
    const isRoot = process.getuid?.() === 0;
    // Root can write anywhere, so another user tries.
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    if (isRoot) spawnSync('chown', ['-R', '65534:65534', root]);
    if (isRoot) spawnSync('chown', ['-R', '0:0', join(folder, 'artifacts')]);
    chmodSync(join(folder, 'artifacts'), 0o555);
    const refused = spawnSync(process.execPath, [CLI_ENTRY, ...args], {
      ...{ cwd: repository, encoding: 'utf8', ...user },
      env: { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') },
    });
    chmodSync(join(folder, 'artifacts'), 0o755);
    expect([refused.status, refused.stdout], refused.stderr).toEqual([78, '']);
    expect(refused.stderr).toContain(`squad cannot write to ${FOLDER}/artifacts`);
    expect(readdirSync(repository)).not.toContain('.squad');
  });
});

describe('one run for a folder', { timeout: 120_000 }, () => {
  it('a second run is refused with the name of the first, however the folder is spelt', ALL, async (test) => {
    const { play, run, state, folder, root, repository } = openSessionBench(test);
    const first = await play(['--json', '--max-turns', '1', '--name', 'first']);
    expect(first.code, first.stderr).toBe(4);
    expect(state()).toMatchObject({ status: 'paused', completed_tasks: ['SPEC-001'] });
    const link = join(root, 'link');
    symlinkSync(folder, link);
    for (const spelt of [FOLDER, `${FOLDER}/../TC-make/`, folder, link]) {
      const refused = await play([], spelt);
      expect([refused.code, refused.stdout], spelt).toEqual([75, '']);
      expect(refused.stderr).toMatch(/run first plays \S+ and is not over: .*\nNext: .*`squad resume first`/);
    }
    // A copy is another session.
    cpSync(folder, join(repository, '.workflow', 'copy'), { recursive: true });
    expect((await play(['--dry-run'], '.workflow/copy')).code).toBe(0);
    const adds = async () => run(['coordinate', '--into', FOLDER, '--resume', '--runtime', 'scripted', '--yes']);
    expect(await adds()).toMatchObject({ code: 75, stderr: expect.stringContaining('`squad resume first`') });
    const broken = '{ "session_id": ';
    writeFileSync(join(folder, 'team-session.json'), broken);
    for (const begin of [play, async () => play(['--dry-run']), adds]) {
      expect(await begin()).toMatchObject({ code: 75, stderr: expect.stringContaining('`squad resume first`') });
    }
    const resumed = await play(['--resume', '--json', '--max-turns', '50'], link);
    expect(readFileSync(join(folder, 'team-session.json.theirs'), 'utf8')).toBe(broken);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(startsOf(resumed).map(({ task }) => task)).toEqual(['make-001', 'make-002']);
    expect((await run(['runs', '--json'])).lines).toMatchObject([{ name: 'first', state: 'done' }]);
    expect(state()).toMatchObject({ status: 'completed' });
  });

  it('work of an earlier run has to be merged before its tasks count', ALL, async (test) => {
    const fails = { when: promptOf('MAKE-002'), steps: [{ fail: { kind: 'model-refused', message: 'no' } }] };
    const place = openSessionBench(test, PAIR, [fails, ...workers(PAIR)]);
    const { play, run, state, repository } = place;
    // The run changes files in it that git knows.
    git(repository, 'add', '-f', '.workflow');
    git(repository, 'commit', '-q', '-m', 'session');
    const failed = await play(['--json', '--name', 'first']);
    expect(failed.code, failed.stderr).toBe(1);
    expect(state()).toMatchObject({ status: 'paused', completed_tasks: ['SPEC-001', 'MAKE-001'] });
    const refused = await play(['--dry-run']);
    expect([refused.code, refused.stdout]).toEqual([78, '']);
    expect(refused.stderr).toMatch(
      /run first did MAKE-001 before it failed, but the checked-out commit does not contain that work\nNext: Try make-002 again: `squad retry make-002 --run first`\. Or merge what is done: `squad merge first --unverified`\. Or remove/,
    );
    const merged = await run(['merge', 'first', '--unverified']);
    expect(merged.code, merged.stderr).toBe(0);
    expect(state()).toMatchObject({ completed_tasks: ['SPEC-001', 'MAKE-001'] });
    place.rescript(workers(PAIR));
    const second = await play(['--json']);
    expect(second.code, second.stderr).toBe(0);
    expect(startsOf(second).map(({ task }) => task)).toEqual(['make-002']);
    expect(state()).toMatchObject({ status: 'completed' });
    expect(git(repository, 'show', 'squad/make-things:make-001.txt')).toBe('MAKE-001');
  });

  it('a fork, a clean and a drop leave the folder alone', ALL, async (test) => {
    const { play, run, folder, root, repository } = openSessionBench(test);
    expect((await play(['--json', '--name', 'first'])).code).toBe(0);
    const after = filesIn(folder);
    const points = await run(['fork', 'first', '--json']);
    const {
      points: [point],
    } = JSON.parse(points.stdout) as { points: { seq: number }[] };
    expect((await run(['fork', 'first', '--at', String(point?.seq), '--name', 'other'])).code).toBe(0);
    const resumed = await run(['resume', 'other', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect((await run(['status', 'other', '--json'])).lines).toMatchObject([{ folder: null, outcome: 'done' }]);
    const { differences } = await replayRun(compose(testHost(root)), stateOf(repository), 'first');
    expect(differences).toEqual([]);
    for (const args of [
      ['report', 'first'],
      ['doctor', '--json'],
      ['clean', '--all'],
      ['drop', 'first', '--all', '--yes'],
    ]) {
      const ended = await run(args);
      expect([args[0], args[0] === 'doctor' ? 0 : ended.code], ended.stderr).toEqual([args[0], 0]);
    }
    expect(filesIn(folder)).toEqual(after);
  });

  it('works in the background', ALL, async (test) => {
    const { play, run, startPlay, state, root, rescript } = openSessionBench(test);
    const open = join(root, 'open');
    rescript(workers(PAIR, (task) => (task === 'SPEC-001' ? [waitFor(open)] : [])));
    const begun = await startPlay(['--detach', '--name', 'behind']).finished;
    expect(begun.code, begun.stderr).toBe(0);
    expect(begun.lines).toMatchObject([{ type: 'detached', name: 'behind' }]);
    const busy = await play();
    expect([busy.code, busy.stderr]).toEqual([75, expect.stringMatching(/run behind plays .*: an engine drives it\n/)]);
    writeFileSync(open, '');
    await expect.poll(() => state()['status'], { timeout: 60_000 }).toBe('completed');
    await expect
      .poll(async () => (await run(['status', '--json'])).lines[0]?.['outcome'], { timeout: 60_000 })
      .toBe('done');
  });
});
