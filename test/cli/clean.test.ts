import { makeScratch } from '../../src/substrate/system/files/scratch.ts';
import { scratchLabel } from '../../src/substrate/system/process/left-scratch.ts';
import { workspacePlaces } from '../../src/substrate/system/files/state-place.ts';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGitWorkspaces } from '../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../src/substrate/git/inspect-repository.ts';
import type { TaskFolder, Workspaces } from '../../src/substrate/ports/workspaces.ts';
import { failed } from '../playbooks/simulator.ts';
import { definition, play, RecordedRun } from '../view/report/support.ts';
import { ADDS_CHILD } from '../substrate/git/adds-child.ts';
import { keptIn, portsIn } from '../substrate/git/bench.ts';
import type { EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { commandRoom, scriptedTurn } from './room.ts';
import { ALL } from '../support/lane.ts';
import { newStateOf, stateOf } from '../support/state.ts';

interface Left {
  readonly room: EngineRoom;
  readonly run: RecordedRun;
  readonly workspaces: Workspaces;
  readonly stateDirectory: string;
  readonly base: string;
  add(task: string): Promise<TaskFolder>;
}

/** A room with a run in its ledger, and real workspaces where the command line looks for them. */
async function leave(name = 'tidy'): Promise<Left> {
  const room = commandRoom();
  const stateDirectory = join(room.root, 'state', 'squad');
  const ports = { ...portsIn(room.root), ...workspacePlaces({ stateDirectory }, newStateOf(room.repository)) };
  const report = await inspectRepository(ports, room.repository);
  const workspaces = createGitWorkspaces(ports, report);
  const run = new RecordedRun({ ...definition(), name }, newStateOf(room.repository)).allocate(report.head);
  await workspaces.createRunBranch(name, report.head);
  const add = (task: string) => workspaces.addFolder({ run: name, task, commit: report.head });
  return { room, run, workspaces, stateDirectory, base: report.head, add };
}

function refsOf(room: EngineRoom): string[] {
  return git(room.repository, 'for-each-ref', '--format=%(refname)')
    .split('\n')
    .filter((ref) => ref !== 'refs/heads/main' && !ref.includes('/pin.'));
}

/** An engine that is killed once git has its first worktree and before there is a file in it. */
/** Where the folders of runs are, below the room. */
function workIn({ root, repository }: EngineRoom): string {
  return relative(root, join(stateOf(repository), 'work'));
}

async function crashWhileAdding(room: EngineRoom, run: string, base: string): Promise<NodeJS.Signals | null> {
  const child = spawn(
    process.execPath,
    [ADDS_CHILD, room.root, room.repository, base, run, '1', 'git.folder-filled=kill', workIn(room)],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env['PATH'] } },
  );
  return new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
}

