// @module-tag all
import { execFileSync } from 'node:child_process';
import { appendFileSync, linkSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { removeFolders } from '../bench.ts';
import { kept, madeIn, openOriginals, tidyAll } from './originals-bench.ts';

afterEach(removeFolders);

describe('what a command of setup made', () => {
  it('is put into other folders, and runs once', async () => {
    const bench = await openOriginals();
    const one = await bench.folder('one');
    expect(await bench.reuse(one)).toEqual({ type: 'made' });
    const two = await bench.folder('two');
    expect(await bench.reuse(two)).toEqual({ type: 'put' });
    expect(madeIn(two.workspace.path)).toBe(madeIn(one.workspace.path));
    await tidyAll(bench);
    expect(kept(bench)).toEqual(['copy', 'copy', 'original']);
    expect(await bench.reuse(await bench.folder('three'))).toEqual({ type: 'put' });
    await tidyAll(bench);
    expect(kept(bench)).toEqual(['copy', 'copy', 'original']);
    expect(bench.made).toEqual(['one']);
  });

  it('stays for the next run, and goes with clean', async () => {
    const bench = await openOriginals();
    await bench.reuse(await bench.folder('one'));
    const later = { ...bench, workspaces: bench.again() };
    expect(await later.workspaces.tidySpares()).toBe(false);
    expect(await bench.reuse(await bench.folder('two'))).toEqual({ type: 'put' });
    await tidyAll(bench);
    expect(await later.workspaces.dropSpares(true)).toBe(3);
    expect(await later.workspaces.dropSpares()).toBe(3);
    expect(kept(bench)).toEqual([]);
    expect(await bench.reuse(await bench.folder('three'))).toEqual({ type: 'made' });
  });

  it('is there while nothing has changed, and is put again otherwise', async () => {
    const bench = await openOriginals();
    const one = await bench.folder('one');
    await bench.reuse(one);
    expect(await bench.reuse(one)).toEqual({ type: 'there' });
    writeFileSync(join(one.workspace.path, 'node_modules/evil.js'), 'evil');
    expect(await bench.reuse(one, { isProven: false })).toEqual({ type: 'there' });
    expect(await bench.reuse(one)).toEqual({ type: 'put' });
    expect(readdirSync(join(one.workspace.path, 'node_modules'))).not.toContain('evil.js');
  });

  it('is made by one while others of the same key wait', async () => {
    const bench = await openOriginals();
    const folders = [await bench.folder('one'), await bench.folder('two'), await bench.folder('three')];
    const answers = await Promise.all(folders.map(async (folder) => bench.reuse(folder)));
    expect(answers.map(({ type }) => type).toSorted()).toEqual(['made', 'put', 'put']);
    expect(bench.made).toHaveLength(1);
  });

  it('is made again for another key, and of each command the newest three stay', async () => {
    const bench = await openOriginals();
    for (const key of ['1', '2', '3', '4', '5']) {
      const folder = await bench.folder(`task-${key}`);
      expect(await bench.reuse(folder, { key: key.repeat(64) })).toEqual({ type: 'made' });
    }
    await tidyAll(bench);
    expect(kept(bench).filter((state) => state === 'original')).toHaveLength(3);
    expect(await bench.reuse(await bench.folder('last'), { key: '5'.repeat(64) })).toEqual({ type: 'put' });
    expect(await bench.reuse(await bench.folder('first'), { key: '1'.repeat(64) })).toEqual({ type: 'made' });
  });

  it('is not kept where too little would stay free, and then only the newest of each command stays', async () => {
    const bench = await openOriginals({ most: 0, from: 10, freeBytes: Number.MAX_SAFE_INTEGER });
    const answer = await bench.reuse(await bench.folder('one'));
    expect(answer).toEqual({ type: 'made', notKept: 'too little would stay free on the disk' });
    expect(kept(bench)).toEqual([]);
  });

  it('is not kept of a command that fails', async () => {
    const bench = await openOriginals();
    const one = await bench.folder('one');
    const { key, step, paths } = { key: 'b'.repeat(64), step: 'x', paths: ['node_modules'] };
    const order = { key, step, paths, isKept: true, isProven: true };
    expect(await bench.workspaces.reuseMade(one, order, async () => false)).toEqual({ type: 'failed' });
    expect(kept(bench)).toEqual([]);
  });

  it('is not kept of a folder in which an agent has worked', async () => {
    const bench = await openOriginals();
    expect(await bench.reuse(await bench.folder('one'), { isKept: false })).toEqual({ type: 'made' });
    expect(kept(bench)).toEqual([]);
  });

  it('is made again where the original was changed', async () => {
    const bench = await openOriginals();
    await bench.reuse(await bench.folder('one'));
    const pool = join(bench.stateDirectory, 'work/.spare/made');
    const [name = ''] = readdirSync(pool);
    appendFileSync(join(pool, name, 'files/node_modules/left-pad/index.js'), 'evil');
    expect(await bench.reuse(await bench.folder('two'))).toEqual({ type: 'made' });
    await tidyAll(bench);
    expect(await bench.reuse(await bench.folder('three'))).toEqual({ type: 'put' });
  });
});

const ODD: readonly (readonly [string, (root: string) => void, string])[] = [
  ['nothing', (root) => rmAll(root), 'it made nothing at node_modules, packages/*/node_modules'],
  [
    'a pipe',
    (root) => void execFileSync('mkfifo', [join(root, 'node_modules/pipe')]),
    'node_modules/pipe is neither a file nor a link',
  ],
  [
    'a hard link',
    (root) => linkSync(join(root, 'packages/one/package.json'), join(root, 'node_modules/held')),
    'node_modules/held has a second name, through which it can be changed',
  ],
  [
    'a relative link that leaves the folder',
    (root) => symlinkSync('../../elsewhere', join(root, 'node_modules/out')),
    'node_modules/out is a link that leaves the folder',
  ],
  [
    'an absolute link to a folder',
    (root) => symlinkSync('/usr/lib', join(root, 'node_modules/lib')),
    'node_modules/lib is a link that leaves the folder',
  ],
  [
    'an absolute link into its own folder',
    (root) => symlinkSync(join(root, 'packages/one/package.json'), join(root, 'node_modules/own')),
    'node_modules/own is a link that leaves the folder',
  ],
  [
    'a program that names its folder',
    (root) => writeFileSync(join(root, 'node_modules/.bin/x'), `#!${root}/node\n`, { mode: 0o755 }),
    'node_modules/.bin/x names the folder in which it was made',
  ],
  [
    'a changed file that git tracks',
    (root) => writeFileSync(join(root, 'package-lock.json'), '{"changed":1}\n'),
    'it changes package-lock.json, which git does not ignore',
  ],
  [
    'a new file that git does not ignore',
    (root) => writeFileSync(join(root, 'made.txt'), 'x'),
    'it changes made.txt, which git does not ignore',
  ],
  [
    'a file in the place of the folder',
    (root) => {
      rmSync(join(root, 'node_modules'), { recursive: true });
      writeFileSync(join(root, 'node_modules'), 'x');
    },
    'node_modules is not a folder',
  ],
  [
    'a program with the rights of its owner',
    (root) => {
      execFileSync('chmod', ['4755', join(root, 'node_modules/left-pad/bin/run')]);
    },
    'node_modules/left-pad/bin/run runs with the rights of another user',
  ],
];

function rmAll(root: string): void {
  rmSync(join(root, 'node_modules'), { recursive: true });
  rmSync(join(root, 'packages/one/node_modules'), { recursive: true });
}

describe('what is not kept', () => {
  it.each(ODD)('%s', async (_name, act, why) => {
    const bench = await openOriginals();
    const answer = await bench.reuse(await bench.folder('one'), {}, act);
    expect(answer).toEqual({ type: 'made', notKept: why });
    expect(kept(bench).filter((state) => state === 'original')).toEqual([]);
    expect(await bench.reuse(await bench.folder('two'))).toEqual({ type: 'made' });
  });

  it('keeps the link to an interpreter of the machine', async () => {
    const bench = await openOriginals();
    const act = (root: string): void => symlinkSync('/bin/sh', join(root, 'node_modules/.bin/python'));
    expect(await bench.reuse(await bench.folder('one'), {}, act)).toEqual({ type: 'made' });
    expect(await bench.reuse(await bench.folder('two'))).toEqual({ type: 'put' });
  });

  it('puts nothing through a link of an agent', async () => {
    const bench = await openOriginals();
    await bench.reuse(await bench.folder('one'));
    const two = await bench.folder('two');
    const outside = join(bench.root, 'outside');
    renameSync(join(two.workspace.path, 'packages/one'), outside);
    symlinkSync(outside, join(two.workspace.path, 'packages/one'));
    expect((await bench.reuse(two, { paths: ['packages/one/node_modules'], isKept: false })).type).toBe('put');
    expect(readdirSync(outside)).toEqual(['package.json']);
  });
});
