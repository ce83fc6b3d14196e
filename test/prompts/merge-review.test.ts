import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { renderPrompt } from '../../src/prompts/render.ts';
import { createRepository, git } from '../support/git.ts';

const CAGE = 'bwrap';
const READ_ONLY = ['--ro-bind', '/', '/', '--dev', '/dev', '--tmpfs', '/run'];
const hasCage = spawnSync(CAGE, ['--ro-bind', '/', '/', 'true']).status === 0;

/** Two sides of one line; the author kept only its own, and added a file. */
function mergedRepository(path: string): { readonly approved: string; readonly commit: string } {
  createRepository(path, { 'list.txt': 'one\ntwo\nthree\n' });
  const write = (file: string, text: string): void => writeFileSync(join(path, file), text);
  const commit = (message: string): string => {
    git(path, 'add', '--all');
    git(path, 'commit', '--quiet', '--message', message);
    return git(path, 'rev-parse', 'HEAD');
  };
  const branch = git(path, 'branch', '--show-current');
  git(path, 'checkout', '--quiet', '-b', 'other');
  write('list.txt', 'one\nTWO of the other side\nthree\n');
  commit('other');
  git(path, 'checkout', '--quiet', branch);
  write('list.txt', 'one\nTWO of the author\nthree\n');
  const approved = commit('author');
  spawnSync('git', ['merge', '--quiet', 'other'], { cwd: path });
  write('list.txt', 'one\nTWO of the author\nthree\n');
  write('beside.txt', 'slipped in\n');
  return { approved, commit: commit('merge') };
}

it.skipIf(!hasCage)(
  `the commands for the review of a merge show it where nothing can be written${hasCage ? '' : ' (skipped: no bwrap)'}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'squad-merge-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'repository');
    const { approved, commit } = mergedRepository(path);
    const facts = { id: 'a', title: 'A', round: '2', commit, approved, cause: 'list.txt', report: '', criteria: [] };
    const prompt = renderPrompt('reviewer/merged', facts);
    const commands = [...prompt.matchAll(/`((?:GIT_OBJECT_DIRECTORY|git )[^`]+)`/g)].map(([, command = '']) => command);
    expect(commands).toHaveLength(4);
    const shown = commands.map((command) =>
      execFileSync(
        CAGE,
        [...READ_ONLY, '--ro-bind', path, path, '--chdir', path, 'sh', '-c', command.replace('<that folder>', '/run')],
        {
          encoding: 'utf8',
        },
      ),
    );
    const [combined = '', ofOne = '', ofOther = '', remerged = ''] = shown;
    expect(combined).toContain('slipped in');
    expect(combined, 'a side that was dropped').not.toContain('of the other side');
    expect(ofOne).not.toContain('of the other side');
    expect(ofOther).toContain('-TWO of the other side');
    expect(remerged).toContain('-TWO of the other side');
  },
);
