import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import type { ClaudeFacts } from '../../../src/runtimes/claude/command.ts';
import { createClaudeAdapter } from '../../../src/runtimes/claude/index.ts';
import type { RuntimeSettings } from '../../../src/runtimes/shared/cli-adapter.ts';
import type { Processes } from '../../../src/substrate/ports/processes.ts';
import { makeRequest } from './support.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-claude-')));
  for (const name of ['bin', 'home', 'state', 'tree']) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(...path: string[]): string {
  const file = join(root, ...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
}

/** Only `run` is used by an adapter. `answers` are by the name of the program. */
function processesWith(answers: Record<string, { code: number | null; stdout?: string; stderr?: string }>): Processes {
  return {
    run: (command: string) => {
      const answer = answers[command.split('/').at(-1) ?? ''] ?? { code: 127 };
      return Promise.resolve({ stdout: '', stderr: '', ...answer });
    },
  } as unknown as Processes;
}

const WORKING = { bwrap: { code: 0 }, claude: { code: 0, stdout: '2.1.400 (Claude Code)\n' } };

function adapterWith(changes: Partial<RuntimeSettings> = {}, answers: Parameters<typeof processesWith>[0] = WORKING) {
  const settings: RuntimeSettings = {
    environment: { PATH: join(root, 'bin'), HOME: join(root, 'home') },
    allowEnvironment: [],
    stateDirectory: join(root, 'state'),
    userHome: join(root, 'home'),
    platform: 'linux',
    architecture: 'x64',
    isRoot: false,
    ...changes,
  };
  return createClaudeAdapter(settings, { processes: processesWith(answers) });
}

function lookUp(settings: Partial<RuntimeSettings> = {}, request: Partial<TurnRequest> = {}): Promise<ClaudeFacts> {
  const workspace = { path: join(root, 'tree') };
  return adapterWith(settings).lookUp(makeRequest({ workspace, ...request }), join(root, 'turn'));
}

const environment = (more: Record<string, string> = {}) => ({
  PATH: join(root, 'bin'),
  HOME: join(root, 'home'),
  ...more,
});

describe('the binary', () => {
  it('is the native one behind what npm installed', async () => {
    const wrapper = program('lib', 'node_modules', '@anthropic-ai', 'claude-code', 'cli.cjs');
    const native = program('lib', 'node_modules', '@anthropic-ai', 'claude-code-linux-x64', 'claude');
    symlinkSync(wrapper, join(root, 'bin', 'claude'));
    expect((await lookUp()).binary).toBe(native);
    rmSync(native);
    const nested = program(
      'lib/node_modules/@anthropic-ai/claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude',
    );
    expect((await lookUp()).binary).toBe(nested);
    rmSync(nested);
    expect((await lookUp()).binary).toBe(wrapper);
  });

  it('is what the settings name, if it can be run', async () => {
    const other = program('elsewhere', 'claude');
    expect((await lookUp({ binary: other })).binary).toBe(other);
    chmodSync(other, 0o644);
    expect((await lookUp({ binary: other })).binary).toBeUndefined();
    expect((await lookUp()).binary).toBeUndefined();
  });
});

describe('the home', () => {
  it('is the user’s own, unless the environment holds a key or token', async () => {
    expect(await lookUp()).toMatchObject({ home: join(root, 'home', '.claude'), homeIsDefault: true });
    const named = await lookUp({ environment: environment({ CLAUDE_CONFIG_DIR: '/other' }) });
    expect(named).toMatchObject({ home: '/other', homeIsDefault: false });
    for (const name of ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN']) {
      const facts = await lookUp({ environment: environment({ [name]: 'x' }) });
      expect(facts).toMatchObject({ home: join(root, 'state', 'claude', 'home'), homeIsDefault: false });
    }
  });

  it('of a session is used as it is', async () => {
    const session = { runtime: 'claude', id: 'x', home: '/as/it/was', workspace: '/w', instructionsHash: '' };
    expect((await lookUp({ environment: environment({ ANTHROPIC_API_KEY: 'x' }) }, { session })).home).toBe(
      '/as/it/was',
    );
  });
});

describe('files with a login', () => {
  it('are those of every home that the user may have, whichever the turn uses', async () => {
    const files = ['.claude/.credentials.json', '.claude.json', 'other/.credentials.json', 'other/.claude.json'];
    const paths = files.map((name) => join(root, 'home', name));
    for (const path of paths) {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, '{}');
    }
    const host = environment({ ANTHROPIC_API_KEY: 'k', CLAUDE_CONFIG_DIR: join(root, 'home', 'other') });
    const facts = await lookUp({ environment: host });
    expect(facts.home).toBe(join(root, 'state', 'claude', 'home'));
    // In a new home the first turn makes it, and no later turn may say more to the model than the first one.
    const own = join(facts.home, '.claude.json');
    expect(facts.credentials.toSorted()).toEqual([...paths, own].toSorted());
  });
});

