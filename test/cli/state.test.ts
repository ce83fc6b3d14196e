import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { showState } from '../../src/substrate/system/files/checkout-view.ts';
import { definition, RecordedRun } from '../view/report/support.ts';
import { createRepository, git } from '../support/git.ts';
import { newStateOf, stateOf } from '../support/state.ts';
import { commandRoom } from './room.ts';
import { ALL } from '../support/lane.ts';

function recorded() {
  const room = commandRoom();
  new RecordedRun(definition(), newStateOf(room.repository)).allocate().close();
  return room;
}

describe('squad state', () => {
  it('names the folder of the repository, and says where nothing ran yet', async () => {
    const room = recorded();
    const found = await room.run(['state', '--json']);
    expect(found.lines).toEqual([
      expect.objectContaining({ type: 'state', directory: stateOf(room.repository), runs: 1, why: null, gone: [] }),
    ]);
    createRepository(join(room.root, 'fresh'));
    const none = await room.start(['state'], {}, [], join(room.root, 'fresh')).finished;
    expect(none).toMatchObject({ code: 0, stdout: 'squad has not run in this repository yet\n' });
    expect(existsSync(join(room.root, 'fresh', '.git', 'squad'))).toBe(false);
  });

  it('does not call a moved repository gone that it is asked in', async () => {
    const room = recorded();
    const moved = `${room.repository}-moved`;
    renameSync(room.repository, moved);
    const found = await room.start(['state', '--json'], {}, [], moved).finished;
    expect(found.lines).toEqual([expect.objectContaining({ type: 'state', runs: 1, gone: [] })]);
  });

  it('lists the state of a repository that is gone, and removes it with --forget', ALL, async () => {
    const room = recorded();
    const directory = stateOf(room.repository);
    const id = directory.split('/').at(-1) ?? '';
    const here = createRepository(join(room.root, 'here'));
    const refused = await room.start(['state', '--forget', id, '--yes'], {}, [], here).finished;
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('is no state of a repository that is gone');
    rmSync(room.repository, { recursive: true });
    const listed = await room.start(['state'], {}, [], here).finished;
    expect(listed.stdout).toContain(`gone  ${room.repository}/.git: its state has`);
    expect(listed.stdout).toContain(`squad state --forget ${id}`);
    const removed = await room.start(['state', '--forget', id, '--yes'], {}, [], here).finished;
    expect(removed, removed.stderr).toMatchObject({ code: 0 });
    expect(existsSync(directory)).toBe(false);
  });

  it('takes over the state of another place, and leaves that as it is', async () => {
    const room = recorded();
    const backup = join(room.root, 'backup');
    renameSync(stateOf(room.repository), backup);
    mkdirSync(join(backup, 'turns', 'a-1'), { recursive: true });
    writeFileSync(join(backup, 'turns', 'a-1', 'prompt'), 'do it\n');
    symlinkSync('/etc/hostname', join(backup, 'turns', 'a-1', 'stdout'));
    const before = readdirSync(backup).toSorted();
    const lost = await room.run(['status']);
    expect(lost.code).toBe(2);
    expect(lost.stderr).toContain('squad state --adopt FOLDER');
    const adopted = await room.run(['state', '--adopt', backup, '--json']);
    expect(adopted.lines, adopted.stderr).toEqual([
      {
        type: 'state-adopted',
        id: expect.any(String),
        directory: stateOf(room.repository),
        from: backup,
        runs: ['tidy'],
      },
    ]);
    expect((await room.run(['status'])).code).toBe(0);
    expect(readdirSync(join(stateOf(room.repository), 'turns', 'a-1'))).toEqual(['prompt']);
    expect(
      readdirSync(backup)
        .filter((name) => !name.startsWith('lock.') && !/-(?:shm|wal)$/.test(name))
        .toSorted(),
    ).toEqual(before.filter((name) => !name.startsWith('lock.') && !/-(?:shm|wal)$/.test(name)));
    const again = await room.run(['state', '--adopt', backup]);
    expect(again).toMatchObject({ code: 2 });
    expect(again.stderr).toContain('this repository has runs of its own');
  });

  it('does not take over what another repository uses, nor what is no state', ALL, async () => {
    const room = recorded();
    const fresh = createRepository(join(room.root, 'fresh'));
    const used = await room.start(['state', '--adopt', stateOf(room.repository)], {}, [], fresh).finished;
    expect(used.code).toBe(2);
    expect(used.stderr).toContain(`is in use by the repository at ${room.repository}/.git`);
    const none = await room.start(['state', '--adopt', room.root], {}, [], fresh).finished;
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('it has no squad.db');
  });

  it('is below the git directory with SQUAD_STATE=git, and follows the repository', ALL, async () => {
    const room = commandRoom();
    const env = { SQUAD_STATE: 'git' };
    const place = join(room.repository, '.git', 'squad', `state-${process.getuid?.() ?? 0}`);
    const fork = createRepository(join(room.root, 'linked-from'));
    expect((await room.run(['state', '--json'], env)).lines[0]).toMatchObject({ stateDirectory: place, why: 'no-id' });
    expect((await room.start(['state'], env, [], fork).finished).code).toBe(0);
    for (const wrong of ['relative', './x']) {
      const refused = await room.run(['state'], { SQUAD_STATE: wrong });
      expect(refused.code).toBe(78);
      expect(refused.stderr).toContain(`SQUAD_STATE=${wrong} is neither an absolute path nor`);
    }
  });
});

