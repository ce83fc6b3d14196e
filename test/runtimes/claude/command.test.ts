import { describe, expect, it } from 'vitest';
import type { SessionRef } from '../../../src/model/session-ref.ts';
import type { McpServer, TurnRequest } from '../../../src/model/turn-request.ts';
import { command, type ClaudeFacts } from '../../../src/runtimes/claude/command.ts';
import type { CliCommand } from '../../../src/runtimes/shared/cli-adapter.ts';
import { chosenSessionId, instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { makeFacts, makeRequest } from './support.ts';

function commandOf(request: Partial<TurnRequest> = {}, facts: Partial<ClaudeFacts> = {}): CliCommand {
  const made = command(makeRequest(request), makeFacts(facts));
  if (made.type !== 'command') throw new Error(made.failure.message);
  return made;
}

function refusalOf(request: Partial<TurnRequest>, facts: Partial<ClaudeFacts> = {}) {
  const made = command(makeRequest(request), makeFacts(facts));
  return made.type === 'refusal' ? made.failure : undefined;
}

function fileOf(made: CliCommand, name: string): string {
  return made.files.find((file) => file.name === name)?.text ?? '';
}

const SESSION: SessionRef = {
  runtime: 'claude',
  id: '11111111-2222-4333-8444-555555555555',
  home: '/state/claude/home',
  workspace: '/somewhere/tree',
  instructionsHash: instructionsHash('You are a builder.'),
};
const DESK: McpServer = {
  name: 'desk',
  tools: ['note', 'read'],
  transport: { type: 'stdio', command: '/bin/desk', args: ['--x'], env: { TOKEN: 't' } },
};
const WEB: McpServer = {
  name: 'web',
  transport: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer t' } },
};
/** Files of the conversation that the turn of `makeRequest` begins. */
const PLACE = `/state/claude/sessions/${chosenSessionId('claude', makeRequest().turnId)}`;
const FIXED = [
  '-p',
  '--output-format=stream-json',
  '--verbose',
  '--include-partial-messages',
  '--strict-mcp-config',
  '--permission-prompts=none',
  '--setting-sources=',
  '--disable-slash-commands',
  `--settings=${PLACE}-claude-settings.json`,
];
const NEW_SESSION = '--session-id';

describe('argv of claude', () => {
  const rest = (request: Partial<TurnRequest>, facts: Partial<ClaudeFacts> = {}): string[] =>
    commandOf(request, facts)
      .args.slice(FIXED.length)
      .filter((arg) => !arg.startsWith(NEW_SESSION));

  it('always starts hermetic', () => {
    expect(commandOf().args.slice(0, FIXED.length)).toEqual(FIXED);
  });

  it('read-only: looks with the shell too, all of it in the sandbox, by the CLI’s own rules without', () => {
    const looking = [
      '--append-system-prompt-file=/turn/instructions.md',
      '--permission-mode=dontAsk',
      '--tools=Read,Glob,Grep,Bash',
    ];
    expect(rest({ access: { level: 'read-only' } })).toEqual([...looking, '--allowedTools=Bash']);
    expect(rest({ access: { level: 'read-only' } }, { confinement: 'rules' })).toEqual(looking);
  });

  it('edit in the sandbox', () => {
    expect(rest({ access: { level: 'edit', writable: ['/more'], network: true } })).toEqual([
      '--append-system-prompt-file=/turn/instructions.md',
      '--permission-mode=acceptEdits',
      '--tools=Read,Glob,Grep,Bash,Edit,Write,NotebookEdit,Task,WebFetch,WebSearch',
      '--allowedTools=WebFetch',
      '--allowedTools=WebSearch',
      '--allowedTools=Bash',
      '--add-dir=/more',
    ]);
  });

  it('edit by rules, where there is no sandbox', () => {
    const args = rest(
      { toolRules: { allow: ['Bash(npm test *)'], deny: ['Bash(git push *)'] } },
      { confinement: 'rules' },
    );
    expect(args).not.toContain('--allowedTools=Bash');
    expect(args).toContain('--allowedTools=Bash(git commit *)');
    expect(args).toContain('--allowedTools=Bash(npm test *)');
    expect(args).toContain('--disallowedTools=Bash(git push *)');
  });

  it('full', () => {
    const made = commandOf({ access: { level: 'full' } }, { isRoot: true });
    expect(made.args).toContain('--permission-mode=bypassPermissions');
    expect(made.env['IS_SANDBOX']).toBe('1');
    expect(commandOf({ access: { level: 'full' } }).env['IS_SANDBOX']).toBeUndefined();
    expect(commandOf({}, { isRoot: true }).env['IS_SANDBOX']).toBeUndefined();
  });

  it('model, effort, limits, schema and servers', () => {
    const limits = { ...makeRequest().limits, maxSteps: 40, maxCostUsd: 5 };
    const args = rest({ model: 'sonnet', effort: 'high', limits, outputSchema: { type: 'object' }, mcp: [DESK, WEB] });
    expect(args).toEqual(
      expect.arrayContaining([
        `--mcp-config=${PLACE}-mcp.json`,
        '--model=sonnet',
        '--effort=high',
        '--max-turns=40',
        '--max-budget-usd=5',
        '--json-schema={"type":"object"}',
        '--allowedTools=mcp__desk__note',
        '--allowedTools=mcp__desk__read',
        '--allowedTools=mcp__web',
      ]),
    );
  });

  it('cannot be given another flag by a value', () => {
    const evil = '--dangerously-skip-permissions';
    const made = commandOf({ model: evil, prompt: evil, toolRules: { allow: [evil], deny: [evil] } });
    expect(made.args).not.toContain(evil);
    expect(made.args.some((arg) => arg.includes('\n') || arg.includes('Do it.'))).toBe(false);
  });

  it('chooses the session id from the turn alone, and resumes by id', () => {
    const id = (turnId: string) => commandOf({ turnId }).args.find((arg) => arg.startsWith(NEW_SESSION));
    expect(id('a')).toMatch(/^--session-id=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id('a')).toBe(id('a'));
    expect(id('a')).not.toBe(id('b'));
    const resumed = commandOf({ session: SESSION });
    expect(resumed.args).toContain(`--resume=${SESSION.id}`);
    expect(resumed.args).toContain('--append-system-prompt-file=/turn/instructions.md');
    expect(resumed.args.some((arg) => arg.startsWith(NEW_SESSION))).toBe(false);
  });

  it('names the same settings and servers in all turns of a conversation, which the CLI tells the model', () => {
    const turn = (turnId: string, session?: SessionRef) => {
      const made = commandOf({ turnId, mcp: [DESK], ...(session && { session }) }, { directory: `/turns/${turnId}` });
      const named = made.args.filter((arg) => /^--(?:settings|mcp-config)=/.test(arg));
      const settings = fileOf(made, 'claude-settings.json');
      return { named, settings, at: made.files.flatMap(({ at }) => at ?? []) };
    };
    const first = turn('a-1');
    const session = { ...SESSION, id: chosenSessionId('claude', 'a-1') };
    expect(turn('a-2', session)).toEqual(first);
    expect(first.named).toEqual(first.at.map((path, index) => `${['--settings=', '--mcp-config='][index]}${path}`));
    expect(turn('b-1').at).not.toEqual(first.at);
  });
});

describe('environment of claude', () => {
  it('holds what the host allows and what the turn needs', () => {
    const workspace = { path: '/somewhere/tree', gitSettings: [['gc.auto', '0'] as const] };
    const { env, folders, home } = commandOf({ session: SESSION, workspace });
    expect(env).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/me',
      ANTHROPIC_API_KEY: 'key',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'gc.auto',
      GIT_CONFIG_VALUE_0: '0',
      GIT_CONFIG_KEY_1: 'core.excludesFile',
      GIT_CONFIG_VALUE_1: '/turn/git-excludes',
      CLAUDE_CONFIG_DIR: '/state/claude/home',
      CLAUDE_CODE_TMPDIR: '/state/claude/tmp/11111111-2222',
      CLAUDE_CODE_MAX_RETRIES: '3',
      API_TIMEOUT_MS: '300000',
      MCP_TIMEOUT: '30000',
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1',
      CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
      CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    });
    expect(folders).toEqual(['/state/claude/home', '/state/claude/tmp/11111111-2222']);
    expect(home).toBe('/state/claude/home');
  });

  it('does not name the default home of the user', () => {
    const made = commandOf({}, { home: '/home/me/.claude', homeIsDefault: true });
    expect(made.env['CLAUDE_CONFIG_DIR']).toBeUndefined();
    expect(made.home).toBe('/home/me/.claude');
    expect(made.folders).not.toContain('/home/me/.claude');
  });

  it('is patient for less time than the host', () => {
    const limits = { ...makeRequest().limits, idleMs: 4000, retryMs: 500 };
    expect(commandOf({ limits }).env).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: '0', API_TIMEOUT_MS: '2000' });
  });
});

