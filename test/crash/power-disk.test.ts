import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Disk } from '../support/power/disk.ts';
import { Follower } from '../support/power/follow-calls.ts';
import { canRecord, readCalls, recorded } from '../support/power/system-calls.ts';
import { differences, readTree, writeTree } from '../support/power/tree.ts';

const NOTHING = { journaled: 0, written: () => 0 };
const skipped = canRecord() ? '' : ' (skipped: strace is not installed, or may not trace)';

/** What a power cut leaves of what programs did: the disk of the tests of power cuts, and its recorder. */
describe.skipIf(!canRecord())(`a recorded disk${skipped}`, () => {
  const play = (script: string) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-disk-')));
    const [room, logs, after] = ['room', 'logs', 'after'].map((name) => join(root, name));
    for (const folder of [room, logs, after]) mkdirSync(folder ?? '');
    writeFileSync(join(room ?? '', 'old'), 'old\n');
    const disk = new Disk();
    readTree(disk, room ?? '', () => false);
    const [program, args] = recorded(logs ?? '', ['sh', '-c', script]);
    expect(spawnSync(program, args, { cwd: room, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    const follower = new Follower(disk, room ?? '', room ?? '');
    for (const call of readCalls(logs ?? '', room ?? '')) follower.follow(call);
    return { disk, room: room ?? '', after: after ?? '' };
  };
  const left = (disk: Disk, after: string, how = NOTHING): Record<string, string> => {
    writeTree(disk, after, how, () => false);
    const names = readdirSync(after, { recursive: true, encoding: 'utf8' });
    return Object.fromEntries(
      names.map((name) => {
        const path = join(after, name);
        return statSync(path).isDirectory() ? [`${name}/`, ''] : [name, readFileSync(path, 'utf8')];
      }),
    );
  };

  it('sees all that programs of all kinds do', () => {
    const script = `echo a >a; echo b >>a; mkdir -p d/e; mv a d/e/f; ln d/e/f g; ln -s g h; cp g i; rm d/e/f; rmdir d/e
      (cd d; echo x >y; exec 5<>y; echo long >&5; echo z >&5); printf abc | dd of=i bs=1 seek=1 conv=notrunc 2>/dev/null; truncate -s 2 g
      git init -q r; cd r; echo 1 >one; git add one; git -c user.name=a -c user.email=a@b commit -qm one; git gc -q`;
    const { disk, room } = play(script);
    expect(differences(disk, room, () => false)).toEqual([]);
  });

  it.each([
    ['nothing is there that was not flushed', 'echo new >old; echo a >a', { old: 'old\n' }],
    ['a flushed file has no name yet', 'echo a >a; sync a', { old: 'old\n' }],
    ['a name has no content yet', 'echo a >a; sync .', { old: 'old\n', a: '' }],
    ['both are there', 'echo a >a; sync a .', { old: 'old\n', a: 'a\n' }],
    ['a new name of a flushed file', 'echo a >a; sync a; mv a old; sync .', { old: 'a\n' }],
    ['a new name, not flushed', 'echo a >a; sync a .; mv a old', { old: 'old\n', a: 'a\n' }],
    ['a folder whose own name is not flushed', 'mkdir d; echo a >d/a; sync d/a d', { old: 'old\n' }],
    ['the whole disk is flushed', 'mkdir d; echo a >d/a; sync -f .', { old: 'old\n', 'd/': '', 'd/a': 'a\n' }],
  ])('%s', (_, script, files) => {
    const { disk, after } = play(script);
    expect(left(disk, after)).toEqual(files);
  });

  it('has names in their order where the file system has a journal, and of contents any part', () => {
    const { disk, after } = play('echo a >a; mv a b; echo c >c');
    expect(left(disk, after, { journaled: 2, written: () => 0 })).toEqual({ old: 'old\n', b: '' });
  });

  it('flushes with any other file what git wrote as a batch', () => {
    const script = `git init -q .; echo 1 >one; git -c core.fsync=all -c core.fsyncMethod=batch add one`;
    const { disk, room } = play(script);
    const objects = readdirSync(join(room, '.git/objects')).filter((name) => name.length === 2);
    const [folder = ''] = objects;
    const names = disk.root.entries.get('.git')?.entries.get('objects')?.entries.get(folder)?.entries;
    expect([...(names?.values() ?? [])].map(({ pending }) => pending.length)).toEqual([0]);
  });
});
