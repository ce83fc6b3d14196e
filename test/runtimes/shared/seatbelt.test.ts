import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layersOf, type Cage } from '../../../src/runtimes/shared/cage.ts';
import type { Trial } from '../../../src/runtimes/shared/cli-program.ts';
import { confined, createConfiner, probedConfinement, refuseUnconfined } from '../../../src/runtimes/shared/confine.ts';
import { inSeatbelt, profileOf } from '../../../src/runtimes/shared/seatbelt.ts';
import { createTaskCages } from '../../../src/runtimes/shared/task-cage.ts';
import '../../support/on-disk.ts';
import { seatbeltAllows } from '../../support/seatbelt-judge.ts';
import { ALL } from '../../support/lane.ts';

const folder = (path: string) => ({ path, isFolder: true });
const HOME = '/Users/me';
const WORK = `${HOME}/.local/state/squad/1/a/tree`;
const CAGE: Cage = {
  cwd: WORK,
  hidden: [
    folder(HOME),
    folder(`${HOME}/.local/state/squad`),
    folder('/tmp'),
    { path: `${WORK}/.env`, isFolder: false },
  ],
  readable: [`${HOME}/.nvm`, `${HOME}/.local/state/squad/turns/7`],
  writable: [WORK, `${HOME}/.local/state/squad/homes/1`],
  kept: [`${WORK}/.git/config`, `${WORK}/.git/hooks`],
  masked: [`${HOME}/.local/state/squad/turns/7/mcp-0.env`],
};

describe('a profile for macOS', () => {
  it('is rules in an order in which the last one decides, and names its paths by number', () => {
    expect(profileOf({ ...CAGE, network: false }, ['(deny lsopen)']).text).toMatchInlineSnapshot(`
      "(version 1)
      (allow default)
      (deny file-write* file-link)
      (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/ptmx") (subpath "/dev/fd"))
      (allow file-write* (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
      (deny lsopen)
      (deny network*)
      (deny file-read* file-write* (subpath (param "P0")))
      (deny file-read* file-write* (subpath (param "P1")))
      (allow file-read* (subpath (param "P2"))) (deny file-write* (subpath (param "P2"))) (allow file-write-data (require-all (subpath (param "P2")) (vnode-type FIFO)))
      (allow file-read* (subpath (param "P3"))) (deny file-write* (subpath (param "P3"))) (allow file-write-data (require-all (subpath (param "P3")) (vnode-type FIFO)))
      (allow file-read* file-write* (subpath (param "P4")))
      (allow file-read* file-write* (subpath (param "P5")))
      (deny file-read* file-write* (subpath (param "P6")))
      (allow file-read-metadata (literal (param "P1")))
      (allow file-read-metadata (literal (param "P7")))
      (allow file-read-metadata (literal (param "P8")))
      (allow file-read-metadata (literal (param "P9")))
      (allow file-read-metadata (literal (param "P10")))
      (allow file-read-metadata (literal (param "P11")))
      (allow file-read-metadata (literal (param "P12")))
      (allow file-read-metadata (literal (param "P13")))
      (deny file-write* (subpath (param "P14")))
      (deny file-write* (subpath (param "P15")))
      (deny file-read* file-write* (literal (param "P16")))
      (deny file-write-unlink (literal (param "P5")))
      (deny file-write-unlink (literal (param "P17")))
      "
    `);
  });

  it.each<[string, string, boolean]>([
    ['file-read-data', '/usr/lib/dyld', true],
    ['file-write-data', '/usr/lib/dyld', false],
    ['file-write-data', '/dev/null', true],
    ['file-write-data', '/dev/disk0', false],
    ['file-write-data', '/dev/ttys001', false],
    ['file-read-data', `${HOME}/.aws/credentials`, false],
    ['file-read-data', HOME, false],
    ['file-read-metadata', HOME, true],
    ['file-read-metadata', `${HOME}/.aws`, false],
    ['file-read-data', '/private/tmp/other', false],
    ['file-read-data', `${HOME}/.nvm/bin/node`, true],
    ['file-write-data', `${HOME}/.nvm/bin/node`, false],
    ['file-write-create', `${WORK}/src/new.js`, true],
    ['file-read-data', `${WORK}/.env`, false],
    ['file-write-unlink', `${WORK}/.env`, false],
    ['file-write-data', `${WORK}/.git/config`, false],
    ['file-write-create', `${WORK}/.git/hooks/pre-commit`, false],
    ['file-write-create', `${WORK}/.git/index.lock`, true],
    ['file-read-data', `${WORK}/.git/config`, true],
    // To move the folder would be to change what is in it.
    ['file-write-unlink', `${WORK}/.git`, false],
    ['file-write-unlink', WORK, false],
    ['file-write-unlink', `${WORK}/src`, true],
    ['file-link', `${WORK}/src/second-name`, false],
    ['file-read-data', `${HOME}/.local/state/squad/turns/7/plan.json`, true],
    ['file-read-data', `${HOME}/.local/state/squad/turns/7/mcp-0.env`, false],
    ['file-read-data', `${HOME}/.local/state/squad/turns/8/stdout`, false],
    ['file-write-data', `${HOME}/.local/state/squad/homes/1/session.json`, true],
    ['file-write-data', `${HOME}/.local/state/squad/homes/2/session.json`, false],
    ['network-outbound', '', true],
  ])('%s of %s: %s', (operation, path, isAllowed) => {
    expect(seatbeltAllows(profileOf(CAGE, []), operation, { path })).toBe(isAllowed);
  });

  it('lets a program write into a pipe of its turn, by which it reaches its servers, and closes the network', () => {
    const profile = profileOf({ ...CAGE, network: false }, []);
    const path = `${HOME}/.local/state/squad/turns/7/mcp-0.in`;
    expect([
      seatbeltAllows(profile, 'file-write-data', { path, kind: 'FIFO' }),
      seatbeltAllows(profile, 'file-write-data', { path, kind: 'REGULAR-FILE' }),
      seatbeltAllows(profile, 'network-outbound', { path: '' }),
    ]).toEqual([true, false, false]);
  });

  it('gets no rule from a path', () => {
    const path = `${HOME}/a") (allow default) (literal "b`;
    const { text, paths } = profileOf({ cwd: '/', hidden: [folder(path)], writable: [path] }, []);
    expect(paths).toContain(path);
    expect(text).not.toContain('literal "b');
  });
});

