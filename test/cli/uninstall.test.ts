// @module-tag all
import { workspacePlaces } from '../../src/substrate/system/files/state-place.ts';
import { newStateOf, stateOf } from '../support/state.ts';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGitWorkspaces } from '../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../src/substrate/git/inspect-repository.ts';
import { byteCount } from '../../src/text/byte-count.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { author, piece, plan } from '../runs/run-script.ts';
import { definition, RecordedRun } from '../view/report/support.ts';
import { keptIn, portsIn } from '../substrate/git/bench.ts';
import type { EngineRoom, Finished } from '../support/engine.ts';
import { createRepository, git } from '../support/git.ts';
import { runInProcess } from '../support/in-process.ts';
import { killAll } from '../support/marked-pids.ts';
import { commandRoom } from './room.ts';
import { ALL } from '../support/lane.ts';

/** A run that is not over in a repository: its ledger, a folder with a commit, a ref of that work, and its branch, which is merged. */
async function leaveRun(root: string, repository: string, name: string): Promise<string> {
  const directory = newStateOf(repository);
  const ports = { ...portsIn(root), ...workspacePlaces({ stateDirectory: dirname(directory) }, directory) };
  const report = await inspectRepository(ports, repository);
  const workspaces = createGitWorkspaces(ports, report);
  const run = new RecordedRun({ ...definition(), name }, directory).allocate(report.head);
  await workspaces.createRunBranch(name, report.head);
  const folder = await workspaces.addFolder({ run: name, task: 'a', commit: report.head });
  const commit = await keptIn(workspaces, folder, { 'a.txt': 'a\n' });
  await workspaces.close();
  run.close();
  return commit;
}

interface Machine {
  readonly room: EngineRoom;
  readonly state: string;
  readonly settings: string;
  /** A second repository in which squad ran. */
  readonly other: string;
  /** Work of the first one that no branch has. */
  readonly commit: string;
}

async function machine(): Promise<Machine> {
  const room = commandRoom();
  const other = createRepository(join(room.root, 'other'));
  const commit = await leaveRun(room.root, room.repository, 'tidy');
  await leaveRun(room.root, other, 'elsewhere');
  const settings = join(room.root, '.config', 'squad');
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, 'config.yaml'), 'version: 1\n');
  return { room, state: join(room.root, 'state', 'squad'), settings, other, commit };
}

const refsOf = (repository: string): string[] =>
  git(repository, 'for-each-ref', '--format=%(refname)')
    .split('\n')
    .filter((ref) => !ref.includes('/pin.'));

const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

const listed = ({ lines: [found] }: Finished, list: 'removed' | 'left' | 'kept') =>
  (found as Record<typeof list, Record<string, unknown>[]>)[list];