describe('the view in a checkout', () => {
  const shown = (repository: string) => readdirSync(join(repository, '.squad')).toSorted();

  it('is made again by the next command, and git does not see it', async () => {
    const room = recorded();
    mkdirSync(join(stateOf(room.repository), 'runs'), { recursive: true });
    for (let time = 0; time < 2; time += 1) {
      expect((await room.run(['status'])).code).toBe(0);
      expect(shown(room.repository)).toEqual(['.gitignore', 'runs', 'turns']);
      expect(git(room.repository, 'status', '--porcelain')).toBe('');
      rmSync(join(room.repository, '.squad'), { recursive: true });
    }
  });

  it.each<[string, (view: string) => void]>([
    ['a link', (view) => symlinkSync('/tmp', view)],
    ['a file', (view) => writeFileSync(view, 'mine')],
    [
      'a folder with another file',
      (view) => {
        mkdirSync(view);
        writeFileSync(join(view, 'notes.md'), 'mine');
      },
    ],
    [
      'a folder with a link of somebody else',
      (view) => {
        mkdirSync(view);
        symlinkSync('/etc', join(view, 'runs'));
      },
    ],
  ])('leaves %s alone', (_, make) => {
    const room = recorded();
    const view = join(room.repository, '.squad');
    make(view);
    const look = () => [lstatSync(view).mode, lstatSync(view).ino, lstatSync(view).mtimeMs];
    const before = look();
    mkdirSync(join(stateOf(room.repository), 'runs'), { recursive: true });
    showState(room.repository, stateOf(room.repository));
    expect(look()).toEqual(before);
  });

  it('of a copied checkout shows the copy’s own runs', () => {
    const room = recorded();
    mkdirSync(join(stateOf(room.repository), 'runs'), { recursive: true });
    showState(room.repository, stateOf(room.repository));
    const copy = join(room.root, 'copy');
    cpSync(room.repository, copy, { recursive: true, verbatimSymlinks: true });
    const own = newStateOf(copy);
    mkdirSync(join(own, 'runs'));
    showState(copy, own);
    expect(lstatSync(join(copy, '.squad', 'runs')).isSymbolicLink()).toBe(true);
    expect(shown(copy)).toEqual(['.gitignore', 'runs', 'turns']);
  });
});