describe('squad clean', () => {
  it('removes the folders of a finished run, and keeps what nobody had committed', ALL, async () => {
    const { room, run, workspaces, stateDirectory, base, add } = await leave();
    const [clean, dirty] = [await add('a'), await add('b')];
    const commit = await keptIn(workspaces, dirty, { 'b.txt': 'b\n' });
    writeFileSync(join(dirty.workspace.path, 'draft.txt'), 'draft\n');
    const integrated = await workspaces.integrate({ run: 'tidy', commit, message: 'b' });
    expect(integrated.type).toBe('candidate');
    await workspaces.integrationAt('tidy', commit);
    run.publish({ head: base }).close();
    const scratch = () => readdirSync(join(stateDirectory, 'git-scratch'));
    const cleaned = await room.run(['clean', '--json']);
    expect(cleaned).toMatchObject({ code: 0, stderr: '' });
    // Neither its own nor those of the engine before it.
    expect(scratch()).toEqual([]);
    const integration = join(clean.workspace.path, '..', '_integration');
    expect(cleaned.lines).toMatchObject([
      {
        type: 'clean',
        dryRun: false,
        skipped: [],
        freed: expect.any(Number) as number,
        runs: [
          {
            run: 'tidy',
            turns: 0,
            refs: null,
            left: [],
            folders: [
              { path: integration, action: 'removed' },
              { path: clean.workspace.path, action: 'removed' },
              { path: dirty.workspace.path, action: 'removed', rescued: 'refs/squad/tidy/b-left' },
            ],
          },
        ],
      },
    ]);
    expect(git(room.repository, 'show', 'refs/squad/tidy/b-left:draft.txt')).toBe('draft');
    expect(readdirSync(join(stateOf(room.repository), 'work'))).toEqual([]);
    expect(existsSync(join(clean.workspace.path, '..'))).toBe(false);
    expect(refsOf(room)).toEqual(['refs/heads/squad/tidy', 'refs/squad/tidy/b-1', 'refs/squad/tidy/b-left']);
    expect((await room.run(['clean'])).stdout).toBe('nothing to clean\n');
  });

  it('removes the files of the run that follow from its ledger, and no report', ALL, async () => {
    const { room, run } = await leave();
    run.publish().close();
    const folder = join(stateOf(room.repository), 'runs', run.id);
    mkdirSync(join(folder, 'history'), { recursive: true });
    for (const name of ['history/1.md', 'state.json', 'report.md', 'engine.log']) writeFileSync(join(folder, name), '');
    const paths = ['history', 'state.json'].map((name) => join(folder, name));
    const would = paths.map((path) => `would remove  ${path}\n`).join('');
    expect((await room.run(['clean', '--dry-run'])).stdout).toBe(would);
    expect((await room.run(['clean', '--json'])).lines).toMatchObject([{ runs: [{ run: 'tidy', files: paths }] }]);
    expect(readdirSync(folder).toSorted()).toEqual(['engine.log', 'report.md']);
    expect((await room.run(['clean'])).stdout).toBe('nothing to clean\n');
  });

  it('T17 removes what was half made when its engine died, or half deleted', ALL, async () => {
    const { room, run, base, add } = await leave();
    const { workspace } = await add('a');
    const ended = await crashWhileAdding(room, 'tidy', base);
    expect(ended).toBe('SIGKILL');
    const half = join(workspace.path, '..', 'one');
    expect(existsSync(half)).toBe(true);
    run.publish().close();
    const apart = join(stateOf(room.repository), 'apart', run.id);
    mkdirSync(join(apart, 'tidy.a-1'), { recursive: true });
    const all = [workspace.path, half, apart];
    expect((await room.run(['clean', '--dry-run'])).stdout).toBe(all.map((path) => `would remove  ${path}\n`).join(''));
    const { stdout } = await room.run(['clean']);
    expect(stdout.replace(/free again {2}\d+ kB\n$/, '')).toBe(all.map((path) => `removed   ${path}\n`).join(''));
    expect(stdout).toContain('free again');
    expect(existsSync(apart)).toBe(false);
    expect(existsSync(join(workspace.path, '..'))).toBe(false);
    expect(readdirSync(join(stateOf(room.repository), 'work'))).toEqual([]);
    expect((await room.run(['clean'])).stdout).toBe('nothing to clean\n');
  });

  it('only says what it would do with --dry-run', ALL, async () => {
    const { room, run, add } = await leave();
    const [clean, dirty] = [await add('a'), await add('b')];
    writeFileSync(join(dirty.workspace.path, 'draft.txt'), 'draft\n');
    run.publish().turn('a', 1, 'bob', {}).close();
    const turn = join(run.directory, 'turns', 'tidy.a-1');
    mkdirSync(turn, { recursive: true });
    const { stdout } = await room.run(['clean', '--dry-run', '--turns', '--refs']);
    expect(stdout).toBe(
      [
        `would remove  ${clean.workspace.path}`,
        `would remove  ${dirty.workspace.path}  (uncommitted work: refs/squad/tidy/b-left)`,
        'would remove  1 turn folder of tidy',
        '',
      ].join('\n'),
    );
    for (const path of [clean.workspace.path, dirty.workspace.path, turn]) expect(existsSync(path)).toBe(true);
    expect(refsOf(room)).toEqual(['refs/heads/squad/tidy']);
  });

  it('keeps turns unless they are asked for', ALL, async () => {
    const { room, run } = await leave();
    run.publish().turn('a', 1, 'bob', {}).close();
    const turn = join(run.directory, 'turns', 'tidy.a-1');
    const other = join(run.directory, 'turns', 'other.a-1');
    for (const folder of [turn, other]) mkdirSync(folder, { recursive: true });
    await room.run(['clean']);
    expect(existsSync(turn)).toBe(true);
    expect((await room.run(['clean', '--turns'])).stdout).toBe('removed   1 turn folder of tidy\n');
    expect([existsSync(turn), existsSync(other)]).toEqual([false, true]);
  });

  it('is refused while an engine drives', async () => {
    const { room, run, add } = await leave();
    const { workspace } = await add('a');
    run.publish();
    const refused = await room.run(['clean', '--all']);
    expect(refused.stderr).toMatch(/Another squad \(PID \d+/);
    expect(refused).toMatchObject({ code: 75, stdout: '' });
    expect(existsSync(workspace.path)).toBe(true);
  });

  it('leaves a run alone that can be resumed', ALL, async () => {
    const { room, run, add } = await leave();
    const { workspace } = await add('a');
    run.decide('stop', 'usd').close();
    const refused = await room.run(['clean', 'tidy']);
    expect(refused.stderr).toMatch(/tidy is not over[^]*squad resume tidy/);
    expect(refused.code).toBe(2);
    expect((await room.run(['clean', '--all'])).stdout).toBe('skipped  tidy: it is not over\n');
    expect(existsSync(workspace.path)).toBe(true);
  });

  it('leaves a run alone that a person opens again', async () => {
    const { room, run, add } = await leave();
    const { workspace } = await add('a');
    const { entries } = play(run.about, { turn: ({ task }) => (task === 'a' ? failed('model-refused') : undefined) });
    run.plan(entries).publish();
    run.ledger.command(run.id, 'retry', { task: 'a', fresh: false }, 'ada');
    run.close();
    expect(await room.run(['clean', 'tidy'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tidy is not over') as string,
    });
    expect(existsSync(workspace.path)).toBe(true);
  });

  it('leaves a run alone that was cut short, and nothing of one that ended', ALL, async () => {
    const room = commandRoom();
    await room.run(scriptedTurn(room, [{ answer: 'done' }]));
    await room.run(scriptedTurn(room, [{ answer: 'done' }]), { SQUAD_FAILPOINTS: 'attempt.settled=kill' });
    const folders = () =>
      readdirSync(join(room.root, 'state', 'squad'), { recursive: true }).filter((name) =>
        String(name).endsWith('/turn/.git'),
      );
    expect(folders()).toHaveLength(1);
    const { stdout } = await room.run(['clean', '--all']);
    expect(stdout).toMatch(/^(?:removed {2}\S+\n)+skipped {2}go-2: it is not over\nfree again {2}.+\n$/);
    expect(folders()).toHaveLength(1);
  });

  it('wants one thing', async () => {
    const { room, run } = await leave();
    run.close();
    expect((await room.run(['clean', 'tidy', '--all'])).code).toBe(2);
  });

  it('keeps a folder that is in the way of nobody', ALL, async () => {
    const { room, run, add } = await leave();
    const { workspace } = await add('a');
    const mine = join(workspace.path, '..', 'mine');
    mkdirSync(mine);
    run.publish().close();
    expect((await room.run(['clean'])).stdout).toContain('kept      mine in the folder of tidy');
    expect(existsSync(mine)).toBe(true);
  });

  it('removes temporary files of processes that are gone, and no others, whatever their times say', ALL, async () => {
    const { room, run, stateDirectory } = await leave();
    run.publish().close();
    const mine = await makeScratch(stateDirectory, scratchLabel());
    const gone = mine.replace(`of_${process.pid}_`, 'of_4194304_');
    const folders = [gone, mine, join(stateDirectory, 'git-scratch', 'other')];
    const [now, year] = [Date.now() / 1000, 365 * 24 * 3600];
    for (const [place, folder] of folders.entries()) {
      mkdirSync(folder, { recursive: true });
      const at = place === 0 ? now + year : now - year;
      utimesSync(folder, at, at);
    }
    const { stdout } = await room.run(['clean']);
    expect(stdout.replace(/free again .*\n$/, '')).toBe(`removed  ${gone}  (left by a dead engine)\n`);
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, true]);
  });
});

