import { describe, expect, it } from 'vitest';
import type { McpServer, TurnRequest } from '../../../src/model/turn-request.ts';
import { codexCommand, type CodexFacts } from '../../../src/runtimes/codex/command.ts';
import type { CliCommand } from '../../../src/runtimes/shared/cli-adapter.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { factsOf, requestOf, THREAD } from './support.ts';

function command(changes: Partial<TurnRequest> = {}, facts: Partial<CodexFacts> = {}): CliCommand {
  const made = codexCommand(requestOf(changes), factsOf(facts));
  if (made.type === 'refusal') throw new Error(JSON.stringify(made.failure));
  return made;
}

function refusal(changes: Partial<TurnRequest>, facts: Partial<CodexFacts> = {}) {
  const made = codexCommand(requestOf(changes), factsOf(facts));
  return made.type === 'refusal' ? { kind: made.failure.kind, setting: made.failure.setting } : 'accepted';
}

/** The value of one `-c key=…`. */
function config(made: CliCommand, key: string): string | undefined {
  return made.args.findLast((argument) => argument.startsWith(`${key}=`))?.slice(key.length + 1);
}

const session = {
  runtime: 'codex',
  id: THREAD,
  home: '/home/u/.codex',
  workspace: '/w/tree',
  instructionsHash: instructionsHash('be good'),
};