describe('the settings', () => {
  it('names the config keys, for which claude has no use', async () => {
    expect((await lookUp({ config: { model: 'x' } })).config).toEqual({ model: 'x' });
    expect((await lookUp()).config).toBeUndefined();
  });
});

describe('the environment', () => {
  it('passes the listed names only, and nothing of a Claude Code around us', async () => {
    const host = environment({
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: 'u',
      MINE: 'm',
      OTHER_SECRET: 'o',
      CLAUDECODE: '1',
      CLAUDE_CODE_SESSION_ID: 'outer',
    });
    const allowEnvironment = ['MINE', 'CLAUDECODE', 'CLAUDE_CODE_SESSION_ID'];
    const facts = await lookUp({ environment: host, allowEnvironment });
    expect(facts.environment).toEqual({
      PATH: host.PATH,
      HOME: host.HOME,
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: 'u',
      MINE: 'm',
    });
  });
});

describe('the sandbox', () => {
  it('needs bubblewrap that works, and socat', async () => {
    expect((await lookUp()).confinement).toBe('rules');
    program('bin', 'bwrap');
    expect((await lookUp()).confinement).toBe('rules');
    program('bin', 'socat');
    expect((await lookUp()).confinement).toBe('os');
    const broken = adapterWith({}, { bwrap: { code: 1 } });
    expect((await broken.lookUp(makeRequest({ workspace: { path: root } }), root)).confinement).toBe('rules');
    expect((await lookUp({ platform: 'darwin' })).confinement).toBe('os');
  });
});

describe('the notes of the repository', () => {
  const notes = async () => (await lookUp()).notes;

  it('are AGENTS.md and CLAUDE.md, once when they are the same', async () => {
    writeFileSync(join(root, 'tree', 'AGENTS.md'), 'one');
    symlinkSync('AGENTS.md', join(root, 'tree', 'CLAUDE.md'));
    expect(await notes()).toEqual([{ name: 'AGENTS.md', text: 'one' }]);
  });

  it('never come from outside', async () => {
    writeFileSync(join(root, 'secret'), 'secret');
    symlinkSync(join(root, 'secret'), join(root, 'tree', 'AGENTS.md'));
    mkdirSync(join(root, 'tree', 'CLAUDE.md'));
    expect(await notes()).toEqual([]);
  });

  it('are capped', async () => {
    writeFileSync(join(root, 'tree', 'AGENTS.md'), 'x'.repeat(70_000));
    const [only] = await notes();
    expect(only?.text.length).toBeLessThan(65_600);
    expect(only?.text).toContain('cut at 64 KiB');
  });
});

describe('probe', () => {
  it('is content with a current binary, a login and a sandbox', async () => {
    for (const name of ['claude', 'bwrap', 'socat']) program('bin', name);
    const probe = await adapterWith({ environment: environment({ ANTHROPIC_API_KEY: 'x' }) }).probe();
    expect(probe).toMatchObject({ ok: true, version: '2.1.400', login: 'ok', sandbox: 'os', problems: [] });
  });

  it('names each problem with what to do next', async () => {
    program('bin', 'claude');
    const probe = await adapterWith({}, { claude: { code: 0, stdout: '2.1.197 (Claude Code)' } }).probe();
    expect(probe).toMatchObject({ ok: false, version: '2.1.197', login: 'missing', sandbox: 'rules' });
    expect(probe.problems).toHaveLength(3);
    for (const { text, next } of probe.problems) {
      expect(text.length * next.length).toBeGreaterThan(0);
      expect(next, 'names a file of settings that is not there yet').not.toMatch(/runtimes\.|agents\[/);
    }
  });

  it('sees a login without reading it', async () => {
    program('bin', 'claude');
    mkdirSync(join(root, 'home', '.claude'));
    symlinkSync('/nothing', join(root, 'home', '.claude', '.credentials.json'));
    expect((await adapterWith().probe()).login).toBe('ok');
    rmSync(join(root, 'home', '.claude'), { recursive: true });
    expect((await adapterWith({ platform: 'darwin' }).probe()).login).toBe('unknown');
  });

  it('survives a binary that is missing or does not work', async () => {
    const missing = await adapterWith().probe();
    expect(missing).toMatchObject({ ok: false, sandbox: 'none' });
    expect(missing.problems[0]?.next).toMatch(/npm install -g .* PATH$/);
    program('bin', 'claude');
    const broken = await adapterWith({}, { claude: { code: 1, stderr: 'cannot execute' } }).probe();
    expect(broken.problems[0]?.text).toContain('cannot execute');
  });
});
