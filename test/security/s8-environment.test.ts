import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { command as claudeCommand } from '../../src/runtimes/claude/command.ts';
import { codexCommand } from '../../src/runtimes/codex/command.ts';
import { createGit } from '../../src/substrate/git/git-call.ts';
import { makeFacts, makeRequest } from '../runtimes/claude/support.ts';
import { factsOf, requestOf } from '../runtimes/codex/support.ts';
import { testHost } from '../support/test-host.ts';
import { openLaunchRoom, RECORDER, type LaunchRoom } from './launches.ts';

/** Whose secrets stand in the environments of developers; and what would change how a program is loaded. */
const NAMES = [
  ...[
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AZURE_CLIENT_SECRET',
    'GOOGLE_APPLICATION_CREDENTIALS',
  ],
  ...[
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'GITLAB_TOKEN',
    'NPM_TOKEN',
    'NODE_AUTH_TOKEN',
    'PYPI_TOKEN',
    'CARGO_REGISTRY_TOKEN',
    'DOCKER_PASSWORD',
  ],
  ...[
    'SLACK_BOT_TOKEN',
    'DISCORD_TOKEN',
    'TELEGRAM_BOT_TOKEN',
    'STRIPE_SECRET_KEY',
    'TWILIO_AUTH_TOKEN',
    'SENDGRID_API_KEY',
  ],
  ...[
    'DATABASE_URL',
    'PGPASSWORD',
    'REDIS_URL',
    'MONGODB_URI',
    'VAULT_TOKEN',
    'SSH_AUTH_SOCK',
    'GPG_PASSPHRASE',
    'KUBECONFIG',
  ],
  ...[
    'GEMINI_API_KEY',
    'MISTRAL_API_KEY',
    'GROQ_API_KEY',
    'HF_TOKEN',
    'LANGSMITH_API_KEY',
    'LANGCHAIN_API_KEY',
    'OPENROUTER_API_KEY',
  ],
  ...[
    'GIT_SSH_COMMAND',
    'GIT_ASKPASS',
    'GIT_EXTERNAL_DIFF',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'BASH_ENV',
    'PYTHONSTARTUP',
    'SECRET_OF_NOBODY',
  ],
];
const CANARIES = Object.fromEntries(NAMES.map((name, index) => [name, `canary-${index}-of-s8`]));
/** LD_PRELOAD and NODE_OPTIONS would be about this test's own helpers; here only their passing on matters. */
const KEYS = {
  ANTHROPIC_API_KEY: 'own-key-of-claude',
  OPENAI_API_KEY: 'own-key-of-openai',
  CODEX_API_KEY: 'own-key-of-codex',
};

let room: LaunchRoom;
beforeEach(() => {
  room = openLaunchRoom();
});
afterEach(() => room.close());

describe('S8: secrets of the environment', () => {
  it('S8: are looked for in at least 40 variables', () => {
    expect(new Set(NAMES).size).toBeGreaterThanOrEqual(40);
  });

  it.each([
    ['claude', 'own-key-of-claude', /own-key-of-(?:openai|codex)/],
    ['codex', 'own-key-of-codex', /own-key-of-(?:claude|openai)/],
  ] as const)('S8: none reaches %s, nor the key of another runtime', async (runtime, own, others) => {
    await room.run(runtime, {}, { ...CANARIES, ...KEYS });
    expect(room.launches()).toHaveLength(1);
    for (const { env } of room.all()) expect(JSON.stringify(env)).not.toMatch(/canary-/);
    const text = JSON.stringify(room.launches()[0]?.env);
    expect(text).toContain(own);
    expect(text).not.toMatch(others);
    expect(JSON.stringify(room.all().map(({ args }) => args))).not.toMatch(/canary-|own-key/);
  });

  it('S8: none reaches a check', async () => {
    const environment = { PATH: process.env['PATH'], HOME: room.root, ...CANARIES, ...KEYS };
    const runtime = compose(testHost(room.root, { environment })).checkRuntime();
    const directory = join(room.turn, 'check');
    mkdirSync(directory);
    const request = {
      ...makeRequest({ prompt: `env > ${join(room.root, 'said')}`, workspace: { path: room.workspace } }),
      turnId: `security-check-${process.pid}`,
      limits: DEFAULT_TURN_LIMITS,
    };
    const { result } = runtime.start(request, { directory, onSpawned: () => Promise.resolve() });
    expect(await result).toMatchObject({ outcome: 'completed' });
    expect(readFileSync(join(room.root, 'said'), 'utf8')).toMatch(/^CI=true$/m);
    expect(readFileSync(join(room.root, 'said'), 'utf8')).not.toMatch(/canary-|own-key/);
  });

  it('S8: none reaches git, and so no hook and no helper of it', async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'squad-s8-')));
    try {
      const environment = { PATH: process.env['PATH'], HOME: home, ...CANARIES, ...KEYS };
      const { processes } = compose(testHost(home, { environment }));
      const git = createGit({ processes, environment, binary: () => Promise.resolve(RECORDER), stateDirectory: home });
      await git.run(['status'], { cwd: home });
      const text = readFileSync(join(home, 'record'), 'utf8');
      expect(text).toContain('GIT_TERMINAL_PROMPT');
      expect(text).not.toMatch(/canary-|own-key/);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('S8: no key of a runtime reaches the MCP servers and the shell of its agent', () => {
    const transport = { type: 'stdio' as const, command: '/bin/desk', args: [], env: { OWN: 'x' } };
    const claude = claudeCommand(makeRequest({ mcp: [{ name: 'desk', transport }] }), makeFacts());
    if (claude.type !== 'command') throw new Error('refused');
    const text = (name: string) => claude.files.find((file) => file.name === name)?.text ?? '{}';
    expect(JSON.parse(text('mcp.json'))).toMatchObject({
      mcpServers: { desk: { env: { ANTHROPIC_API_KEY: '', OWN: 'x' } } },
    });
    expect(JSON.parse(text('claude-settings.json'))).toMatchObject({
      sandbox: { credentials: { envVars: [{ name: 'ANTHROPIC_API_KEY', mode: 'deny' }] } },
    });
    const codex = codexCommand(requestOf({ mcp: [{ name: 'desk', transport }] }), factsOf());
    if (codex.type !== 'command') throw new Error('refused');
    expect(codex.args.find((arg) => arg.startsWith('shell_environment_policy='))).toMatch(/"?inherit"? ?= ?"core"/);
    expect(codex.args.find((arg) => arg.startsWith('mcp_servers'))).toMatch(/"?env_vars"? ?= ?\["OWN"\]/);
  });
});
