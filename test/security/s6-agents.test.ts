// @module-tag all
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { gitSettingsEnvironment } from '../../src/model/git-settings.ts';
import { gitEnvironment } from '../../src/runtimes/shared/child-environment.ts';
import { openBench, removeFolders, type GitBench } from '../substrate/git/bench.ts';
import { git } from '../support/git.ts';
import { HOOKS, poison, program } from './poison.ts';

/** What agents ask of git, and what their programs ask of it unasked: each as a shell line in a folder. */
const LINES = [
  'git status',
  'git st',
  'git included',
  'echo two > a.txt; echo two > b.plain; git add -A',
  'git diff --cached; git diff HEAD; git diff --textconv HEAD',
  'git commit -m work',
  'git commit --allow-empty -S -m signed',
  'git commit --amend',
  'git commit --allow-empty --trailer evil=1 -m trailer',
  'git log -p -5; git log -p -5 --ext-diff; git log --show-signature -1; git show HEAD',
  'git tag -a -m tag v1; git tag -s -m tag v2',
  'git checkout -q -f "$BASE"; git checkout -q -b other; echo three > a.txt; git add -A; git commit -qm three',
  'git merge -m merge "$THEIRS"; git merge --abort',
  'git merge -X ours -m merge "$THEIRS"',
  'git reset -q --hard; git rebase -i --root; git rebase --abort; git rebase -q "$THEIRS"; git rebase --abort',
  'git stash -u; git stash pop; echo one > b.plain; git add b.plain; git commit -qm plain b.plain; rm b.plain; git checkout b.plain',
  'git fetch origin; git fetch ssh://nobody@127.0.0.1:9/x; git ls-remote origin',
  'printf "protocol=https\\nhost=x.invalid\\n\\n" | git credential fill',
  'git archive --format=evil HEAD',
  'git branch -f onbranch; git symbolic-ref HEAD refs/heads/onbranch; git interpret-trailers --trailer Hidden=1 a.txt',
  'git checkout -q -f --detach "$BASE"',
  'git worktree add -q --detach "$PWD/more"; git gc --auto',
  'git submodule update',
];

/** What a folder's own configuration may name, because `setup` installed it: squad's setting, and what runs without it. */
const INSTALLED: readonly (readonly [string, readonly string[]])[] = [
  [
    'core.hooksPath',
    ['pre-commit', 'commit-msg', 'post-commit', 'post-checkout', 'reference-transaction', 'pre-rebase'],
  ],
  ['core.fsmonitor', ['core-fsmonitor']],
];

/** Settings of the user's, and what runs if an agent's git reads them: or else the test could not fail. */
const READ: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^filter\.evil\./, ['filter-evil-process']],
  [/^filter\.plain\.clean$/, ['filter-plain-clean']],
  [/^filter\.plain\.smudge$/, ['filter-plain-smudge']],
  [/^merge\./, ['merge-evil-driver']],
  [/^diff\.evil\.textconv$/, ['diff-evil-textconv']],
  [/^diff\.evil\.command$/, ['diff-evil-command']],
  [/^diff\.external$/, ['diff-external']],
  [/^(?:gpg\.|commit\.gpgsign)/, ['gpg-program']],
  [/^(?:core|sequence)\.editor$/, ['core-editor', 'sequence-editor']],
  [/^(?:alias|include)\./, ['alias-st', 'include-path']],
  [/^core\.sshcommand$/, ['core-sshcommand']],
  [/^remote\./, ['remote-origin-uploadpack']],
  [/^credential\./, ['credential-helper']],
  [/^trailer\.evil\./, ['trailer-evil-cmd']],
  [/^includeif\./, ['conditional']],
  [/^tar\./, ['tar-evil-command']],
];

afterEach(removeFolders);

