import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { poison, RAN } from '../security/poison.ts';
import { git } from '../support/git.ts';
import { snapshot } from '../support/snapshot.ts';
import { BINARIES, CLIS, openShellBench, type ShellBench } from './shell-bench.ts';

/** Ways to write into the user's repository `$U` from a clone of it. */
const INTO_THE_USERS = [
  'echo x > $U/x; echo x >> $U/readme.md; rm -f $U/readme.md; chmod 777 $U; touch $U/.git/x',
  'echo x >> ../repository/.git/config; cd ../repository && git config a.b c; git add -A; git commit -m x --allow-empty',
  'for f in HEAD config index packed-refs refs/heads/main info/exclude hooks/pre-commit objects/info/alternates; do echo x > $U/.git/$f; done',
  'mv $U/.git $U/git; rm -rf $U/.git; mkdir -p $U/.git/rebase-merge $U/.git/worktrees/x; touch $U/.git/index.lock $U/.git/shallow',
  'git push $U HEAD:refs/heads/evil; git push file://$U HEAD:refs/heads/evil; git push ../repository +HEAD:main; git push --mirror $U/.git',
  'git remote add user $U; git push user HEAD:evil; git fetch user; git -C $U fetch $PWD HEAD:refs/heads/evil',
  'git -C $U branch evil; git -C $U update-ref refs/heads/main HEAD; git -C $U gc --prune=now; git -C $U stash; git -C $U worktree add ../evil',
  'git --git-dir=$U/.git update-ref refs/heads/evil HEAD; git --git-dir=$U/.git --work-tree=. commit -am x; GIT_DIR=$U/.git git tag evil',
  'GIT_OBJECT_DIRECTORY=$U/.git/objects git hash-object -w readme.md; echo new | GIT_OBJECT_DIRECTORY=$U/.git/objects git hash-object -w --stdin; GIT_INDEX_FILE=$U/.git/index git add -A',
  'A=$(cat .git/objects/info/alternates); touch $A/x; mkdir $A/aa; rm -rf $A/*; echo x > $A/info/alternates; echo x > $A/pack/x.pack',
  'ln -s $U way-in; echo x > way-in/y; echo x > way-in/.git/config; ln -s $U/.git .git/inside; echo x >> .git/inside/HEAD; echo x > .git/refs/../inside/x',
  'ln $U/.git/config hard; echo x >> hard; ln $(find $U/.git/objects -type f | head -1) hard2; chmod u+w hard2; echo x >> hard2',
  'git init --separate-git-dir=$U/.git/nested other; git clone -q . $U/clone; git clone -q --bare . $U/.git/bare; git worktree add $U/w',
  'git config core.worktree $U; git checkout -f HEAD; git clean -ffdx; git reset --hard; git config --unset core.worktree',
  'cp .git/HEAD head; ln -sfn $U/.git/refs .git/refs/linked; git update-ref refs/linked/heads/evil HEAD; git pack-refs --all; git branch -D main',
  'mv .git old; ln -s $U/.git .git; git commit --allow-empty -m x; git branch evil; rm .git; echo "gitdir: $U/.git" > .git; git branch evil; rm .git; mv old .git',
  "python3 -c \"open('$U/.git/x','w')\"; node -e \"require('fs').writeFileSync('$U/x','x')\"; dd if=/dev/null of=$U/.git/HEAD; truncate -s 0 $U/.git/HEAD",
  'mount --bind . $U; umount -l $U; unshare -rm sh -c "mount -o remount,rw /; echo x > $U/x"; nsenter -t 1 -m touch $U/x',
];

/** What an agent that no sandbox confined can leave of its `.git` for the next turn in the folder. */
const DAMAGES = [
  ['.git is a link to the user’s', 'rm -rf .git; ln -s $U/.git .git'],
  ['.git is a file that names the user’s', 'rm -rf .git; echo "gitdir: $U/.git" > .git'],
  ['the user’s is its common directory', 'echo $U/.git > .git/commondir'],
  ['its objects and refs are the user’s', 'rm -rf .git/objects .git/refs; ln -s $U/.git/objects $U/.git/refs .git/'],
  ['its alternates name the user’s refs', 'echo $U/.git/refs > .git/objects/info/alternates'],
  ['its branches are links', 'git branch evil; ln -sf $U/.git/refs/heads/main .git/refs/heads/evil'],
  ['a .git in it is a link', 'ln -s $U/.git .git/.git; ln -s $U .git/.codex'],
  ['its HEAD never ends', 'ln -sf /dev/zero .git/HEAD'],
  ['its HEAD and config are FIFOs', 'rm .git/HEAD .git/config; mkfifo .git/HEAD .git/config'],
  ['its index is garbage', 'head -c 100000 /dev/urandom > .git/index'],
  ['.git is gone', 'rm -rf .git'],
] as const;