describe('files of a turn', () => {
  it('settings: the sandbox confines the shell to the folder, which the CLI makes writable by itself', () => {
    const workspace = { path: '/somewhere/tree', repository: true };
    const made = commandOf({ workspace, mcp: [DESK] }, { credentials: ['/home/me/.claude/.credentials.json'] });
    expect(JSON.parse(fileOf(made, 'claude-settings.json'))).toEqual({
      permissions: { deny: ['Read(//home/me/.claude/.credentials.json)', `Read(/${PLACE}-mcp.json)`] },
      sandbox: {
        enabled: true,
        autoAllowBashIfSandboxed: true,
        allowUnsandboxedCommands: false,
        failIfUnavailable: true,
        network: { allowedDomains: [], strictAllowlist: true },
        credentials: { envVars: [{ name: 'ANTHROPIC_API_KEY', mode: 'deny' }] },
        filesystem: { allowWrite: [], denyWrite: [] },
      },
    });
    expect(fileOf(made, 'git-excludes').split('\n')).toEqual(
      expect.arrayContaining(['/.claude', '/.bashrc', '/.mcp.json']),
    );
  });

  it('with read-only access nothing of the workspace can be written', () => {
    const made = commandOf({ access: { level: 'read-only' }, workspace: { path: '/wt', repository: true } });
    const { sandbox } = JSON.parse(fileOf(made, 'claude-settings.json')) as { sandbox: Record<string, unknown> };
    expect(sandbox).toMatchObject({
      enabled: true,
      allowUnsandboxedCommands: false,
      failIfUnavailable: true,
      filesystem: { allowWrite: [], denyWrite: ['/wt'] },
    });
  });

  it('lets a reader that has to build write in its folder, and edit no file with tools', () => {
    const made = commandOf({
      access: { level: 'read-only', builds: true },
      workspace: { path: '/wt', repository: true },
    });
    const { sandbox } = JSON.parse(fileOf(made, 'claude-settings.json')) as { sandbox: Record<string, unknown> };
    expect(sandbox).toMatchObject({ enabled: true, filesystem: { allowWrite: [], denyWrite: [] } });
    const reads = commandOf({ access: { level: 'read-only' }, workspace: { path: '/wt', repository: true } });
    expect(made.args).toEqual(reads.args);
  });

  it('adds the folders of the access', () => {
    const settings = fileOf(commandOf({ access: { level: 'edit', writable: ['/cache'] } }), 'claude-settings.json');
    expect(JSON.parse(settings)).toMatchObject({ sandbox: { filesystem: { allowWrite: ['/cache'], denyWrite: [] } } });
  });

  it('no sandbox for full access', () => {
    const made = commandOf({ access: { level: 'full' } });
    expect(JSON.parse(fileOf(made, 'claude-settings.json'))).toEqual({ permissions: { deny: [] } });
    expect(made.env['GIT_CONFIG_COUNT']).toBeUndefined();
  });

  it('MCP servers are loaded at once and do not get the keys', () => {
    expect(JSON.parse(fileOf(commandOf({ mcp: [DESK, WEB] }), 'mcp.json'))).toEqual({
      mcpServers: {
        desk: {
          type: 'stdio',
          command: '/bin/desk',
          args: ['--x'],
          env: { ANTHROPIC_API_KEY: '', TOKEN: 't' },
          alwaysLoad: true,
        },
        web: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer t' }, alwaysLoad: true },
      },
    });
  });

  it('instructions go into a file, byte for byte', () => {
    const instructions = 'You\'re `$(rm)` \u2028 "x"';
    expect(fileOf(commandOf({ instructions }), 'instructions.md')).toBe(instructions);
    expect(commandOf({ instructions: '' }).args.join()).not.toContain('append-system-prompt');
  });
});

