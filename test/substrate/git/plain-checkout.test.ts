import { appendFileSync, chownSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plainCheckout } from '../../../src/substrate/git/plain-checkout.ts';
import { git } from '../../support/git.ts';
import { temporaryFolder } from '../ledger/support.ts';

/** A repository with one commit and a folder in it. */
function repository(): string {
  const root = realpathSync(temporaryFolder());
  git(root, 'init', '--quiet');
  git(root, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '--message', 'first');
  mkdirSync(join(root, 'deep', 'folder'), { recursive: true });
  return root;
}

const config = (root: string, text: string): void => appendFileSync(join(root, '.git', 'config'), text);

/** What is done to a repository, and the folder that is asked about. */
const LEFT_TO_GIT: Readonly<Record<string, (root: string) => string>> = {
  'a folder without a repository': (root) => join(root, '..'),
  'a folder that is not there': (root) => join(root, 'gone'),
  'a git directory': (root) => join(root, '.git'),
  'a folder in a git directory': (root) => join(root, '.git', 'objects'),
  'a bare repository': (root) => {
    git(root, 'init', '--quiet', '--bare', 'bare.git');
    return join(root, 'bare.git');
  },
  'a linked worktree': (root) => {
    git(root, 'worktree', 'add', '--quiet', '--detach', join(root, 'linked'));
    return join(root, 'linked');
  },
  'a linked git directory': (root) => {
    const other = join(root, 'deep');
    symlinkSync(join(root, '.git'), join(other, '.git'));
    return other;
  },
  'another work tree': (root) => (config(root, '[core]\n\tworktree = ../elsewhere\n'), root),
  'bare by its config': (root) => (config(root, '[core]\n\tbare\n'), root),
  'bare on the line of its section': (root) => (config(root, '[core] bare = yes\n'), root),
  'more config': (root) => (config(root, '[include]\n\tpath = other\n'), root),
  'config under a condition': (root) => (config(root, '[includeIf "gitdir:/"]\n\tpath = other\n'), root),
  'a newer format': (root) => (config(root, '[core]\n\trepositoryFormatVersion = 1\n'), root),
  'an extension': (root) => (config(root, '[ extensions ]\n\tobjectFormat = sha256\n'), root),
  'no HEAD': (root) => (rmSync(join(root, '.git', 'HEAD')), root),
  'a HEAD that is none': (root) => (writeFileSync(join(root, '.git', 'HEAD'), 'main\n'), root),
  'no objects': (root) => (rmSync(join(root, '.git', 'objects'), { recursive: true }), root),
  'a config that cannot be read': (root) => {
    rmSync(join(root, '.git', 'config'));
    mkdirSync(join(root, '.git', 'config'));
    return root;
  },
};

describe('a checkout that needs no git to be known', () => {
  it.each(['.', 'deep/folder'])('is what git says of it: %s', (within) => {
    const root = repository();
    const says = git(join(root, within), 'rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir');
    const { root: found, gitDirectory } = plainCheckout(join(root, within)) ?? {};
    expect([found, gitDirectory]).toEqual(says.trim().split('\n'));
  });

  it('is found by a link to it, at its own path', () => {
    const root = repository();
    symlinkSync(join(root, 'deep'), join(root, 'link'));
    expect(plainCheckout(join(root, 'link', 'folder'))?.root).toBe(root);
  });

  it.each(Object.keys(LEFT_TO_GIT))('is left to git: %s', (name) => {
    expect(plainCheckout(LEFT_TO_GIT[name]?.(repository()) ?? '')).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)('is left to git: of another owner', () => {
    const root = repository();
    chownSync(join(root, '.git'), 1, 1);
    expect(plainCheckout(root)).toBeUndefined();
  });
});
