import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openRoom, type Room } from '../../bench/recovery/peers/room.ts';
import { git } from '../support/git.ts';

function openTestRoom(): Room {
  const room = openRoom({ 'a.txt': 'a\n' });
  onTestFinished(() => room.close());
  return room;
}

it('a merge is killed with its files written and its branch where it was, and nothing of it lives on', async () => {
  const room = openTestRoom();
  const { repository } = room;
  git(repository, 'checkout', '-q', '-b', 'other');
  writeFileSync(join(repository, 'b.txt'), 'b\n');
  git(repository, 'add', '--all');
  git(repository, 'commit', '-q', '-m', 'b');
  git(repository, 'checkout', '-q', 'main');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'c');
  const before = git(repository, 'rev-parse', 'main');
  const merge = ['/bin/sh', '-c', 'git status --short && git merge -q other'];
  expect(await room.killInMerge(merge, 1, 30)).toMatchObject({ code: null });
  const seen = (): unknown => [
    ...[existsSync(join(repository, 'b.txt')), existsSync(join(repository, '.git', 'MERGE_HEAD'))],
    git(repository, 'rev-parse', 'main') === before,
  ];
  expect([seen(), room.alive()]).toEqual([[true, true, true], []]);
  expect(await room.killInMerge(['/bin/sh', '-c', 'git status --short'], 1, 30)).toBeUndefined();
});

it('a process that a command leaves is seen, whatever session it has, and goes with the room', async () => {
  const room = openTestRoom();
  const ended = await room.run(['/bin/sh', '-c', 'setsid sleep 60 & exit 3'], 30);
  expect([ended.code, room.alive().length]).toEqual([3, 1]);
  await room.close();
  expect(room.alive()).toEqual([]);
});

it('a command that does not end is over with the observation', async () => {
  const room = openTestRoom();
  const ended = await room.run(['/bin/sh', '-c', 'echo begun; sleep 60'], 0.5);
  expect([ended.code, ended.output, room.alive()]).toEqual([null, 'begun\n', []]);
});