describe('the equipment of an agent of claude', () => {
  const skills = [{ name: 'notes', folder: '/store/1a/notes' }];
  const read = [{ name: 'notes', folder: '/store/1a/notes', description: 'How to take notes.', keys: ['description'] }];
  const settingsOf = (made: CliCommand) => JSON.parse(fileOf(made, 'claude-settings.json')) as Record<string, unknown>;

  it('skills are linked into a plugin of the turn, may be read, and are the only ones', () => {
    const made = commandOf({ skills }, { skills: read, directory: '/turns/1' });
    expect(made.args).toContain('--plugin-dir=/turns/1/squad');
    expect(made.args).not.toContain('--disable-slash-commands');
    expect(made.args.find((arg) => arg.startsWith('--tools='))).toMatch(/,Skill$/);
    // Without a rule for it the CLI refuses a skill that wants rights.
    expect(made.args.filter((arg) => arg.startsWith('--allowedTools='))).toEqual(['--allowedTools=Bash']);
    expect(made.links).toEqual([{ name: 'squad/skills/notes', to: '/store/1a/notes' }]);
    expect(made.folders).toContain('/turns/1/squad/skills');
    expect(settingsOf(made)).toMatchObject({
      permissions: { allow: ['Read(//turns/*/squad/skills/**)', 'Read(//store/1a/notes/**)'] },
      disableBundledSkills: true,
      enabledPlugins: { 'cc-plugin-plugin-authoring@builtin': false },
    });
  });

  it.each(['allowed-tools', 'hooks'])('refuses a skill that takes rights by %s', (key) => {
    const failure = refusalOf({ skills }, { skills: [{ ...read[0]!, keys: ['name', key] }] });
    expect(failure).toMatchObject({ kind: 'setting-unsupported', setting: 'skills' });
    expect(failure?.message).toContain(`notes sets ${key}`);
  });

  it('hooks are scripts of the turn, without the keys', () => {
    const hooks: TurnRequest['hooks'] = [
      { on: 'turn-started', run: 'a' },
      { on: 'tool-started', tool: 'Edit', run: 'b' },
      { on: 'tool-ended', run: 'c' },
      { on: 'turn-ended', run: 'd' },
    ];
    const made = commandOf({ hooks });
    const entry = (index: number, more: object = {}) => [
      { ...more, hooks: [{ type: 'command', command: `/bin/sh /turn/hook-${index}.sh`, timeout: 300 }] },
    ];
    expect(made.args).toContain('--include-hook-events');
    expect(settingsOf(made)['hooks']).toEqual({
      UserPromptSubmit: entry(0),
      PreToolUse: entry(1, { matcher: 'Edit' }),
      PostToolUse: entry(2),
      PostToolUseFailure: entry(2),
      Stop: entry(3),
    });
    expect(fileOf(made, 'hook-1.sh')).toContain('unset -v ANTHROPIC_API_KEY\n');
    expect(fileOf(made, 'hook-1.sh')).toContain('unset -v CLAUDE_CODE_MESSAGING_TOKEN\n');
  });

  it.each<[string, NonNullable<TurnRequest['hooks']>[number]]>([
    ['a tool that there is not', { on: 'tool-started', tool: 'bash', run: 'x' }],
    ['a pattern', { on: 'tool-started', tool: 'mcp__desk__.*', run: 'x' }],
    ['a tool that this access does not give', { on: 'tool-ended', tool: 'WebFetch', run: 'x' }],
    ['a tool of another server', { on: 'tool-ended', tool: 'mcp__other__note', run: 'x' }],
    ['a tool where there is none', { on: 'turn-ended', tool: 'Bash', run: 'x' }],
  ])('refuses a hook for %s', (_name, hook) => {
    expect(refusalOf({ mcp: [DESK], hooks: [hook] })).toMatchObject({ kind: 'setting-unsupported', setting: 'hooks' });
    const named = commandOf({ mcp: [DESK], hooks: [{ ...hook, on: 'tool-ended', tool: 'mcp__desk__note' }] });
    expect(named.type).toBe('command');
  });

  it('shows its shell the variables that are meant for it, and its servers none of them', () => {
    const environment = { PATH: '/usr/bin', ANTHROPIC_API_KEY: 'key', NPM_TOKEN: 'npm' };
    const made = commandOf({ environment: ['NPM_TOKEN'], mcp: [DESK] }, { environment });
    expect(settingsOf(made)).toMatchObject({
      sandbox: { credentials: { envVars: [{ name: 'ANTHROPIC_API_KEY', mode: 'deny' }] } },
    });
    expect(made.env['NPM_TOKEN']).toBe('npm');
    expect(JSON.parse(fileOf(made, 'mcp.json'))).toMatchObject({
      mcpServers: { desk: { env: { ANTHROPIC_API_KEY: '', NPM_TOKEN: '', TOKEN: 't' } } },
    });
  });

  it('reads the settings and the memory of the user on purpose, never those of the repository', () => {
    const made = commandOf({ home: 'mine' }, { skills: read });
    expect(made.args).toEqual(expect.arrayContaining(['--setting-sources=user', '--strict-mcp-config']));
    expect(made.args).not.toContain('--disable-slash-commands');
    expect(made.env['CLAUDE_CODE_DISABLE_CLAUDE_MDS']).toBeUndefined();
    expect(settingsOf(made)).not.toHaveProperty('disableBundledSkills');
  });

  it('has the CLI say on stderr why a required server does not start', () => {
    expect(commandOf({ mcp: [{ ...DESK, required: true }] }).args).toContain('--debug-to-stderr');
    expect(commandOf({ mcp: [DESK] }).args).not.toContain('--debug-to-stderr');
  });
});