describe('S6: the git of an agent in a poisoned repository', { timeout: 300_000 }, () => {
  it('S6: runs none of what is planted, each of which runs without its setting', async () => {
    const bench = await openBench({ '.gitattributes': '* filter=evil diff=evil merge=evil\n', 'a.txt': 'one\n' });
    const base = git(bench.repository, 'rev-parse', 'HEAD');
    writeFileSync(join(bench.repository, 'a.txt'), 'theirs\n');
    git(bench.repository, 'commit', '-qam', 'theirs');
    const theirs = git(bench.repository, 'rev-parse', 'HEAD');
    poison(bench);
    poisonAgents(bench);
    const planted = readFileSync(join(bench.repository, '.git/config'), 'utf8');
    const home = join(bench.root, '.gitconfig');
    writeFileSync(home, planted);
    const { workspaces } = bench;
    const settings = await workspaces.agentSettings();
    const places = { BASE: base, THEIRS: theirs };
    let subjects: string[] = [];
    const trial = async (task: string, given: Readonly<Record<string, string>>): Promise<string[]> => {
      const { workspace } = await workspaces.addFolder({ run: 'r', task, commit: base });
      install(bench, workspace.path);
      const variables = { HOME: bench.root, ...places, ...given };
      for (const line of LINES) shell(workspace.path, line, variables);
      subjects = git(workspace.path, 'log', '--format=%s', '--all').split('\n');
      const marks = readdirSync(bench.root).filter((name) => name.startsWith('mark-'));
      for (const mark of marks) rmSync(join(bench.root, mark));
      return marks.map((name) => name.slice('mark-'.length));
    };
    expect(await trial('kept', gitEnvironment({ gitSettings: settings }))).toEqual([]);
    expect(subjects).toContain('three');
    for (const [index, [key, programs]] of INSTALLED.entries()) {
      const gitSettings = settings.filter(([name]) => name !== key);
      const bitten = await trial(`own-${index}`, gitEnvironment({ gitSettings }));
      expect(bitten, `without ${key}`).toEqual(expect.arrayContaining([...programs]));
    }
    const entries = git(bench.repository, 'config', '--local', '--no-includes', '--list', '-z').split('\0');
    for (const [index, [key, programs]] of READ.entries()) {
      rmSync(home);
      for (const entry of entries.filter((item) => key.test(item.split('\n')[0] ?? ''))) {
        const end = entry.indexOf('\n');
        git(bench.root, 'config', '--file', home, '--add', entry.slice(0, end), entry.slice(end + 1));
      }
      // As if its git read the user's file.
      const bitten = await trial(`free-${index}`, gitSettingsEnvironment(settings));
      expect(bitten, `with ${key.source}`).toEqual(expect.arrayContaining([...programs]));
    }
    await workspaces.close();
  });
});

/** What only an agent's own git reaches: names of its own, and a file that is included on a condition it can make true. */
function poisonAgents({ root, repository }: GitBench): void {
  const evil = (name: string) => program(join(root, 'programs'), name, root);
  appendFileSync(join(repository, '.git', 'info', 'attributes'), '*.plain !diff\n');
  const conditional = join(root, 'conditional');
  writeFileSync(conditional, `[trailer "hidden"]\n\tkey = Hidden\n\tcmd = ${evil('conditional')}\n`);
  for (const [key, value] of [
    ['alias.st', `!${evil('alias-st')}`],
    ['tar.evil.command', evil('tar-evil-command')],
    ['trailer.evil.key', 'Evil'],
    ['trailer.evil.ifExists', 'add'],
    ['commit.gpgSign', 'true'],
    ['includeIf.onbranch:onbranch.path', conditional],
    ['remote.origin.url', repository],
  ] as const) {
    git(repository, 'config', key, value);
  }
}

/** What `setup` may leave in a folder's own repository, such as the hooks of a package, and attributes that name drivers. */
function install({ root, repository }: GitBench, path: string): void {
  for (const name of HOOKS) program(join(path, '.git/hooks'), name, root);
  git(path, 'config', 'core.fsmonitor', join(root, 'programs/core-fsmonitor'));
  cpSync(join(repository, '.git/info/attributes'), join(path, '.git/info/attributes'));
}

function shell(cwd: string, line: string, environment: Readonly<Record<string, string>>): void {
  try {
    const env = { PATH: process.env['PATH'], HOME: cwd, GIT_TERMINAL_PROMPT: '0', ...environment };
    execFileSync('/bin/sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 });
  } catch {
    // What is asked of git may well fail; only what it ran on the way is looked at.
  }
}
