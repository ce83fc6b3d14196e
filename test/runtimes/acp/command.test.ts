import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import { command, type AcpFacts } from '../../../src/runtimes/acp/command.ts';
import type { HostPlan } from '../../../src/runtimes/acp/host/plan.ts';
import { profileOf, readConfig } from '../../../src/runtimes/acp/profiles.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { factsOf, requestOf } from './support.ts';

function commandOf(request: Partial<TurnRequest> = {}, facts: Partial<AcpFacts> = {}) {
  const made = command(requestOf(request), factsOf(facts));
  if (made.type === 'refusal') throw new Error(made.failure.message);
  return made;
}

function planOf(request: Partial<TurnRequest> = {}, facts: Partial<AcpFacts> = {}): HostPlan {
  return JSON.parse(commandOf(request, facts).files[0]?.text ?? '') as HostPlan;
}

const known = { runtime: 'acp/gemini', id: 's-1', home: '/h', workspace: '/w/tree' };
const session = { ...known, instructionsHash: instructionsHash('be good') };
const transport = { type: 'stdio' as const, command: '/x', args: [], env: { TOKEN: 'secret' } };
const NO_CAGE = { confiner: { kind: 'none', problem: 'it is missing', next: 'install it' } } as const;

describe('a turn', () => {
  it('is a host that reads its plan from a file, which is removed, and the prompt from stdin', () => {
    const made = commandOf({ mcp: [{ name: 'desk', transport }] });
    expect(made).toMatchObject({
      ...{ binary: '/opt/node', args: ['host.mjs', '/r/.squad/turns/1/plan.json'], stdin: 'be good\n\ndo it' },
      ...{ home: '/state/homes/acp/gemini', folders: ['/state/homes/acp/gemini', '/r/.squad/turns/1/tmp'] },
    });
    expect(made.files[0]).toMatchObject({ name: 'plan.json', secret: true });
    expect(JSON.stringify([made.args, made.env, made.stdin])).not.toContain('secret');
  });

  it('has a home and a temporary folder of its own, the settings of its profile, and what the host’s variables say', () => {
    const { env } = commandOf({}, { environment: { HOME: '/home/u', GOOGLE_GEMINI_BASE_URL: 'http://proxy' } });
    expect(env).toMatchObject({
      ...{ HOME: '/state/homes/acp/gemini', TMPDIR: '/r/.squad/turns/1/tmp', HTTPS_PROXY: '' },
      ...{ GEMINI_CLI_NO_RELAUNCH: 'true', GOOGLE_GEMINI_BASE_URL: 'http://proxy' },
    });
  });

  it('has its agent’s settings in the home', () => {
    const files = commandOf().files.filter(({ inHome }) => inHome === true);
    expect(files).toEqual([
      { name: '.gemini/settings.json', text: expect.stringContaining('"enabled":false'), inHome: true },
    ]);
  });

  it('has the form of its answer on stdin, too, and the text that repairs one in its plan', () => {
    const prompts = { 'runtime/answer': 'As {{schema}}', 'runtime/repair': 'Again: {{problem}}' };
    const asked = { outputSchema: { type: 'object' as const }, prompts };
    expect(commandOf(asked).stdin).toBe('be good\n\ndo it\n\nAs {"type":"object"}');
    expect(planOf(asked)).toMatchObject({ prompts });
  });

  it('in a session has the prompt alone', () => {
    expect(commandOf({ session }).stdin).toBe('do it');
    expect(planOf({ session }).session).toEqual({ id: 's-1' });
  });

  it.each([
    ['opencode', 'session-not-found'],
    ['gemini', 'session-not-found'],
    ['copilot', undefined],
  ])('of %s in a session that began in another folder: %s', (agent, kind) => {
    const facts = factsOf({ profile: profileOf(agent) });
    const made = command(requestOf({ session: { ...session, workspace: '/w/other' } }), facts);
    expect(made.type === 'refusal' ? made.failure : {}).toMatchObject(
      kind === undefined ? {} : { kind, setting: 'session' },
    );
    expect(made.type).toBe(kind === undefined ? 'command' : 'refusal');
  });

  it.each(['/help', '$x', '!ls', '@/etc/passwd', '  /help'])('begins with words if its prompt is %j', (prompt) => {
    expect(commandOf({ session, prompt }).stdin).toBe(`Your task:\n\n${prompt}`);
  });

  it('names the model by the option of its program, or lets the session choose it', () => {
    expect(planOf({ model: 'pro' }).args.slice(-4)).toEqual(['--acp', '--skip-trust', '-m', 'pro']);
    expect(planOf({ model: 'pro' })).not.toHaveProperty('model');
    expect(planOf({ model: 'pro' }, { profile: profileOf('mine') })).toMatchObject({ model: 'pro' });
  });

  it('takes what settings say over the profile', () => {
    const config = readConfig({ args: ['--stdio'], auth: 'key', quirks: { toolName: 'first-title' } });
    const plan = planOf({}, { config, confiner: undefined });
    expect(plan).toMatchObject({ command: '/opt/gemini', args: ['--stdio'], auth: 'key' });
    expect(plan.quirks).toMatchObject({ toolName: 'first-title', sessions: '.gemini/tmp' });
  });

  it('has rules for each request', () => {
    const access = { level: 'edit' as const, writable: ['/data'], network: true };
    expect(planOf({ access, toolRules: { deny: ['web*'] } }).policy).toEqual({
      ...{ access: 'edit', network: true, writable: ['/data'], allow: [], deny: ['web*'] },
    });
  });

  it('waits for a person until shortly before a watchdog ends it', () => {
    const ask = planOf({ ask: 'human' }).ask;
    expect(ask).toEqual({ folder: '/r/.squad/turns/1', deadlineMs: 540_000 });
  });
});