describe('squad uninstall', () => {
  it('lists what squad keeps, with sizes, and changes nothing with --dry-run', async () => {
    const { room, state, settings, other } = await machine();
    const found = await room.run(['uninstall', '--dry-run', '--json']);
    expect(found, found.stderr).toMatchObject({ code: 0, lines: [{ type: 'uninstall', dryRun: true, kept: [] }] });
    const things = listed(found, 'removed').map(({ what, path, name }) => [what, path, name]);
    expect(things).toHaveLength(10);
    expect(things).toEqual(
      expect.arrayContaining([
        ...[room.repository, other].flatMap((path) => [
          ['refs', path, 'refs/squad'],
          ['folder', stateOf(path), null],
          ['folder', join(path, '.git', 'squad'), null],
        ]),
        ['branch', room.repository, 'squad/tidy'],
        ['branch', other, 'squad/elsewhere'],
        ['file', join(settings, 'config.yaml'), null],
      ]),
    );
    expect(things.at(-1)).toEqual(['folder', state, null]);
    const bytes = new Map(listed(found, 'removed').map((thing) => [thing['path'], thing['bytes']]));
    expect(bytes.get(join(settings, 'config.yaml'))).toBe('version: 1\n'.length);
    expect(bytes.get(stateOf(room.repository))).toBeGreaterThan(10_000);
    const { stdout } = await room.run(['uninstall', '--dry-run']);
    expect(stdout).toContain(`would remove  11 B`);
    expect(stdout).toContain(`squad/tidy in ${room.repository}`);
    expect(stdout).toMatch(/ledger, prompts, output and reports of 1 run; not over: tidy\n/);
    expect(stdout).toMatch(/^stays {2}the program: .*npm uninstall --global agentsquad$/m);
    expect(refsOf(room.repository)).toEqual(['refs/heads/main', 'refs/heads/squad/tidy', 'refs/squad/tidy/a-1']);
    expect([state, stateOf(other), join(settings, 'config.yaml')].every((path) => existsSync(path))).toBe(true);
  });

  it('removes it all with --yes, and nothing else', async () => {
    const { room, state, settings, other } = await machine();
    const head = git(room.repository, 'rev-parse', 'main');
    writeFileSync(join(settings, 'of-another-program'), 'mine\n');
    writeFileSync(join(room.repository, 'squad.yaml'), 'version: 1\n');
    git(room.repository, 'tag', 'squad');
    const removed = await room.run(['uninstall', '--yes']);
    expect(removed, removed.stdout).toMatchObject({ code: 0, stderr: '' });
    for (const gone of [state, join(room.repository, '.git', 'squad'), join(other, '.git', 'squad')]) {
      expect(existsSync(gone), gone).toBe(false);
    }
    expect(git(room.repository, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/main ${head}\nrefs/tags/squad ${head}`,
    );
    expect(git(other, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(readdirSync(settings)).toEqual(['of-another-program']);
    expect(readdirSync(room.repository).toSorted()).toEqual(['.git', 'readme.md', 'squad.yaml']);
    const again = await room.run(['uninstall', '--yes']);
    expect(again.stdout).toMatch(/^squad keeps nothing here\n/);
  });

  it('finds the repositories from anywhere', ALL, async () => {
    const { room, other } = await machine();
    const removed = await runInProcess({ root: room.root, repository: room.root }, ['uninstall', '--yes']);
    expect(removed.code, removed.stderr).toBe(0);
    expect([room.repository, other].map((path) => refsOf(path))).toEqual([['refs/heads/main'], ['refs/heads/main']]);
  });

  it('keeps branches with work that is nowhere else, that are checked out, or that no run made', async () => {
    const { room, commit } = await machine();
    const { repository } = room;
    git(repository, 'branch', '--force', 'squad/tidy', commit);
    git(repository, 'branch', 'squad/my-own');
    const removed = await room.run(['uninstall', '--yes', '--json']);
    expect(removed.code, removed.stderr).toBe(0);
    expect(refsOf(repository)).toEqual(['refs/heads/main', 'refs/heads/squad/my-own', 'refs/heads/squad/tidy']);
    expect(listed(removed, 'left')).toEqual(
      expect.arrayContaining([
        {
          name: `branch squad/tidy in ${repository}`,
          why: `no other branch has its work. To keep it under another name: git -C ${repository} branch -m squad/tidy tidy-kept`,
          next: null,
        },
        { name: `branch squad/my-own in ${repository}`, why: 'no run of squad has this name', next: null },
      ]),
    );
  });

  it('keeps a branch that is checked out', ALL, async () => {
    const { room } = await machine();
    git(room.repository, 'switch', '-q', 'squad/tidy');
    const removed = await room.run(['uninstall', '--yes']);
    expect(removed.stdout).toContain(`stays  branch squad/tidy in ${room.repository}: it is checked out`);
    expect(git(room.repository, 'symbolic-ref', 'HEAD')).toBe('refs/heads/squad/tidy');
  });

  it('needs consent where nobody can be asked', async () => {
    const { room, state } = await machine();
    for (const more of [[], ['--json']]) {
      const refused = await room.run(['uninstall', ...more]);
      expect(refused.code).toBe(2);
      expect(`${refused.stdout}${refused.stderr}`).toContain('squad uninstall --yes');
    }
    expect(existsSync(state)).toBe(true);
  });

  it('removes links, and nothing behind them', async () => {
    const { room, state, settings } = await machine();
    const { root, repository } = room;
    const outside = join(root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'config.yaml'), 'version: 1\n');
    renameSync(stateOf(repository), join(outside, 'squad-folder'));
    symlinkSync(
      join(outside, 'squad-folder'),
      join(state, readFileSync(join(repository, '.git/squad/id'), 'utf8').trim()),
    );
    renameSync(join(settings, 'config.yaml'), join(outside, 'config.yaml'));
    symlinkSync(join(outside, 'config.yaml'), join(settings, 'config.yaml'));
    symlinkSync(outside, join(state, 'homes'));
    // The whole state is on another disk.
    renameSync(join(root, 'state'), join(root, 'disk'));
    symlinkSync(join(root, 'disk'), join(root, 'state'));
    const before = filesIn(outside);
    const removed = await room.run(['uninstall', '--yes', '--json']);
    expect(removed, removed.stderr).toMatchObject({ code: 0, lines: [{ kept: [] }] });
    expect(listed(removed, 'removed').filter(({ what }) => what === 'link')).toHaveLength(2);
    expect(filesIn(outside)).toEqual(before);
    expect(readFileSync(join(outside, 'config.yaml'), 'utf8')).toBe('version: 1\n');
    expect(readdirSync(join(root, 'disk'))).toEqual([]);
    expect(existsSync(settings)).toBe(false);
  });

  it('removes a ledger that it cannot read', ALL, async () => {
    const { room } = await machine();
    const directory = stateOf(room.repository);
    writeFileSync(join(directory, 'squad.db'), 'no database');
    expect(await room.run(['uninstall', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(directory)).toBe(false);
    expect(refsOf(room.repository)).toEqual(['refs/heads/main']);
  });

  it('does not take a moved repository for another one', ALL, async () => {
    const { room, other } = await machine();
    renameSync(other, `${other}-moved`);
    createRepository(other);
    renameSync(other, join(room.root, 'new'));
    const removed = await room.run(['uninstall', '--yes', '--json']);
    expect(removed.code, removed.stderr).toBe(0);
    expect(listed(removed, 'left')).toContainEqual({
      name: `what runs left in the repository that was at ${other}`,
      why: 'it is not there; call squad where it is now',
      next: 'squad uninstall',
    });
    expect(existsSync(join(`${other}-moved`, '.git/squad/id'))).toBe(true);
    expect(refsOf(`${other}-moved`)).toContain('refs/heads/squad/elsewhere');
  });

  it('finds a moved repository that it is called in', ALL, async () => {
    const { room, other } = await machine();
    const moved = `${other}-moved`;
    renameSync(other, moved);
    const found = await runInProcess({ root: room.root, repository: moved }, ['uninstall', '--dry-run', '--json']);
    expect(found.code, found.stderr).toBe(0);
    expect(listed(found, 'left').filter(({ why }) => String(why).startsWith('it is not there'))).toEqual([]);
    expect(listed(found, 'removed')).toContainEqual(expect.objectContaining({ path: join(moved, '.git/squad') }));
  });

  it('is refused while a process works in a folder', ALL, async () => {
    const { room, state } = await machine();
    const child = spawn('sleep', ['300'], { cwd: state });
    try {
      for (const how of ['--dry-run', '--yes']) {
        const refused = await room.run(['uninstall', how]);
        expect(refused).toMatchObject({ code: 75, stdout: '' });
        expect(refused.stderr).toContain(`processes work in ${state}: ${child.pid}`);
      }
    } finally {
      killAll([child.pid ?? 0]);
    }
    expect(refsOf(room.repository)).toContain('refs/squad/tidy/a-1');
  });
});

it(
  'is refused while an engine drives a run in another repository',
  { timeout: 120_000 },
  async ({ onTestFinished }) => {
    const bench = openRunBench({ script: [plan([piece('a')]), author('a', [{ run: ['true'] }, { hang: true }])] });
    onTestFinished(() => bench.end());
    const elsewhere = createRepository(join(bench.root, 'elsewhere'));
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
    for (const how of ['--dry-run', '--yes']) {
      const refused = await runInProcess({ root: bench.root, repository: elsewhere }, ['uninstall', how]);
      expect(refused.code).toBe(75);
    }
    expect(existsSync(join(stateOf(bench.repository), 'squad.db'))).toBe(true);
    // Its own repository says which process it is.
    const refused = await bench.run(['uninstall', '--yes']);
    expect(refused.code).toBe(75);
    expect(existsSync(join(bench.root, 'state', 'squad'))).toBe(true);
    expect((await bench.run(['stop'])).code).toBe(0);
    await engine.finished;
  },
);

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [9_949, '9.9 kB'],
  [9_960, '10 kB'],
  [999_600, '1.0 MB'],
  [38_400_000, '38 MB'],
  [5e15, '5000 TB'],
])('says %i bytes as %s', (bytes, text) => expect(byteCount(bytes)).toBe(text));