describe('the prompt of claude', () => {
  const notes = [{ name: 'AGENTS.md', text: 'House rule.' }];

  it('is passed on stdin as it is', () => {
    expect(commandOf({ prompt: 'a $(b) `c`\n' }).stdin).toBe('a $(b) `c`\n');
  });

  it('is no command of the CLI', () => {
    expect(commandOf({ prompt: '/clear' }).stdin).toBe('\n/clear');
  });

  it('quotes the notes of the repository in the first turn only, behind a fence they cannot close', () => {
    const { stdin } = commandOf({ prompt: '/go' }, { notes });
    expect(stdin).toMatch(/<<<AGENTS\.md ([0-9a-f]{16})\nHouse rule\.\n\1 AGENTS\.md>>>\n\n\/go$/);
    expect(commandOf({ session: SESSION }, { notes }).stdin).toBe('Do it.');
  });

  it('says where the agent is when a session goes on elsewhere', () => {
    const { stdin } = commandOf({ session: { ...SESSION, workspace: '/somewhere/old' } });
    expect(stdin).toContain('/somewhere/old');
    expect(stdin).toContain('/somewhere/tree');
  });
});

describe('refusals of claude', () => {
  const expanding: McpServer = { ...WEB, transport: { type: 'http', url: 'http://x/${HOME}', headers: {} } };
  it.each([
    ['no binary', {}, { binary: undefined }, 'cli-missing', 'runtimes.claude.command'],
    [
      'a session of another runtime',
      { session: { ...SESSION, runtime: 'codex' } },
      {},
      'setting-unsupported',
      'session',
    ],
    ['other instructions', { session: SESSION, instructions: 'x' }, {}, 'instructions-changed', 'instructions'],
    ['a session by name', { session: { ...SESSION, id: 'my session' } }, {}, 'session-not-found', 'session'],
    ['a config key', {}, { config: { model: 'x' } }, 'setting-unsupported', 'runtimes.claude.config.model'],
    ['a huge schema', { outputSchema: { x: 'x'.repeat(100_001) } }, {}, 'setting-unsupported', 'outputSchema'],
    ['a relative folder', { access: { level: 'edit', writable: ['x'] } }, {}, 'setting-unsupported', 'access.writable'],
    [
      'acting with read-only access',
      { access: { level: 'read-only' }, toolRules: { allow: ['Bash(npm test)'] } },
      {},
      'setting-unsupported',
      'toolRules.allow',
    ],
    ['two servers of one name', { mcp: [DESK, DESK] }, {}, 'setting-unsupported', 'mcp'],
    ['a server whose settings would be expanded', { mcp: [expanding] }, {}, 'setting-unsupported', 'mcp'],
  ] as const)('%s', (_title, request, facts, kind, setting) => {
    const failure = refusalOf(request as unknown as Partial<TurnRequest>, facts);
    expect(failure).toMatchObject({ kind, setting, mayHaveActed: false });
  });
});
