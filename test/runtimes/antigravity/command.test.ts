import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import { command, type AntigravityFacts } from '../../../src/runtimes/antigravity/command.ts';
import type { CliCommand } from '../../../src/runtimes/shared/cli-adapter.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { commandOf, CONVERSATION, factsOf, requestOf } from './support.ts';

const UNCONFINED = { confiner: { kind: 'none', problem: 'none here', next: 'install it' } } as const;
const SESSION = {
  runtime: 'antigravity',
  id: CONVERSATION,
  home: '/state/homes/antigravity/1',
  workspace: '/w/tree',
  instructionsHash: instructionsHash('be good'),
};
const desk = {
  name: 'desk',
  transport: { type: 'stdio' as const, command: '/d', args: ['a b'], env: { TOKEN: "it's" } },
};
const web = {
  name: 'web',
  transport: { type: 'http' as const, url: 'https://x', headers: { Authorization: 'Bearer t' } },
};

/** The words from `agy` on. */
const own = ({ args, binary }: CliCommand): string[] => {
  const all = [binary, ...args];
  return all.slice(all.indexOf('/opt/agy') + 1);
};
const fileOf = ({ files }: CliCommand, end: string) => files.find(({ name }) => name.endsWith(end));
const settingsOf = (made: CliCommand): unknown => JSON.parse(fileOf(made, 'settings.json')?.text ?? '');