describe('the command line of a codex turn', () => {
  it('begins with exec and its isolation, and sends the prompt on stdin only', () => {
    const made = command({ prompt: 'review' });
    expect(made.args.slice(0, 8)).toEqual([
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--ignore-user-config',
      '--ignore-rules',
      '--strict-config',
      '-C',
      '/w/tree',
    ]);
    expect(made.args.at(-1)).toBe('-');
    expect(made.args).not.toContain('review');
    expect(made.stdin).toBe('review');
    expect(made.binary).toBe('/opt/codex');
  });

  it('confines an edit turn to its folder and the repository in it', () => {
    const made = command();
    expect(config(made, 'default_permissions')).toBe('"squad"');
    expect(config(made, 'permissions.squad.filesystem')).toBe(
      '{":root"="read","/w/tree"="write","/w/tree/.git"="write","/state/codex/tmp/1a"="write","/home/u/.codex/auth.json"="deny"}',
    );
    expect(config(made, 'permissions.squad.network')).toBe('{"enabled"=false}');
    expect(made.args).not.toContain('--sandbox');
  });

  it('gives no rule for a .git that is not there, or is a link', () => {
    expect(config(command({}, { repository: false }), 'permissions.squad.filesystem')).toBe(
      '{":root"="read","/w/tree"="write","/state/codex/tmp/1a"="write","/home/u/.codex/auth.json"="deny"}',
    );
  });

  it('makes nothing writable for a read-only turn', () => {
    const made = command({ access: { level: 'read-only' } });
    expect(config(made, 'permissions.squad.filesystem')).toBe('{":root"="read","/home/u/.codex/auth.json"="deny"}');
    expect(config(made, 'permissions.squad.network')).toBe('{"enabled"=false}');
  });

  it('lets a reader that has to build write in its folder, but not in its .git', () => {
    const made = command({ access: { level: 'read-only', builds: true } });
    expect(config(made, 'permissions.squad.filesystem')).toBe(
      '{":root"="read","/w/tree"="write","/state/codex/tmp/1a"="write","/home/u/.codex/auth.json"="deny"}',
    );
    expect(config(made, 'permissions.squad.network')).toBe('{"enabled"=false}');
  });

  it('opens the network and more folders only when asked', () => {
    const made = command({ access: { level: 'edit', network: true, writable: ['/cache'] } });
    expect(config(made, 'permissions.squad.network')).toBe('{"enabled"=true}');
    expect(config(made, 'permissions.squad.filesystem')).toContain('"/cache"="write"');
  });

  it('tells the agent what its sandbox breaks, where there is one without network', () => {
    const told = (access: TurnRequest['access']) => config(command({ access }), 'developer_instructions');
    expect(told({ level: 'edit' })).toMatch(/^"be good\\n\\nYour shell runs in a sandbox without network\./);
    expect(told({ level: 'read-only' })).toContain('can fail with EPERM');
    expect(told({ level: 'edit', network: true })).toBe('"be good"');
    expect(told({ level: 'full' })).toBe('"be good"');
  });

  it('drops the sandbox only for full access', () => {
    const made = command({ access: { level: 'full' } });
    expect(made.args.join(' ')).toContain('--sandbox danger-full-access');
    expect(config(made, 'default_permissions')).toBeUndefined();
  });

  it('keeps its own git, which no sandbox confines, out of the repository, and gives git’s settings to the shell', () => {
    const made = command({ workspace: { path: '/w/tree', gitSettings: [['filter.a"b.clean', '']] } });
    expect(made.env['GIT_DIR']).toBe('/dev/null');
    const shell = config(made, 'shell_environment_policy');
    expect(shell).toContain('"GIT_CONFIG_KEY_0"="filter.a\\"b.clean","GIT_CONFIG_VALUE_0"=""');
    expect(shell).not.toContain('GIT_DIR');
  });

  it('gives the shell the marker and a temporary folder of its own, and no key', () => {
    const made = command({}, { environment: { PATH: '/bin', CODEX_API_KEY: 'the-key' } });
    expect(config(made, 'shell_environment_policy')).toBe(
      '{"inherit"="core","set"={"TMPDIR"="/state/codex/tmp/1a","SQUAD_TURN_ID"="turn-1"}}',
    );
    expect(made.env['CODEX_API_KEY']).toBe('the-key');
    expect(made.args.join(' ')).not.toContain('the-key');
    expect(made.env['CODEX_HOME']).toBe('/home/u/.codex');
    expect(made.folders).toEqual(['/home/u/.codex', '/turns/1/squad-turn-1', '/state/codex/tmp/1a']);
  });

  it('shows the shell a variable that is meant for it, by its name alone', () => {
    const made = command({ environment: ['NPM_TOKEN'] }, { environment: { PATH: '/bin', NPM_TOKEN: 'the-token' } });
    expect(config(made, 'shell_environment_policy')).toBe(
      '{"inherit"="all","ignore_default_excludes"=true,' +
        '"include_only"=["HOME","LOGNAME","PATH","SHELL","USER","TMPDIR","SQUAD_TURN_ID","NPM_TOKEN"],' +
        '"set"={"TMPDIR"="/state/codex/tmp/1a","SQUAD_TURN_ID"="turn-1"}}',
    );
    expect(made.env['NPM_TOKEN']).toBe('the-token');
    expect(made.args.join(' ')).not.toContain('the-token');
  });

  it('lists the skills of the turn itself, and hides those of the home, the user and the repository', () => {
    const skills = [{ name: 'notes', folder: '/store/1a/notes' }];
    const read = [{ ...skills[0]!, description: 'How to\ntake notes.', keys: [] }];
    const told = config(command({ skills }, { skills: read }), 'developer_instructions');
    expect(told).toMatch(/^"be good/);
    expect(told).toContain('- notes: How to take notes. (file: /store/1a/notes/SKILL.md)');
    expect(config(command({ skills, instructions: '' }, { skills: read }), 'developer_instructions')).toContain(
      'notes',
    );
    expect(config(command({ instructions: '' }), 'developer_instructions')).toBeUndefined();
    expect(config(command(), 'skills.include_instructions')).toBe('false');
  });

  it('reads the user’s own config on purpose, and trusts no repository for it', () => {
    const notes = [{ name: 'AGENTS.md', text: 'House rule.' }];
    const made = command({ home: 'mine' }, { notes });
    expect(made.args.filter((argument) => /^--(?:ignore|strict)/.test(argument))).toEqual([]);
    for (const key of ['notify', 'skills.include_instructions', 'features.hooks', 'features.plugins']) {
      expect(config(made, key)).toBeUndefined();
      expect(config(command(), key)).toBeDefined();
    }
    expect(config(made, 'projects')).toBe('{"/w/tree"={"trust_level"="untrusted"}}');
    expect(config(made, 'approval_policy')).toBe('"never"');
    expect(config(made, 'default_permissions')).toBe('"squad"');
    expect(made.stdin).toContain('House rule.');
  });

  it('has Codex repeat what required servers say on stderr', () => {
    const desk: McpServer = { name: 'desk', transport: { type: 'stdio', command: '/desk', args: [], env: {} } };
    expect(command({ mcp: [{ ...desk, required: true }] }).env['RUST_LOG']).toContain('stdio_server_launcher=info');
    expect(command({ mcp: [desk] }).env['RUST_LOG']).not.toContain('stdio_server_launcher');
  });

  it('repeats every option on a resume, before the word `resume`', () => {
    const made = command({ session });
    const at = made.args.indexOf('resume');
    expect(made.args.slice(at)).toEqual(['resume', THREAD, '-']);
    expect(made.args.slice(0, at)).toEqual(command().args.slice(0, -1));
  });

  it('names a changed folder in the prompt of a resume', () => {
    expect(command({ session: { ...session, workspace: '/w/old' } }).stdin).toContain('It is now /w/tree');
  });

  it('puts a schema into a file of the turn’s directory', () => {
    const made = command({ outputSchema: { type: 'object' } });
    expect(made.files).toEqual([{ name: 'output-schema.json', text: '{"type":"object"}' }]);
    expect(made.args.join(' ')).toContain('--output-schema /turns/1/output-schema.json');
  });

  it('hands over MCP servers with their secrets in the environment', () => {
    const made = command({
      mcp: [
        {
          name: 'desk',
          required: true,
          tools: ['note'],
          transport: { type: 'stdio', command: '/n', args: ['a'], env: { TOKEN: 'secret', PATH: '/x' } },
        },
        { name: 'web', transport: { type: 'http', url: 'http://h/mcp', headers: { Authorization: 'Bearer secret' } } },
      ],
    });
    expect(config(made, 'mcp_servers.desk')).toBe(
      '{"command"="/n","args"=["a"],"env"={"PATH"="/x","SQUAD_TURN_ID"="turn-1"},"env_vars"=["TOKEN"],' +
        '"required"=true,"startup_timeout_sec"=30,"default_tools_approval_mode"="approve","enabled_tools"=["note"]}',
    );
    expect(config(made, 'mcp_servers.web')).toBe(
      '{"url"="http://h/mcp","env_http_headers"={"Authorization"="SQUAD_MCP_1_0"},' +
        '"required"=false,"startup_timeout_sec"=30,"default_tools_approval_mode"="approve"}',
    );
    // A late one would be left out of the turn without a word.
    expect(config(made, 'mcp_optional_startup_grace_ms')).toBe('0');
    expect(command({}).args.join(' ')).not.toContain('mcp_optional');
    expect(made.env).toMatchObject({ TOKEN: 'secret', SQUAD_MCP_1_0: 'Bearer secret', PATH: '/bin' });
    expect(made.args.join(' ')).not.toContain('secret');
  });

  it('keeps a variable of an MCP server out of the arguments, also one that the host or Codex knows', () => {
    const env = { GITHUB_TOKEN: 'one-secret', OPENAI_API_KEY: 'other-secret', RUST_LOG: 'info' };
    const mcp = ['desk', 'web'].map((name) => stdio(name, env));
    const made = command({ mcp }, { environment: { PATH: '/bin', GITHUB_TOKEN: 'one-secret' } });
    expect(made.args.join(' ')).not.toContain('secret');
    expect(made.env).toMatchObject({ GITHUB_TOKEN: 'one-secret', OPENAI_API_KEY: 'other-secret' });
    expect(made.env['RUST_LOG']).not.toBe('info');
    for (const name of ['desk', 'web']) {
      expect(config(made, `mcp_servers.${name}`)).toContain(
        '"env"={"RUST_LOG"="info","SQUAD_TURN_ID"="turn-1"},"env_vars"=["GITHUB_TOKEN","OPENAI_API_KEY"]',
      );
    }
  });

  it('passes Codex’s own keys through, before its own', () => {
    const made = command({ model: 'm' }, { config: { model_provider: 'mine', 'features.apps': true } });
    expect(config(made, 'model_provider')).toBe('"mine"');
    expect(config(made, 'features.apps')).toBe('false');
    expect(config(made, 'model')).toBe('"m"');
  });
});

describe('a codex turn that cannot be honoured', () => {
  it.each<[string, Partial<TurnRequest>, Partial<CodexFacts>, { kind: string; setting: string }]>([
    ['no binary', {}, { binary: undefined }, { kind: 'cli-missing', setting: 'runtimes.codex.command' }],
    [
      'a foreign session',
      { session: { ...session, runtime: 'claude' } },
      {},
      { kind: 'setting-unsupported', setting: 'session' },
    ],
    [
      'other instructions',
      { session, instructions: 'x' },
      {},
      { kind: 'instructions-changed', setting: 'instructions' },
    ],
    ['a thread name', { session: { ...session, id: 'main' } }, {}, { kind: 'session-not-found', setting: 'session' }],
    [
      'an option as id',
      { session: { ...session, id: '--last' } },
      {},
      { kind: 'session-not-found', setting: 'session' },
    ],
    ['steps', limits({ maxSteps: 3 }), {}, { kind: 'setting-unsupported', setting: 'limits.maxSteps' }],
    ['cost', limits({ maxCostUsd: 3 }), {}, { kind: 'setting-unsupported', setting: 'limits.maxCostUsd' }],
    ['tool rules', { toolRules: { deny: ['x'] } }, {}, { kind: 'setting-unsupported', setting: 'toolRules' }],
    ['hooks', { hooks: [{ on: 'turn-ended', run: 'x' }] }, {}, { kind: 'setting-unsupported', setting: 'hooks' }],
    ['no sandbox', {}, { sandboxProblem: 'no bwrap' }, { kind: 'sandbox-unavailable', setting: 'access' }],
    [
      'a reserved key',
      {},
      { config: { 'sandbox_workspace_write.network_access': true } },
      { kind: 'setting-unsupported', setting: 'runtimes.codex.config.sandbox_workspace_write.network_access' },
    ],
    [
      'a key with a quote',
      {},
      { config: { 'a"b': 1 } },
      { kind: 'setting-unsupported', setting: 'runtimes.codex.config.a"b' },
    ],
    [
      'a writable folder that is a word of codex for the whole disk',
      { access: { level: 'edit', writable: [':root'] } },
      {},
      { kind: 'setting-unsupported', setting: 'access.writable' },
    ],
    [
      'two servers of one name',
      { mcp: [stdio('desk', {}), stdio('desk', {})] },
      {},
      { kind: 'setting-unsupported', setting: 'mcp' },
    ],
    [
      'one variable with a value for each of two servers',
      { mcp: [stdio('desk', { ACCOUNT: 'a' }), stdio('web', { ACCOUNT: 'b' })] },
      {},
      { kind: 'setting-unsupported', setting: 'mcp' },
    ],
    [
      'a secret of a server that would stand in the arguments',
      { mcp: [stdio('desk', { GITHUB_TOKEN: 'b' })] },
      { environment: { GITHUB_TOKEN: 'a' } },
      { kind: 'setting-unsupported', setting: 'mcp' },
    ],
    [
      'instructions beyond one argument',
      { instructions: 'x'.repeat(130 * 1024) },
      {},
      { kind: 'setting-unsupported', setting: 'instructions' },
    ],
  ])('is refused by name before anything runs: %s', (_, changes, facts, expected) => {
    expect(refusal(changes, facts)).toEqual(expected);
  });

  it('needs no sandbox for full access', () => {
    expect(refusal({ access: { level: 'full' } }, { sandboxProblem: 'no bwrap' })).toBe('accepted');
  });
});

function stdio(name: string, env: Record<string, string>): McpServer {
  return { name, transport: { type: 'stdio', command: '/n', args: [], env } };
}

function limits(more: Partial<TurnRequest['limits']>): Partial<TurnRequest> {
  return { limits: { ...requestOf().limits, ...more } };
}