describe.each(CLIS)('a clone with the real %s', (cli) => {
  const test = it.skipIf(BINARIES[cli] === undefined);
  let shell: ShellBench;
  let user: string;
  let clone: string;

  beforeEach(async () => {
    shell = await openShellBench(cli);
    user = join(shell.bench.parts.root, 'repository');
    clone = shell.bench.workspace.path;
  });
  afterEach(() => shell.bench.close());

  test('takes commits, branches and tags, and the user’s repository stays as it is, to the byte', async () => {
    const before = snapshot(user);
    const { result, outputs } = await shell.run([
      'echo made > made.txt && git add -A && git commit -qm made && git log --format=%s',
      'git branch topic && git tag v1 && git checkout -q -b mine && echo more >> made.txt && git stash && git stash pop',
      'git commit -qam more && git merge-base HEAD main && git diff --stat HEAD~1 && git status --short',
    ]);
    expect(result).toMatchObject({ outcome: 'completed', denials: [] });
    expect(outputs[0]).toContain('made\nbase');
    expect(outputs[2]).toContain('made.txt | 1 +');
    expect(outputs[2]).not.toContain('??');
    expect(git(clone, 'log', '--format=%s %an').split('\n')).toEqual(['more Agent', 'made Agent', 'base Test']);
    expect(git(clone, 'status', '--porcelain')).toBe('');
    expect(git(clone, 'for-each-ref', '--format=%(refname)')).toContain('refs/heads/topic');
    expect(git(clone, 'fsck', '--no-dangling')).toBe('');
    expect(snapshot(user)).toEqual(before);
  });

  test('cannot write one byte of the user’s repository', async () => {
    const before = snapshot(user);
    const { result, outputs } = await shell.run(INTO_THE_USERS.map((line) => `U=${user}; cd ${clone}; ${line}`));
    expect(result.outcome).toBe('completed');
    expect(outputs).toHaveLength(INTO_THE_USERS.length);
    expect(snapshot(user)).toEqual(before);
  });

  test.each(DAMAGES)('writes nowhere else and starts its turn when %s', async (_damage, script) => {
    const before = snapshot(user);
    execFileSync('/bin/sh', ['-c', `U=${user}; ${script}`], { cwd: clone });
    const { result, outputs } = await shell.run([
      ...['commit --allow-empty -m x', 'branch evil', 'update-ref refs/heads/main HEAD', 'gc --prune=now'].map(
        (command) => `timeout 2 git ${command}`,
      ),
      'echo x > .git/x; echo x > .git/refs/heads/evil; echo x > .git/objects/x',
    ]);
    expect(result.outcome).toBe('completed');
    // With a link in place of `.git`, codex cannot make its sandbox, and no command runs.
    expect(outputs).toHaveLength(5);
    expect(snapshot(user)).toEqual(before);
  });

  test('runs what its own configuration names in the sandbox only, in this turn and the next', async () => {
    const { root } = shell.bench.parts;
    const before = snapshot(user);
    mkdirSync(join(root, 'programs'));
    writeFileSync(join(clone, '.gitattributes'), '* filter=evil diff=evil merge=evil\n');
    writeFileSync(join(clone, 'readme.md'), '# fixture, changed\n');
    poison({ root, repository: clone });
    const { result, outputs } = await shell.run([
      'git status; git add -A; git diff --cached',
      'git -c core.pager=cat log',
    ]);
    expect(result.outcome).toBe('completed');
    // They do run where the agent asks for them, or else the test could not fail.
    expect(outputs.join('\n')).toContain(`${RAN}filter-evil-process`);
    await shell.run(['git status']);
    expect(readdirSync(root).filter((name) => name.startsWith('mark-'))).toEqual([]);
    expect(snapshot(user)).toEqual(before);
  });
});
