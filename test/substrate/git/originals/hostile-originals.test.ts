// @module-tag all
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { spread, SPREAD } from '../../../support/lane.ts';
import { removeFolders } from '../bench.ts';
import { FILE_STEPS, setAttribute } from '../hostile-steps.ts';
import { attributed, settle } from '../spare/spare-bench.ts';
import { REUSE_CHILD } from './reuse-once.ts';
import { kept, madeIn, openOriginals, tidyAll } from './originals-bench.ts';

afterEach(removeFolders);

interface Hand {
  readonly root: string;
  readonly file: string;
  readonly other: string;
  readonly outside: string;
}

/** What an agent could do to what was put into its folder. */
const OPS: Readonly<Record<string, (hand: Hand) => void>> = {
  ...FILE_STEPS,
  more: ({ file }) => writeFileSync(join(dirname(file), 'more.js'), 'evil'),
  emptyFolder: ({ file }) => mkdirSync(join(dirname(file), 'empty')),
  mode: ({ file }) => chmodSync(file, 0o777),
  folderMode: ({ file }) => chmodSync(dirname(file), 0o777),
  folderAttributes: ({ file }) => setAttribute(dirname(file)),
  topAttributes: ({ root }) => setAttribute(join(root, 'node_modules')),
  topMode: ({ root }) => chmodSync(join(root, 'node_modules'), 0o777),
  thereAndBackInFolder: ({ file }) => {
    mkdirSync(join(dirname(file), 'briefly'));
    rmSync(join(dirname(file), 'briefly'), { recursive: true });
  },
  linkedTop: ({ root, outside }) => {
    renameSync(join(root, 'node_modules'), join(outside, 'away'));
    symlinkSync(join(outside, 'away'), join(root, 'node_modules'));
  },
  fileForTop: ({ root }) => {
    rmSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(join(root, 'node_modules'), 'x');
  },
  anotherPlace: ({ root }) => {
    mkdirSync(join(root, 'packages/two/node_modules/x'), { recursive: true });
    writeFileSync(join(root, 'packages/two/node_modules/x/index.js'), 'evil');
  },
  pipe: ({ file }) => void execFileSync('mkfifo', [`${file}.pipe`]),
};
const NAMES = Object.keys(OPS);
const FILES = [
  'node_modules/left-pad/index.js',
  'node_modules/@org/ä/bin/run',
  'packages/one/node_modules/x/index.js',
  'node_modules/@org/ä/index.js',
];

/** Some of it, by seed. A step whose file an earlier one took away changes nothing. */
function act(root: string, outside: string, seed: number): string {
  const done: string[] = [];
  for (let step = 0; step <= seed % 3; step += 1) {
    const at = (seed * 7 + step * 13) % NAMES.length;
    const [file = '', other = ''] = [seed, seed + 1].map((one) => join(root, FILES[(one + step) % FILES.length] ?? ''));
    try {
      OPS[NAMES[at] ?? '']?.({ root, file, other, outside });
      done.push(NAMES[at] ?? '');
    } catch {
      // It is gone.
    }
  }
  return `seed ${seed}: ${done.join()}`;
}

const SEEDS = Array.from({ length: spread(12, 400) }, (_, index) => 100 + index);

describe('what an agent did to what was put into its folder', () => {
  it('reaches no check, and no other folder', { ...SPREAD, timeout: 900_000 }, async () => {
    const bench = await openOriginals();
    const first = await bench.folder('first');
    await bench.reuse(first);
    const whole = madeIn(first.workspace.path);
    for (const seed of SEEDS) {
      const folder = await bench.folder(`task-${seed}`);
      expect(await bench.reuse(folder)).toEqual({ type: 'put' });
      await settle();
      const outside = join(bench.root, `outside-${seed}`);
      mkdirSync(outside);
      const { path } = folder.workspace;
      const done = act(path, outside, seed);
      await bench.reuse(folder);
      expect(madeIn(path), done).toBe(whole);
      expect(attributed(path), done).toBe('');
      expect(existsSync(join(path, 'packages/two/node_modules')), done).toBe(false);
      const next = await bench.folder(`next-${seed}`);
      await bench.reuse(next);
      expect(madeIn(next.workspace.path), done).toBe(whole);
    }
    expect(bench.made).toEqual(['first']);
  });
});

describe('what an agent did to a folder alone', () => {
  it.each(['folderAttributes', 'topAttributes', 'folderMode', 'topMode'])('%s: is put again', async (step) => {
    const bench = await openOriginals();
    await bench.reuse(await bench.folder('first'));
    const folder = await bench.folder('one');
    await bench.reuse(folder);
    await settle();
    const { path: root } = folder.workspace;
    const file = join(root, 'node_modules/left-pad/index.js');
    OPS[step]?.({ root, file, other: file, outside: bench.root });
    expect(await bench.reuse(folder)).toEqual({ type: 'put' });
    expect(await bench.reuse(folder)).toEqual({ type: 'there' });
    expect(attributed(root)).toBe('');
  });
});

const POINTS = [
  'git.original-copied',
  'git.original-noted',
  'git.original-kept',
  'git.made-copied',
  'git.made-cleared',
  'git.made-put',
  'git.made-put:2',
];

describe('a SIGKILL', () => {
  it.each(POINTS)('at %s leaves nothing half-made', async (point) => {
    const bench = await openOriginals();
    const reference = await bench.folder('reference');
    await bench.reuse(reference, { key: 'f'.repeat(64) });
    const whole = madeIn(reference.workspace.path);
    const [name = '', pass] = point.split(':');
    const failpoints = `${name}${pass === undefined ? '' : `:${pass}`}=kill`;
    const child = fork(REUSE_CHILD, [bench.root, failpoints], { stdio: 'ignore' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    for (const task of ['one', 'two', 'three']) {
      const folder = await bench.folder(task);
      await bench.reuse(folder);
      expect(madeIn(folder.workspace.path)).toBe(whole);
    }
    expect(bench.made.length).toBeLessThanOrEqual(2);
    await tidyAll(bench);
    expect(kept(bench)).not.toContain('work');
    expect(kept(bench)).not.toContain('old');
  });
});
