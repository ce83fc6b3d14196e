import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from '../../src/model/turn-request.ts';
import { TEMPLATES } from './templates.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.invalid',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.invalid',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: cwd, ...IDENTITY },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** A repository with one commit, `readme.md`, and whatever `files` adds to it. */
export function createRepository(path: string, files: Readonly<Record<string, string>> = {}): string {
  const template = existsSync(path) || Object.keys(files).length > 1 ? undefined : templateOf(files);
  if (template === undefined) return makeRepository(path, files);
  cpSync(template, path, { recursive: true });
  git(path, 'update-index', '-q', '--refresh');
  return path;
}

/** Made once for all tests of a lane: a copy costs a tenth of the processes that make one. */
function templateOf(files: Readonly<Record<string, string>>): string | undefined {
  const folder = process.env[TEMPLATES];
  if (folder === undefined) return undefined;
  const template = join(folder, createHash('sha256').update(JSON.stringify(files)).digest('hex'));
  if (!existsSync(template)) {
    const made = makeRepository(join(mkdtempSync(join(folder, 'made-')), 'repository'), files);
    try {
      renameSync(made, template);
    } catch {
      // Another process was faster.
    }
  }
  return template;
}

function makeRepository(path: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(path, { recursive: true });
  git(path, 'init', '-q', '-b', 'main');
  git(path, 'config', 'user.name', 'Test');
  git(path, 'config', 'user.email', 'test@example.invalid');
  for (const [name, text] of Object.entries({ 'readme.md': '# fixture\n', ...files })) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  git(path, 'add', '-A', '-f');
  git(path, 'commit', '-q', '-m', 'base');
  return path;
}

/** A detached clone outside the repository's checkout that borrows the repository's objects. */
export function addClone(repository: string, path: string): Workspace {
  git(repository, 'clone', '-q', '--shared', '--no-checkout', '--no-tags', repository, path);
  git(path, 'checkout', '-q', '--detach');
  git(path, 'remote', 'remove', 'origin');
  git(path, 'config', 'user.name', 'Test');
  git(path, 'config', 'user.email', 'test@example.invalid');
  return { path, repository: true };
}

/** A detached folder outside the repository's checkout, as a user has them. */
export function addFolder(repository: string, path: string): string {
  git(repository, 'worktree', 'add', '-q', '--detach', path, 'HEAD');
  return path;
}

/** The exit code of git. */
export function gitCode(cwd: string, ...args: string[]): number {
  try {
    git(cwd, ...args);
    return 0;
  } catch (error) {
    return (error as { status?: number }).status ?? -1;
  }
}

/** A folder with all that is in it, times, modes and links too. */
export function copyWhole(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}