describe('the command line of agy', () => {
  it('takes the prompt on stdin as one message, with the instructions in front of the first', () => {
    const notes = [{ name: 'CLAUDE.md', text: 'a note' }];
    const { stdin } = commandOf({ prompt: '-p x\n\u2028"' }, { notes });
    expect(stdin.endsWith('\n')).toBe(true);
    const { event, message } = JSON.parse(stdin) as { event: string; message: { role: string; content: string } };
    expect([event, message.role]).toEqual(['user', 'user']);
    expect(message.content).toMatch(/^be good\n\nThis repository has notes[^]*a note[^]*-p x\n\u2028"$/);
    expect(commandOf({ session: SESSION }).stdin).toContain('"content":"do it"');
  });

  it('joins each value to its flag, and has no -p', () => {
    const made = own(
      commandOf({
        model: '-p',
        effort: 'high',
        session: SESSION,
        outputSchema: { type: 'object' },
        access: { level: 'edit', writable: ['/more'] },
        limits: { ...requestOf().limits, wallMs: 90_500 },
      }),
    );
    expect(made).toEqual([
      '--input-format=stream-json',
      '--output-format=stream-json',
      '--disable-slash-commands',
      '--add-dir=/w/tree',
      '--add-dir=/more',
      '--print-timeout=151s',
      '--model=-p',
      '--effort=high',
      '--json-schema=/turns/1/output-schema.json',
      `--conversation=${CONVERSATION}`,
      '--mode=accept-edits',
      '--dangerously-skip-permissions',
    ]);
  });

  it('has a home of its own, and stays the version that it is', () => {
    const { env, home } = commandOf();
    expect(env).toMatchObject({
      HOME: home,
      TMPDIR: '/turns/1/tmp',
      AGY_CLI_DISABLE_AUTO_UPDATE: '1',
      GEMINI_API_KEY: 'k',
    });
  });
});

describe('the cage of agy', () => {
  const writable = ({ args }: CliCommand): string[] => args.filter((_, at) => args[at - 1] === '--bind-try');

  it.each<[access: TurnRequest['access'], open: string[]]>([
    [{ level: 'edit' }, ['/w/tree']],
    [{ level: 'edit', writable: ['/more'] }, ['/w/tree', '/more']],
    [{ level: 'read-only' }, []],
    [{ level: 'read-only', builds: true }, ['/w/tree']],
  ])('opens what %j may change', (access, open) => {
    const made = commandOf({ access });
    expect(made.binary).toBe('/bin/sh');
    expect(writable(made).toSorted()).toEqual(['/state/homes/antigravity/1', '/turns/1/tmp', ...open].toSorted());
    expect(own(made).at(-1)).toBe('--dangerously-skip-permissions');
  });

  it('is not there for full access, and not where the settings say so', () => {
    const made = [
      commandOf({ access: { level: 'full' } }, { confiner: undefined }),
      commandOf({}, { ...UNCONFINED, config: { 'allow-unconfined': true } }),
    ];
    expect(made.map(({ binary }) => binary)).toEqual(['/opt/agy', '/opt/agy']);
  });

  it('leaves a reader to the rules where there is none', () => {
    const made = commandOf({ access: { level: 'read-only' }, toolRules: { allow: ['mcp(web/get)'] } }, UNCONFINED);
    expect(own(made).slice(-2)).toEqual(['--mode=plan', '--sandbox']);
    expect(settingsOf(made)).toMatchObject({ permissions: { allow: ['read_file(/w/tree)', 'mcp(web/get)'] } });
  });
});

describe('the files of agy', () => {
  it('name the provider of the key, and what each access allows', () => {
    const allow = ['command(npm test)'];
    const made = commandOf({ mcp: [desk], toolRules: { allow }, access: { level: 'edit', writable: ['/more'] } });
    expect(settingsOf(made)).toEqual({
      modelProvider: 'gemini',
      permissions: {
        allow: [
          'read_file(/w/tree)',
          'read_file(/more)',
          'read_file(/state/homes/antigravity/1/.gemini/antigravity-cli/mcp)',
          'write_file(/w/tree)',
          'write_file(/more)',
          'mcp(desk/*)',
          'command(npm test)',
        ],
      },
    });
    expect(fileOf(made, 'settings.json')).toMatchObject({ inHome: true });
  });

  it('start servers outside of the cage, without the key, and name them to agy by their pipes', () => {
    const made = commandOf({ mcp: [desk, web] });
    expect(made.args.slice(0, 8)).toEqual(['-c', expect.any(String), 'sh', '/turns/1/mcp-0', 'desk', '2', '/d', 'a b']);
    expect(fileOf(made, 'mcp-0.env')).toEqual({
      name: 'mcp-0.env',
      text: String.raw`unset GEMINI_API_KEY` + '\n' + String.raw`export TOKEN='it'\''s'` + '\n',
      secret: true,
    });
    expect(made.args.join(' ')).toContain('--ro-bind /dev/null /turns/1/mcp-0.env');
    const config = fileOf(made, 'mcp_config.json');
    expect(config).toMatchObject({ inHome: true, secret: true });
    expect(JSON.parse(config?.text ?? '')).toEqual({
      mcpServers: {
        desk: { command: '/bin/sh', args: ['-c', expect.any(String), '/turns/1/mcp-0.in', '/turns/1/mcp-0.out'] },
        web: { serverUrl: 'https://x', headers: { Authorization: 'Bearer t' } },
      },
    });
    expect(made.args.join(' ')).not.toMatch(/it's|Bearer/);
  });
});

describe('a setting that agy cannot honour', () => {
  const limits = requestOf().limits;
  const skill = { name: 'lint', folder: '/store/1/lint' };

  it.each<[setting: string, request: Partial<TurnRequest>, facts?: Partial<AntigravityFacts>]>([
    ['limits.maxSteps', { limits: { ...limits, maxSteps: 5 } }],
    ['limits.maxCostUsd', { limits: { ...limits, maxCostUsd: 5 } }],
    ['skills', { skills: [skill] }],
    ['hooks', { hooks: [{ on: 'turn-ended', run: 'true' }] }],
    ['home', { home: 'mine' }],
    ['toolRules.deny', { toolRules: { deny: ['command(rm)'] } }],
    ['toolRules.allow', { toolRules: { allow: ['mcp(desk)'] } }],
    ['toolRules.allow', { toolRules: { allow: ['Bash(git push *)'] } }],
    ['toolRules.allow', { toolRules: { allow: ['command(make)'] }, access: { level: 'read-only' } }],
    ['toolRules.allow', { toolRules: { allow: ['write_file(/)'] }, access: { level: 'read-only' } }],
    ['mcp', { mcp: [{ ...desk, tools: ['note'] }] }],
    ['mcp', { mcp: [{ ...web, required: true }] }],
    ['mcp', { mcp: [{ ...desk, transport: { ...desk.transport, env: { 'A-B': 'x' } } }] }],
    ['session', { session: { ...SESSION, runtime: 'codex' } }],
    ['session', { session: { ...SESSION, id: 'latest' } }],
    ['instructions', { session: SESSION, instructions: 'be bad' }],
    ['access.writable', { access: { level: 'edit', writable: ['more'] } }],
    ['access', {}, UNCONFINED],
    ['workspace', {}, { foreignServers: true }],
    ['runtimes.antigravity.command', {}, { binary: undefined }],
    ['runtimes.antigravity.command', {}, { versionProblem: 'agy 1.2.17 is older than 1.3.0' }],
    ['runtimes.antigravity.config.allow-google-login', {}, { environment: { PATH: '/bin' } }],
    ['runtimes.antigravity.config.allow-unconfined', {}, { config: { 'allow-unconfined': 'yes' } }],
    ['runtimes.antigravity.config.profile', {}, { config: { profile: 'x' } }],
    ['runtimes.antigravity.config.read', {}, { config: { read: '/x' } }],
  ])('%s is refused by name: %j %j', (setting, request, facts) => {
    const made = command(requestOf(request), factsOf(facts));
    expect(made).toMatchObject({ type: 'refusal', failure: { setting, mayHaveActed: false } });
  });

  it('says what the terms say about a login, unless a person answers for it', () => {
    const none = { environment: { PATH: '/bin' } };
    expect(command(requestOf(), factsOf(none))).toMatchObject({
      failure: { kind: 'auth', message: expect.stringMatching(/terms forbid third-party software .* GEMINI_API_KEY/) },
    });
    const made = commandOf({}, { ...none, config: { 'allow-google-login': true } });
    expect(settingsOf(made)).not.toHaveProperty('modelProvider');
  });

  it('allows a reader single tools of a server where the rules count', () => {
    const request = { mcp: [{ ...desk, tools: ['note'] }], access: { level: 'read-only' } as const };
    expect(settingsOf(commandOf(request, UNCONFINED))).toMatchObject({
      permissions: { allow: expect.arrayContaining(['mcp(desk/note)']) },
    });
  });
});