/** By a seed, so that a cage that fails can be drawn again. */
function drawn(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const TREE = ['a', 'a/b', 'a/b/c', 'a/d', 'e', 'e/b'].map((path) => `${path}/file`).concat('file');

describe('a cage of macOS', () => {
  it('shows and opens what the same cage shows and opens under bubblewrap: 40 drawn ones', ALL, async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-two-cages-')));
    try {
      const at = (path: string) => join(root, path);
      for (const file of TREE) {
        mkdirSync(dirname(at(file)), { recursive: true });
        writeFileSync(at(file), 'x');
      }
      const found = await createConfiner({ platform: 'linux', environment: { PATH: process.env['PATH'] } }, () =>
        Promise.resolve(undefined),
      )();
      if (found.kind !== 'bubblewrap') throw new Error('this test needs bubblewrap');
      for (let seed = 1; seed <= 40; seed += 1) {
        const draw = drawn(seed);
        const lists: Record<'hidden' | 'readable' | 'writable', string[]> = { hidden: [], readable: [], writable: [] };
        for (const file of TREE) {
          const into = (['hidden', 'readable', 'writable', undefined, undefined] as const)[draw(5)];
          if (into !== undefined && dirname(file) !== '.') lists[into].push(at(dirname(file)));
        }
        const { hidden, ...rest } = lists;
        const kept = draw(2) === 0 ? [at('a/b/file')] : [];
        const cage = {
          ...rest,
          hidden: hidden.map(folder),
          kept: lists.writable.includes(at('a/b')) ? kept : [],
          cwd: '/',
        };
        const look = 'for f; do [ -s "$f" ] && printf r; [ -s "$f" ] && [ -w "$f" ] && printf w; echo " $f"; done';
        const { binary, args } = confined(found, cage, '/bin/sh', ['-c', look, 'sh', ...TREE.map(at)]);
        const seen = execFileSync(binary, args, { encoding: 'utf8' }).trimEnd().split('\n');
        const profile = profileOf(cage, []);
        const may = (operation: string, path: string) => seatbeltAllows(profile, operation, { path });
        const judged = TREE.map((file) => {
          const isRead = may('file-read-data', profiled(at(file)));
          return `${isRead ? 'r' : ''}${isRead && may('file-write-data', profiled(at(file))) ? 'w' : ''} ${at(file)}`;
        });
        expect({ seed, seen: judged, layers: layersOf(cage) }).toEqual({ seed, seen, layers: layersOf(cage) });
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

/** The folder of this test as it would be called on a Mac. */
function profiled(path: string): string {
  return path.startsWith('/tmp/') ? `/private${path}` : path;
}

describe('the sandbox of a system', () => {
  const tried: string[][] = [];
  const trial =
    (refused: RegExp | undefined): Trial =>
    (binary, args) => {
      tried.push([binary, ...args]);
      return Promise.resolve(args.some((arg) => refused?.test(arg) === true) ? 'unbound variable' : undefined);
    };
  const on = (platform: NodeJS.Platform, refused?: RegExp) =>
    createConfiner({ platform, environment: { PATH: '/nowhere' } }, trial(refused))();

  it('is sandbox-exec on macOS, where PATH names none, after a trial', async () => {
    tried.length = 0;
    expect(await on('darwin')).toMatchObject({ kind: 'seatbelt' });
    expect(tried).toHaveLength(1);
    expect(tried[0]?.slice(0, 7)).toEqual([
      ...['/bin/sh', '-c', 'cd "$1" || exit 1; shift; exec "$@"', 'sh', '/'],
      ...['/usr/bin/sandbox-exec', '-p'],
    ]);
    expect(tried[0]?.at(-1)).toBe('/usr/bin/true');
  });

  it('goes without a rule that this Mac does not know, and only without that', async () => {
    expect(await on('darwin', /job-creation/)).toEqual({
      kind: 'seatbelt',
      rules: expect.not.arrayContaining(['(deny job-creation)']),
    });
    expect(await on('darwin', /job-creation/)).toMatchObject({ rules: { length: 4 } });
    expect(await on('darwin', /version 1/)).toEqual({
      kind: 'none',
      problem: 'unbound variable',
      next: 'start squad outside of any other sandbox',
    });
  });

  it.each<[NodeJS.Platform, string]>([
    ['linux', 'bubblewrap is not installed'],
    ['freebsd', 'squad has a sandbox on Linux and macOS only'],
  ])('on %s is none: %s', async (platform, problem) => {
    const found = await on(platform);
    expect(found).toMatchObject({ kind: 'none', problem });
    expect(probedConfinement('gemini', found, false)).toMatchObject({ level: 'none' });
    const setting = { setting: 'allow-it', isOn: false };
    expect(refuseUnconfined('gemini', { level: 'edit' }, found, setting)?.failure.message).toContain(problem);
    expect(refuseUnconfined('gemini', { level: 'edit' }, found, { ...setting, isOn: true })).toBeUndefined();
  });

  it('confines a server in the folder of a task by the platform of its host', async () => {
    const settings = { environment: { PATH: '/bin' }, userHome: '/nowhere', stateDirectory: '/nowhere/state' };
    const cages = createTaskCages({ ...settings, platform: 'darwin' }, trial(undefined));
    const turn = {
      access: { level: 'edit' },
      workspace: { path: '/work' },
      directory: '/turns/1',
      readable: [],
    } as const;
    const cage = await cages(turn);
    if (cage.type === 'none') throw new Error(cage.why);
    const { command, args } = await cage.around({ command: 'sh', args: ['-c', 'true'] });
    expect([command, args[3], args[4], ...args.slice(-3)]).toEqual([
      ...['/bin/sh', '/work', '/usr/bin/sandbox-exec', 'sh', '-c', 'true'],
    ]);
    expect(args[6]).toContain('(deny network*)');
  });

  it('starts its program with the paths of the profile', () => {
    const { args } = inSeatbelt({ kind: 'seatbelt', rules: [] }, { cwd: '/w', hidden: [], writable: ['/w'] }, 'gem', [
      'x',
    ]);
    expect(args.slice(2, 6)).toEqual(['sh', '/w', '/usr/bin/sandbox-exec', '-p']);
    expect(args.slice(7)).toEqual(['-DP0=/w', 'gem', 'x']);
  });
});
