import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { dropTaken, isLeft, noteRefs } from '../../../src/squad/pool/taken-refs.ts';
import { git } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'squad-taken-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('removes the refs that a command has brought, and none that was there or is of another run', async () => {
  const [repository, folder] = [join(root, 'repository'), join(root, 'view')];
  mkdirSync(folder);
  execFileSync('git', ['init', '-q', '-b', 'main', repository]);
  git(repository, '-c', 'user.name=a', '-c', 'user.email=a@b.test', 'commit', '-q', '--allow-empty', '-m', 'first');
  const add = (...refs: readonly string[]): void =>
    refs.forEach((ref) => void git(repository, 'update-ref', ref, 'HEAD'));
  const refs = (): string[] =>
    git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad', 'refs/heads/squad').split('\n');
  const { git: ports } = compose(testHost(root, { workingDirectory: repository }));
  add('refs/squad/fix/mine-1', 'refs/heads/squad/other');
  await noteRefs(ports, join(repository, '.git'), { folder, runs: ['fix', 'fix-2'] });
  expect(await isLeft(folder)).toBe(false);
  add(
    'refs/heads/squad/fix',
    'refs/squad/fix/a-1',
    'refs/squad/fix-2/b-1',
    'refs/squad/later/c-1',
    'refs/heads/squad/fix-3',
  );
  await dropTaken(ports, folder);
  const left = ['refs/heads/squad/fix-3', 'refs/heads/squad/other', 'refs/squad/fix/mine-1', 'refs/squad/later/c-1'];
  expect(refs()).toEqual(left);
  // A second time changes nothing, and a view without a note has brought nothing.
  await dropTaken(ports, folder);
  await dropTaken(ports, root);
  expect(refs()).toEqual(left);
});

it('knows what a killed command has left', async () => {
  const repository = join(root, 'repository');
  execFileSync('git', ['init', '-q', '-b', 'main', repository]);
  const { git: ports } = compose(testHost(root, { workingDirectory: repository }));
  await noteRefs(ports, join(repository, '.git'), { folder: root, runs: ['fix'] });
  const file = join(root, 'refs.json');
  const note = JSON.parse(readFileSync(file, 'utf8')) as { owner: { startTime: string } };
  writeFileSync(file, JSON.stringify({ ...note, owner: { ...note.owner, startTime: '1' } }));
  expect(await isLeft(root)).toBe(true);
});
