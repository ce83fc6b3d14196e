import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCodexAdapter, nativeCandidates } from '../../../src/runtimes/codex/index.ts';
import type { RuntimeSettings } from '../../../src/runtimes/shared/cli-adapter.ts';
import { isOlder } from '../../../src/runtimes/shared/find-program.ts';
import type { Processes } from '../../../src/substrate/ports/processes.ts';
import { requestOf, THREAD } from './support.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'codex-probe-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function settingsOf(changes: Partial<RuntimeSettings> = {}): RuntimeSettings {
  return {
    environment: { PATH: join(root, 'bin'), HOME: root },
    allowEnvironment: [],
    stateDirectory: join(root, 'state'),
    userHome: root,
    platform: 'linux',
    architecture: 'x64',
    isRoot: false,
    ...changes,
  };
}

function program(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}

/** Answers helpers by their first argument, and keeps what was asked. */
function processesOf(answers: Record<string, { code: number; stdout?: string; stderr?: string }>) {
  const asked: string[][] = [];
  const run: Processes['run'] = (_, args) => {
    asked.push([...args]);
    return Promise.resolve({ stdout: '', stderr: '', code: 1, ...answers[args[0] ?? ''] });
  };
  return { asked, processes: { run } as Processes };
}

const GOOD = { '--version': { code: 0, stdout: 'codex-cli 0.169.0' }, sandbox: { code: 0 }, login: { code: 1 } };

describe('the native codex', () => {
  it.each([
    ['linux', 'x64', 'codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex'],
    ['linux', 'arm64', 'codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex'],
    ['darwin', 'arm64', 'codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex'],
    ['win32', 'x64', 'codex-win32-x64/vendor/x86_64-pc-windows-msvc/bin/codex.exe'],
  ])('has a place on %s %s, nested or hoisted', (platform, architecture, tail) => {
    const launcher = '/n/node_modules/@openai/codex/bin/codex.js';
    expect(nativeCandidates(launcher, platform, architecture).slice(0, 2)).toEqual([
      `/n/node_modules/@openai/codex/node_modules/@openai/${tail}`,
      `/n/node_modules/@openai/${tail}`,
    ]);
  });

  it('has no place on a platform that codex does not know', () => {
    expect(nativeCandidates('/x/bin/codex.js', 'sunos', 'x64')).toEqual([]);
    expect(nativeCandidates('/x/bin/codex.js', 'linux', 'mips')).toEqual([]);
  });

  it('is found behind npm’s link on PATH', async () => {
    const packages = join(root, 'lib', 'node_modules', '@openai');
    const launcher = program(join(packages, 'codex', 'bin', 'codex.js'));
    const native = program(join(packages, 'codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex'));
    mkdirSync(join(root, 'bin'));
    symlinkSync(launcher, join(root, 'bin', 'codex'));
    const { processes } = processesOf(GOOD);
    const facts = await createCodexAdapter(settingsOf(), { processes }).lookUp(requestOf(), '/turns/1');
    expect(facts.binary).toBe(native);
  });
});

describe('the home of a codex turn', () => {
  const homeOf = async (changes: Partial<RuntimeSettings> = {}, request = requestOf()) =>
    (await createCodexAdapter(settingsOf(changes), processesOf(GOOD)).lookUp(request, '/turns/1')).home;

  it('is the user’s own, unless a key makes the login needless', async () => {
    const own = join(root, '.codex');
    const kept = join(root, 'state', 'codex-home');
    expect(await homeOf()).toBe(own);
    expect(await homeOf({ environment: { CODEX_HOME: '/mine' } })).toBe('/mine');
    expect(await homeOf({ environment: { CODEX_API_KEY: 'k' } })).toBe(kept);
    expect(await homeOf({ environment: { OPENAI_API_KEY: 'k' } })).toBe(own);
    const config = { model_provider: 'mine', model_providers: { mine: { env_key: 'MY_KEY' } } };
    expect(await homeOf({ config, environment: { MY_KEY: 'k' } })).toBe(kept);
    expect(await homeOf({ config })).toBe(own);
  });

  it('is the session’s on a resume, whatever the environment says now', async () => {
    const session = { runtime: 'codex', id: THREAD, home: '/then', workspace: '/w', instructionsHash: '' };
    expect(await homeOf({ environment: { CODEX_API_KEY: 'k' } }, requestOf({ session }))).toBe('/then');
  });
});

