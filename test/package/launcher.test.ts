import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

// The launcher itself, over programs that say how they were started: it needs no build.
const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-launcher-')));
const launcher = join(root, 'bin', 'squad.cjs');
mkdirSync(join(root, 'bin'));
mkdirSync(join(root, 'dist'));
copyFileSync(fileURLToPath(new URL('../../bin/squad.cjs', import.meta.url)), launcher);
const says = `
  import { getCompileCacheDir } from 'node:module';
  console.log(JSON.stringify({ kept: getCompileCacheDir() ?? null, flags: process.execArgv, args: process.argv.slice(2) }));`;
for (const name of ['cli', 'mcp']) writeFileSync(join(root, 'dist', `${name}.mjs`), says);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(root, 'home-'));
});

interface Started {
  readonly kept: string | null;
  readonly flags: readonly string[];
  readonly args: readonly string[];
}

function start(args: readonly string[], more: NodeJS.ProcessEnv = {}, node = process.execPath): Started {
  const env = { PATH: process.env['PATH'], HOME: home, ...more };
  const { stdout, stderr, status } = spawnSync(node, [launcher, ...args], { cwd: home, env, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Started;
}

function stateFolder(): string {
  const folder = join(home, '.local', 'state', 'squad');
  mkdirSync(folder, { recursive: true });
  return folder;
}

describe('compiled code', () => {
  it('is kept in squad’s own state folder, for the user alone, and read back from there', () => {
    const folder = stateFolder();
    expect(start(['status']).kept).toMatch(new RegExp(`^${folder}/compiled/`));
    const kept = readdirSync(join(folder, 'compiled'), { recursive: true });
    expect(kept.length).toBeGreaterThan(1);
    start(['status']);
    expect(readdirSync(join(folder, 'compiled'), { recursive: true })).toEqual(kept);
  });

  it('follows XDG_STATE_HOME', () => {
    const state = join(home, 'elsewhere');
    mkdirSync(join(state, 'squad'), { recursive: true });
    expect(start(['status'], { XDG_STATE_HOME: state }).kept).toMatch(new RegExp(`^${state}/squad/compiled/`));
  });

  it('is kept nowhere on a machine where squad has no folder yet, and makes none', () => {
    expect(start(['status']).kept).toBeNull();
    expect(readdirSync(home)).toEqual([]);
  });

  it.each(['state', './state', ''])(
    'never follows the relative path %j, which would lead into the repository',
    (state) => {
      mkdirSync(join(home, 'state', 'squad'), { recursive: true });
      expect(start(['status'], { XDG_STATE_HOME: state }).kept).toBeNull();
      expect(readdirSync(join(home, 'state', 'squad'))).toEqual([]);
    },
  );

  it('is not needed: where its folder cannot be made, squad starts without', () => {
    writeFileSync(join(stateFolder(), 'compiled'), 'a file');
    expect(start(['status'])).toMatchObject({ kept: null, args: ['status'] });
  });
});

const MEMORY_FLAGS = ['--max-semi-space-size=2'];

it.each(['--version', '-V'])('%s is answered by the launcher alone', (flag) => {
  writeFileSync(join(root, 'package.json'), '{"version":"1.2.3"}');
  const { stdout, status } = spawnSync(process.execPath, [launcher, flag], { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['1.2.3\n', 0]);
});

describe('V8’s flags for memory', () => {
  it.each(['run', 'resume', 'demo'])('squad %s has them', (command) => {
    expect(start([command, 'a b'])).toMatchObject({ flags: MEMORY_FLAGS, args: [command, 'a b'] });
  });

  it.each(['status', 'mcp', '--help'])('squad %s has none', (command) => {
    expect(start([command])).toMatchObject({ flags: [], args: [command] });
  });

  const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
    const napi = existsSync(path)
      ? Number(spawnSync(path, ['-p', 'process.versions.napi'], { encoding: 'utf8' }).stdout)
      : 0;
    return napi > 0 && napi < 10;
  });
  const left = old === undefined ? ' (left out: this machine has no Node below Node-API 10)' : '';
  it.skipIf(old === undefined)(`an older Node starts the right one with them, which starts nothing more${left}`, () => {
    // A flag of its own would be lost if that one started itself again.
    const wrapper = join(home, 'node');
    writeFileSync(wrapper, `#!/bin/sh\nexec '${process.execPath}' --no-warnings "$@"\n`, { mode: 0o755 });
    const flags = ['--no-warnings', ...MEMORY_FLAGS];
    expect(start(['run', 'a.md'], { SQUAD_NODE: wrapper }, old)).toMatchObject({ flags, args: ['run', 'a.md'] });
  });
});
