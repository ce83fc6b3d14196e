// @module-tag all
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { npmSettings, ownPeers, pack, packagesIn, PROJECT, type LockEntry, type Packed } from './installed.ts';

/** Counted 33 when written; a dependency that doubles the tree should be noticed. */
const MOST_PACKAGES = 90;

let installed: Packed;
let root = '';
let project = '';
let squad = '';
let packages: [string, LockEntry][] = [];

beforeAll(() => {
  installed = pack();
  ({ root } = installed);
  project = installed.project('project', ownPeers());
  squad = join(project, 'node_modules', '.bin', 'squad');
  packages = packagesIn(project);
}, 120_000);
afterAll(() => installed.close());

describe('the tarball', () => {
  it('holds the launcher, the build and the papers, and nothing else', () => {
    expect(installed.files).toEqual(
      expect.arrayContaining([
        'bin/squad.cjs',
        'dist/turn-wrapper.sh',
        'dist/turn-init.sh',
        'dist/start-apart.sh',
        'dist/helper-host.mjs',
        'dist/run-child.mjs',
        'dist/player.mjs',
        'dist/stand-in.mjs',
        'dist/web-page.css',
        'dist/web-page.js',
        'dist/acp-host.mjs',
        'LICENSE',
        'README.md',
      ]),
    );
    expect(
      installed.files.filter(
        (path) =>
          !/^(bin|dist|examples)\/|^docs\/([a-z-]+\.md|decisions\/[\w-]+\.md|picture\.svg|schemas\/[a-z-]+\.schema\.json)$|^(LICENSE|(README|ARCHITECTURE|CONTRIBUTING)\.md|package\.json)$/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(installed.files.filter((path) => /\.(test|map)|\/test\//.test(path))).toEqual([]);
  });

  it('has every file that its pages link to', () => {
    const pages = installed.files.filter((path) => path.endsWith('.md'));
    const linked = pages.flatMap((page) => {
      const text = readFileSync(join(PROJECT, page), 'utf8');
      const targets = [...text.matchAll(/\]\((?!\w+:)([^)#\s]+)/g)].map(([, target]) => target ?? '');
      return targets.map((target) => [page, normalize(join(dirname(page), target))] as const);
    });
    expect(linked.length).toBeGreaterThan(50);
    const isThere = (path: string): boolean =>
      installed.files.some((file) => file === path || file.startsWith(join(path, '/')));
    expect(linked.filter(([, path]) => !isThere(path))).toEqual([]);
  });

  it('has entries that publint finds nothing wrong with', () => {
    const publint = join(PROJECT, 'node_modules', 'publint', 'src', 'cli.js');
    const { code, stdout, stderr } = installed.run(
      process.execPath,
      [publint, 'run', '--strict', '--pack', 'false'],
      PROJECT,
    );
    expect(code, `${stdout}${stderr}`).toBe(0);
  });

  it('names no path of the machine that built it', () => {
    const texts = installed.files.filter((path) => path.startsWith('dist/')).map((path) => join(PROJECT, path));
    expect(texts.filter((path) => readFileSync(path, 'utf8').includes(PROJECT))).toEqual([]);
  });
});

describe('what is installed with it', () => {
  it('is few packages', () => {
    expect(packages.length).toBeGreaterThan(5);
    expect(packages.length).toBeLessThanOrEqual(MOST_PACKAGES);
  });

  it('runs nothing at installation', () => {
    const scripts = packages.flatMap(([path]) => {
      const text = readFileSync(join(project, path, 'package.json'), 'utf8');
      const { scripts: found = {} } = JSON.parse(text) as { scripts?: Record<string, string> };
      return ['preinstall', 'install', 'postinstall'].filter((name) => name in found).map((name) => `${path} ${name}`);
    });
    expect(scripts).toEqual([]);
    // npm calls a binding.gyp an install script too; the squad that is tested below runs without it.
    const gyp = packages.filter(([, entry]) => entry.hasInstallScript === true).map(([path]) => path);
    expect(gyp.filter((path) => path !== 'node_modules/better-sqlite3')).toEqual([]);
  });

  it('has one SQLite, and a safe one', () => {
    const found = packages.filter(([path]) => path.endsWith('/better-sqlite3'));
    expect(found).toMatchObject([['node_modules/better-sqlite3', { version: expect.stringMatching(/^13\./) }]]);
  });
});

describe('squad, installed', () => {
  it('names those whose code it brings along', () => {
    const notices = readFileSync(join(project, 'node_modules/agentsquad/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    expect(notices).toMatch(
      /^@langchain\/langgraph-checkpoint-sqlite \d[^\n]* \(MIT\)\n\n[^]*Permission is hereby granted/m,
    );
    expect(notices).toMatch(/^zod \d/m);
  });

  const version = (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }).version;

  it('says its version', () => {
    expect(installed.run(squad, ['--version'], project)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('plays the demo: a whole run, with the graph, the checkpointer, the wrapper and the player that were shipped', () => {
    const demo = installed.run(squad, ['demo', '--json', '--remove'], project);
    const lines = demo.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.at(-1), demo.stderr).toMatchObject({ type: 'run-ended', outcome: 'done' });
    expect(demo.code).toBe(0);
    expect(readdirSync(root).filter((name) => name.startsWith('squad-demo'))).toEqual([]);
  });

  it.each([
    ['agentsquad', ['createSquad', 'isSquadError', 'runEventSchema']],
    ['agentsquad/runtime', ['createCliRuntime', 'FAILURE_KINDS']],
    ['agentsquad/playbook', ['addTask', 'workTask']],
    ['agentsquad/studio', ['graph', 'routes']],
    ['agentsquad/testing', ['runtimeConformance', 'CASES', 'SCENARIOS']],
  ])('import(%j) works and has its types beside it', (name, exported) => {
    const program = `process.stdout.write(JSON.stringify(Object.keys(await import('${name}'))))`;
    const done = installed.run('node', ['--input-type=module', '-e', program], project);
    expect(done.stderr).toBe('');
    expect(JSON.parse(done.stdout)).toEqual(expect.arrayContaining(exported));
    const own = join(project, 'node_modules', 'agentsquad');
    const { exports } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
      exports: Record<string, { types: string }>;
    };
    expect(existsSync(join(own, exports[name.replace('agentsquad', '.')]!.types))).toBe(true);
  });

  it('does not let anything else be imported', () => {
    const done = installed.run(
      'node',
      ['--input-type=module', '-e', `await import('agentsquad/dist/cli.mjs')`],
      project,
    );
    expect(done.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('under a Node that is too old', () => {
  const old = [npmSettings()['npm_node_execpath'], '/usr/bin/node', '/usr/local/bin/node'].find((path) => {
    if (path === undefined || !existsSync(path)) return false;
    const napi = Number(spawnSync(path, ['-p', 'process.versions.napi'], { encoding: 'utf8' }).stdout);
    return napi > 0 && napi < 10;
  });
  const launcher = () => join(project, 'node_modules', 'agentsquad', 'bin', 'squad.cjs');
  const named = old === undefined ? ' (left out: this machine has no Node below Node-API 10)' : '';

  it.skipIf(old === undefined)(`the launcher says so in one sentence and exits 78${named}`, () => {
    const done = installed.run(old!, [launcher(), 'doctor'], project);
    expect(done).toMatchObject({ code: 78, stdout: '', signal: null });
    expect(done.stderr).toMatch(/^squad needs Node\.js 22\.14 or newer \(found v\d+.*\)\. .*SQUAD_NODE=.*\n$/);
  });

  it.skipIf(old === undefined)(`the launcher goes on with the Node that SQUAD_NODE names${named}`, () => {
    const done = installed.run(old!, [launcher(), '--version'], project, { SQUAD_NODE: join(root, 'bin', 'node') });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const wrong = installed.run(old!, [launcher(), '--version'], project, { SQUAD_NODE: old });
    expect(wrong).toMatchObject({ code: 78, stdout: '' });
  });

  it.skipIf(old === undefined)(`the launcher hands signals on, and ends as the other Node does${named}`, async () => {
    const other = join(root, 'bin', 'listening-node');
    const lines = ['#!/bin/sh', "trap 'exit 43' TERM", 'echo up', 'while :; do sleep 0.1; done', ''];
    writeFileSync(other, lines.join('\n'), { mode: 0o755 });
    const child = spawn(old!, [launcher(), 'run', 'x.md'], {
      cwd: project,
      env: { ...installed.environment, SQUAD_NODE: other },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    // At a terminal the other Node has it as well, and answers it; the launcher waits for that.
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await ended).toEqual([43, null]);
  });
});