describe('the repository in a codex workspace', () => {
  it('may be changed if it is a directory, and not through a link to another one', async () => {
    const tree = join(root, 'tree');
    mkdirSync(join(root, 'other', '.git'), { recursive: true });
    mkdirSync(join(tree, '.git'), { recursive: true });
    const adapter = createCodexAdapter(settingsOf(), processesOf(GOOD));
    const found = async (repository?: boolean) => {
      const workspace = { path: tree, ...(repository === undefined ? {} : { repository }) };
      return (await adapter.lookUp(requestOf({ workspace }), '/turns/1')).repository;
    };
    expect(await found(true)).toBe(true);
    expect(await found()).toBe(false);
    for (const name of ['.git', '.agents']) {
      symlinkSync(root, join(tree, '.git', name));
      expect(await found(true)).toBe(false);
      rmSync(join(tree, '.git', name));
    }
    expect(await found(true)).toBe(true);
    rmSync(join(tree, '.git'), { recursive: true });
    expect(await found(true)).toBe(false);
    symlinkSync(join(root, 'other', '.git'), join(tree, '.git'));
    expect(await found(true)).toBe(false);
  });
});

describe('probing codex', () => {
  it('is fine with a proved version, a login file and a sandbox, and leaves nothing behind', async () => {
    const binary = program(join(root, 'codex'));
    program(join(root, '.codex', 'auth.json'));
    const { asked, processes } = processesOf(GOOD);
    const probe = await createCodexAdapter(settingsOf({ binary }), { processes }).probe();
    expect(probe).toEqual({
      ok: true,
      version: '0.169.0',
      floor: '0.160.1',
      tested: '0.169.0',
      binary,
      login: 'ok',
      sandbox: 'os',
      problems: [],
    });
    expect(asked.map(([first]) => first)).toEqual(['--version', 'sandbox']);
    expect(existsSync(asked[1]?.[4] ?? '')).toBe(false);
  });

  it('names each problem with what to do', async () => {
    const binary = program(join(root, 'codex'));
    mkdirSync(join(root, '.codex'));
    const { processes } = processesOf({
      '--version': { code: 0, stdout: 'codex-cli 0.98.3' },
      sandbox: { code: 1, stderr: 'bwrap: no namespaces' },
    });
    const environment = { OPENAI_API_KEY: 'k' };
    const probe = await createCodexAdapter(settingsOf({ binary, environment }), { processes }).probe();
    expect(probe).toMatchObject({ ok: false, login: 'missing', sandbox: 'none' });
    expect(probe.problems.map(({ text }) => text)).toEqual([
      'codex 0.98.3 is older than 0.160.1',
      'codex is not logged in (codex ignores OPENAI_API_KEY)',
      'codex cannot confine an agent here: bwrap: no namespaces',
    ]);
    expect(probe.problems.every(({ next }) => next !== '')).toBe(true);
  });

  it('says where to get codex when there is none', async () => {
    const { processes } = processesOf({});
    const probe = await createCodexAdapter(settingsOf(), { processes }).probe();
    expect(probe).toMatchObject({ ok: false, login: 'unknown', sandbox: 'none' });
    expect(probe.problems[0]?.next).toMatch(/npm install -g @openai\/codex.* PATH$/);
  });

  it('asks again after a failure: a busy machine is not one without a sandbox', async () => {
    const binary = program(join(root, 'codex'));
    const answers = { ...GOOD, sandbox: { code: 1, stderr: 'fork: try again' } };
    const { asked, processes } = processesOf(answers);
    const adapter = createCodexAdapter(settingsOf({ binary }), { processes });
    expect((await adapter.lookUp(requestOf(), '/turns/1')).sandboxProblem).toContain('try again');
    answers.sandbox = { code: 0, stderr: '' };
    expect((await adapter.lookUp(requestOf(), '/turns/1')).sandboxProblem).toBeUndefined();
    expect((await adapter.lookUp(requestOf(), '/turns/1')).sandboxProblem).toBeUndefined();
    expect(asked.filter(([first]) => first === 'sandbox')).toHaveLength(2);
  });

  it('never rejects, not even without a place for temporary files', async () => {
    const binary = program(join(root, 'codex'));
    const { processes } = processesOf(GOOD);
    writeFileSync(join(root, 'a-file'), '');
    const stateDirectory = join(root, 'a-file', 'state');
    const probe = await createCodexAdapter(settingsOf({ binary, stateDirectory }), { processes }).probe();
    expect(probe.problems.map(({ text }) => text).join()).toMatch(/cannot confine an agent here: .*a-file/);
  });

  it('compares versions by number', () => {
    expect(isOlder('0.99.9', '0.169.0')).toBe(true);
    expect(isOlder('0.169.0', '0.169.0')).toBe(false);
    expect(isOlder('0.170.0', '0.169.5')).toBe(false);
    expect(isOlder('1.0.0', '0.169.0')).toBe(false);
  });
});