/** Pairs of an option and a path of the cage, in their order. */
function mountsOf({ args }: HostPlan): string[] {
  return args.flatMap((word, index) =>
    /^--(?:tmpfs|(?:ro-)?bind(?:-try)?)$/.test(word) ? [`${word} ${args[index + 1]}`] : [],
  );
}

describe('the cage', () => {
  it('hides homes, reopens what programs need, and lets the agent write its folder, its home and its temporary files', () => {
    expect(mountsOf(planOf())).toEqual([
      '--ro-bind /',
      '--tmpfs /home',
      '--bind-try /w/tree',
      '--ro-bind-try /home/u/.nvm',
      '--bind-try /state/homes/acp/gemini',
      '--bind-try /r/.squad/turns/1/tmp',
      '--ro-bind-try /w/tree/.git/config',
      '--ro-bind-try /w/tree/.git/hooks',
      '--ro-bind-try /w/tree/.git/objects/info',
    ]);
  });

  it('lets a reader write nothing but its home and its temporary files', () => {
    const mounts = mountsOf(planOf({ access: { level: 'read-only' } }));
    expect(mounts).toContain('--ro-bind-try /w/tree');
    expect(mounts.filter((mount) => mount.startsWith('--bind'))).toEqual([
      '--bind-try /state/homes/acp/gemini',
      '--bind-try /r/.squad/turns/1/tmp',
    ]);
  });

  it('lets a reader that has to build write in its folder, where there is a cage', () => {
    const plan = planOf({ access: { level: 'read-only', builds: true } });
    expect(mountsOf(plan)).toContain('--bind-try /w/tree');
    expect(plan.policy.access).toBe('edit');
    expect(planOf({ access: { level: 'read-only' } }).policy.access).toBe('read-only');
  });

  it('empties files that the program would take for its settings', () => {
    const { args } = planOf({}, { masked: ['/w/tree/.gemini/.env'] });
    expect(args.join(' ')).toContain('--ro-bind /dev/null /w/tree/.gemini/.env');
  });

  it('has no MCP servers inside', () => {
    expect(planOf().quirks.mcp).toBe('http');
    expect(planOf({}, { confiner: undefined }).quirks).not.toHaveProperty('mcp');
  });

  it('is not there for full access', () => {
    expect(planOf({ access: { level: 'full' } }, { confiner: undefined }).command).toBe('/opt/gemini');
  });
});

describe('a request is refused', () => {
  it.each<[string, Partial<TurnRequest>, Partial<AcpFacts>, string, string]>([
    ['without its program', {}, { binary: undefined }, 'cli-missing', 'runtimes.acp/gemini.command'],
    [
      'with an unknown setting',
      {},
      { config: readConfig({ model: 'x' }) },
      'setting-unsupported',
      'runtimes.acp/gemini.config',
    ],
    ['with an effort', { effort: 'high' }, {}, 'setting-unsupported', 'effort'],
    ['with skills', { skills: [{ name: 's', folder: '/s' }] }, {}, 'setting-unsupported', 'skills'],
    ['with hooks', { hooks: [{ on: 'turn-ended', run: 'x' }] }, {}, 'setting-unsupported', 'hooks'],
    ['with the user’s home', { home: 'mine' }, {}, 'setting-unsupported', 'home'],
    [
      'with a limit of steps',
      { limits: { ...requestOf().limits, maxSteps: 3 } },
      {},
      'setting-unsupported',
      'limits.maxSteps',
    ],
    [
      'with a limit of cost',
      { limits: { ...requestOf().limits, maxCostUsd: 3 } },
      {},
      'setting-unsupported',
      'limits.maxCostUsd',
    ],
    ['with edit and no cage', {}, NO_CAGE, 'sandbox-unavailable', 'access'],
    [
      'with questions and no cage',
      { ask: 'human', access: { level: 'read-only' } },
      NO_CAGE,
      'setting-unsupported',
      'ask',
    ],
    [
      'with a session of another agent',
      { session: { ...session, runtime: 'acp/qwen' } },
      {},
      'setting-unsupported',
      'session',
    ],
    ['with an odd session', { session: { ...session, id: 'a b' } }, {}, 'session-not-found', 'session'],
  ])('%s', (_title, request, facts, kind, setting) => {
    expect(command(requestOf(request), factsOf(facts))).toMatchObject({
      type: 'refusal',
      failure: { kind, setting, mayHaveActed: false },
    });
  });

  it('without a cage only if it may edit, and settings do not allow that', () => {
    const reads = requestOf({ access: { level: 'read-only' } });
    expect(command(reads, factsOf(NO_CAGE)).type).toBe('command');
    const config = readConfig({ 'allow-unconfined': true });
    expect(command(requestOf(), factsOf({ ...NO_CAGE, config })).type).toBe('command');
  });
});

describe('the settings of an agent', () => {
  it.each([
    [{ args: '--acp' }, 'args: '],
    [{ quirks: { mcp: 'stdio' } }, 'quirks.mcp: '],
    [{ quirks: { retry: '(' } }, 'quirks.retry: '],
    [{ quirks: { sessions: '..' } }, 'quirks: '],
    [{ read: ['relative'] }, 'read.0: '],
    [{ 'allow-unconfined': 'yes' }, 'allow-unconfined: '],
    [{ extra: 1 }, ': Unrecognized key: "extra"'],
  ])('%j cannot be used', (config, problem) => {
    expect(readConfig(config).problem).toContain(problem);
  });
});
