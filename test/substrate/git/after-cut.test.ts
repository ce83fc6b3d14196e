// @module-tag all
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskFolder } from '../../../src/substrate/ports/workspaces.ts';
import { git } from '../../support/git.ts';
import { benchOver, openBench, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

const RUN = { run: 'power', task: 'build' };

/** The engine that held the folder is gone; the machine has another boot id. */
async function afterCut({ root, repository }: GitBench): Promise<GitBench> {
  const note = join(root, 'state', 'work', 'power', '.squad', 'engine');
  const text = readFileSync(note, 'utf8');
  expect(text).toMatch(/^git-[0-9a-f-]{36}\n[0-9a-f-]{36}\n$/);
  writeFileSync(note, text.replace(/\n[^\n]+\n$/, '\nanother-boot\n'));
  return benchOver(root, repository);
}

async function begin() {
  const bench = await openBench();
  const commit = git(bench.repository, 'rev-parse', 'main');
  await bench.workspaces.createRunBranch('power', commit, [], 'some-id');
  const folder = await bench.workspaces.addFolder({ ...RUN, commit });
  const { path } = folder.workspace;
  writeFileSync(join(path, 'made.txt'), 'made\n');
  git(path, 'add', 'made.txt');
  git(path, 'commit', '-qm', 'Make it');
  return { bench, commit, folder, path, head: git(path, 'rev-parse', 'HEAD') };
}

describe('after a power cut', () => {
  it('gives a task a new folder at its HEAD, and keeps what was in the old one', async () => {
    const { bench, commit, path, head } = await begin();
    writeFileSync(join(path, 'made.txt'), '');
    writeFileSync(join(path, 'more.txt'), 'more\n');
    const next = await afterCut(bench);
    const folder = await next.workspaces.addFolder({ ...RUN, commit });
    expect(folder).toMatchObject({ base: commit, remade: 1 });
    expect(git(path, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(path, 'made.txt'), 'utf8')).toBe('made\n');
    expect(git(bench.repository, 'show', 'refs/squad/power/build-cut-1:more.txt')).toBe('more');
    expect(await next.workspaces.snapshot(folder)).toMatchObject({ type: 'snapshot', head, clean: true });
  });

  it('keeps the commits of other branches', async () => {
    const { bench, commit, path } = await begin();
    git(path, 'checkout', '-qb', 'mine');
    writeFileSync(join(path, 'mine.txt'), 'mine\n');
    git(path, 'add', 'mine.txt');
    git(path, 'commit', '-qm', 'Mine');
    const mine = git(path, 'rev-parse', 'HEAD');
    git(path, 'checkout', '-q', '--detach', 'HEAD~1');
    await (await afterCut(bench)).workspaces.addFolder({ ...RUN, commit });
    expect(git(bench.repository, 'for-each-ref', '--format=%(objectname)', 'refs/squad/power')).toContain(mine);
  });

  it('has the work of a turn that had ended, before the new folder is there', async () => {
    const { bench, head } = await begin();
    const next = await afterCut(bench);
    expect(await next.workspaces.keepCommits(RUN, 'build-1')).toMatchObject({ type: 'head', commit: head });
    expect(git(bench.repository, 'rev-parse', 'refs/squad/power/build-1')).toBe(head);
  });

  it('keeps a commit that squad had not looked at', async () => {
    const { bench, commit, head } = await begin();
    const next = await afterCut(bench);
    await next.workspaces.addFolder({ ...RUN, commit });
    expect(git(bench.repository, 'rev-parse', 'refs/squad/power/build-cut-1')).toBe(head);
  });

  it('puts a folder aside that cannot be read, and begins at the commit that was kept last', async () => {
    const { bench, commit, path, head } = await begin();
    const object = join(path, '.git', 'objects', head.slice(0, 2), head.slice(2));
    rmSync(object);
    writeFileSync(object, '');
    const next = await afterCut(bench);
    await next.workspaces.addFolder({ ...RUN, commit });
    expect(git(path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(readFileSync(join(`${path}.cut-1`, 'made.txt'), 'utf8')).toBe('made\n');
    expect((await next.workspaces.removeFolder(RUN, 'build-1')).type).toBe('removed');
    expect(await next.workspaces.closeRun('power')).toEqual(['build.cut-1']);
  });

  it('does it once, and again where it was cut short', async () => {
    const { bench, commit, path } = await begin();
    const next = await afterCut(bench);
    await next.workspaces.addFolder({ ...RUN, commit });
    writeFileSync(join(path, 'more.txt'), 'more\n');
    const last = await benchOver(bench.root, bench.repository);
    await last.workspaces.addFolder({ ...RUN, commit });
    expect(readdirSync(path)).toContain('more.txt');
    await (await afterCut(last)).workspaces.addFolder({ ...RUN, commit });
    expect(readdirSync(path)).not.toContain('more.txt');
  });

  it('is still after it for an engine whose first opening of the run failed', async () => {
    const { bench, commit, path, head } = await begin();
    writeFileSync(join(path, '.git', 'HEAD'), '');
    const inTheWay = join(bench.root, 'state', 'work', 'power', '.squad', 'build.left');
    mkdirSync(join(inTheWay, 'x'), { recursive: true });
    const next = await afterCut(bench);
    await expect(next.workspaces.addFolder({ ...RUN, commit })).rejects.toThrow();
    rmSync(inTheWay, { recursive: true });
    await next.workspaces.addFolder({ ...RUN, commit, kept: head });
    expect(existsSync(`${path}.cut-1`)).toBe(true);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(commit);
  });

  const firsts: Record<string, (next: GitBench, folder: TaskFolder) => Promise<unknown>> = {
    removeFolder: ({ workspaces }) => workspaces.removeFolder(RUN, 'build-1'),
    resetFolder: ({ workspaces }, folder) =>
      workspaces.resetFolder(folder, { commit: folder.base, attempt: 'build-2', rescueAs: 'build-1' }),
    dropBaseline: ({ workspaces }) => workspaces.dropBaseline('power'),
    closeRun: ({ workspaces }) => workspaces.closeRun('power'),
    integrationAt: ({ workspaces }, { base }) => workspaces.integrationAt('power', base),
    baselineAt: ({ workspaces }, { base }) => workspaces.baselineAt('power', base),
  };
  it.each(Object.keys(firsts))('%s may come first, and beside others, where notes are half written', async (name) => {
    const { bench, commit, folder, path } = await begin();
    await bench.workspaces.baselineAt('power', commit);
    const notes = join(bench.root, 'state', 'work', 'power', '.squad');
    for (const task of ['build', '_baseline']) writeFileSync(join(notes, `${task}.json`), '');
    writeFileSync(join(path, '.git', 'HEAD'), '');
    const next = await afterCut(bench);
    const others = [
      ...(name.includes('aseline') ? [] : [() => next.workspaces.dropBaseline('power')]),
      () => next.workspaces.addFolder({ run: 'power', task: 'other', commit }),
    ];
    const work = [() => firsts[name]!(next, folder), ...(name === 'closeRun' ? [] : others)];
    await Promise.all(work.map((one) => one()));
    await next.workspaces.addFolder({ ...RUN, commit });
    expect(git(path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(existsSync(`${path}.cut-1`)).toBe(true);
  });

  it('trusts what an engine has left that ended by itself', async () => {
    const { bench, commit, path } = await begin();
    writeFileSync(join(path, 'more.txt'), 'more\n');
    await bench.workspaces.close();
    expect(existsSync(join(bench.root, 'state', 'work', 'power', '.squad', 'engine'))).toBe(false);
    const next = await benchOver(bench.root, bench.repository);
    await next.workspaces.addFolder({ ...RUN, commit });
    expect(readdirSync(path)).toContain('more.txt');
  });
});