describe('squad clean --refs', () => {
  /** Delivered work on the run branch, and a ref of an attempt. */
  async function delivered() {
    const left = await leave();
    const worktree = await left.add('a');
    const commit = await keptIn(left.workspaces, worktree, { 'a.txt': 'a\n' });
    await left.workspaces.advance('tidy', left.base, commit);
    left.run.publish({ head: commit }).close();
    return { ...left, worktree, commit };
  }

  it('keeps the branch while no other one has its work', ALL, async () => {
    const { room } = await delivered();
    const { stdout } = await room.run(['clean', '--refs']);
    expect(stdout).toContain('removed   1 ref below refs/squad/tidy');
    expect(stdout).toContain(
      'kept      branch squad/tidy: no other branch has its work. To keep it under another name: git branch -m squad/tidy tidy-kept',
    );
    expect(refsOf(room)).toContain('refs/heads/squad/tidy');
  });

  it('counts other run branches for nothing: they may go next', ALL, async () => {
    const { room, commit } = await delivered();
    git(room.repository, 'branch', 'squad/other', commit);
    expect((await room.run(['clean', '--refs'])).stdout).toContain('kept      branch squad/tidy');
  });

  it('drops it once it is merged, and says where it was', ALL, async () => {
    const { room, commit } = await delivered();
    git(room.repository, 'merge', '-q', 'squad/tidy');
    const { stdout } = await room.run(['clean', '--refs']);
    expect(stdout).toContain(`removed   branch squad/tidy, which was at ${commit}`);
    expect(refsOf(room)).not.toContain('refs/heads/squad/tidy');
    expect(git(room.repository, 'status', '--porcelain')).toBe('');
  });

  it('keeps what somebody has checked out', ALL, async () => {
    const { room } = await delivered();
    git(room.repository, 'switch', '-q', 'squad/tidy');
    expect((await room.run(['clean', '--refs'])).stdout).toContain('kept      branch squad/tidy: it is checked out');
    expect(git(room.repository, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('squad/tidy');
  });

  it('never drops in the same breath what it has just rescued', ALL, async () => {
    const { room, worktree } = await delivered();
    writeFileSync(join(worktree.workspace.path, 'draft.txt'), 'draft\n');
    await room.run(['clean', '--refs']);
    expect(git(room.repository, 'show', 'refs/squad/tidy/a-left:draft.txt')).toBe('draft');
  });
});
