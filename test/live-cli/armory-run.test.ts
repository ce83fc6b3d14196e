import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterEach, describe, expect, it } from 'vitest';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { LIVE_AGENTS, type AcpLiveAgent } from './acp-agents.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { createGate, planned, scriptModel, type Act } from './turn-scripts.ts';
import { processesOf, runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';
import { stateOf } from '../support/state.ts';

const OBJECTIVE = `# Objective: Two files

## Goals

1. one.txt and two.txt are there

## Success Criteria

- [ ] They are there (run: test -f one.txt && test -f two.txt)
`;

const TOKEN = 'token-of-the-desk-4711';

const skill = (word: string, more = ''): string =>
  `---\nname: notes\ndescription: ${word}-canary. Use it for each file.\n${more}---\n${word}-body\n`;

/** An MCP server in one file, as a repository may have one. Its answer has its secret in it. */
const server = (word: string): string => `import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'desk', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'word', description: 'Says its word.', inputSchema: { type: 'object', properties: {} } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: '${word}-word of ' + process.env.DESK_TOKEN }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: 'unknown' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
}
`;

const files = (word: string): Record<string, string> => ({
  'docs/skills/notes/SKILL.md': skill(word),
  'tools/desk.mjs': server(word),
  'tools/hook.sh': `echo ${word}-hook >> "$HOME/hooks.log"\n`,
});

const made = (name: string): Act[] => [
  { act: 'mail', server: 'desk', tool: 'word', arguments: {} },
  { act: 'shell', command: `echo made > ${name}.txt && git add -A && git commit -q -m "Make ${name}"` },
];

interface Room {
  readonly engine: EngineRoom;
  readonly environment: Record<string, string>;
  /** What the models were asked. */
  received(): string[];
  readonly gate: ReturnType<typeof createGate>;
  /** What the tools said in the second task. */
  readonly outputs: string[];
  change(): void;
}

let room: Room | undefined;
const models: { close(): Promise<void> }[] = [];
afterEach(async () => {
  room?.gate.open();
  for (const model of models.splice(0)) await model.close();
  room?.engine.close();
  room = undefined;
});

async function open(cli: Cli | AcpLiveAgent, equipment: object, changes: Record<string, string> = {}): Promise<Room> {
  const gate = createGate(1);
  const outputs: string[] = [];
  const task = (id: string, needs: string[]) => ({
    ...{ id, title: `Make ${id}`, needs },
    ...{ brief: 'Write it.', acceptance: ['there'] },
  });
  const tasks = [task('one', []), task('two', ['one'])];
  const model = scriptModel([
    {
      name: 'plan',
      when: /Split this objective/,
      acts: [planned('Two pieces.', tasks)],
    },
    {
      name: 'one',
      when: /# Task one:/,
      acts: [
        ...made('one'),
        async () => {
          await gate.pass();
          return { act: 'say', text: 'One is there.' };
        },
      ],
    },
    {
      name: 'two',
      when: /# Task two:/,
      acts: [
        ...made('two'),
        (asked) => {
          outputs.push(...asked.outputs);
          return { act: 'say', text: 'Two is there.' };
        },
      ],
    },
  ]);
  const anthropic = await startFakeAnthropic(model.anthropic);
  const openai = await startFakeOpenai(model.openai);
  const acp = typeof cli === 'string' ? undefined : cli;
  const own = await acp?.start(model.by(acp));
  models.push(anthropic, openai, ...(own === undefined ? [] : [own]));
  const variables = acp?.environment(own?.url ?? '') ?? {};
  const runtime = acp === undefined ? cli : `acp/${acp.name}`;
  const chosen = { runtime, model: cli === 'codex' ? PLAIN_MODEL : acp?.model };
  const settings = stringify({
    version: 1,
    agents: [
      { name: 'planner', role: 'planner', access: 'read-only', ...chosen },
      { name: 'builder', role: 'builder', access: 'edit', ...chosen, ...equipment },
    ],
    runtimes: {
      ...runtimesAt(openai.baseUrl),
      ...(acp && { [`acp/${acp.name}`]: { command: acp.binary, env: Object.keys(variables) } }),
    },
  });
  const engine = openEngineRoom({ 'squad.yaml': settings, 'objective.md': OBJECTIVE, ...files('bound'), ...changes });
  return {
    engine,
    environment: {
      ANTHROPIC_API_KEY: 'key-of-the-fake',
      ANTHROPIC_BASE_URL: anthropic.url,
      FAKE_KEY: 'key-of-the-fake',
      DESK_TOKEN: TOKEN,
      ...variables,
    },
    received: () => [
      ...[...anthropic.requests, ...(own?.requests ?? [])].map(({ raw }) => raw),
      ...openai.requests.map(({ body }) => JSON.stringify(body)),
    ],
    gate,
    outputs,
    change: () => {
      for (const [name, text] of Object.entries(files('changed'))) writeFileSync(join(engine.repository, name), text);
      rmSync(join(engine.repository, 'docs'), { recursive: true });
      mkdirSync(join(engine.repository, 'docs'));
      git(engine.repository, 'commit', '-qam', 'Change everything');
    },
  };
}

/** The files below a folder that hold a text. */
function holding(folder: string, text: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => readFileSync(path).includes(text));
}

const EQUIPMENT = {
  skills: ['docs/skills/notes'],
  mcp: [{ name: 'desk', command: 'node', args: ['tools/desk.mjs'], env: ['DESK_TOKEN'] }],
};
const HOOKS = { hooks: [{ on: 'turn-ended', run: 'sh tools/hook.sh' }] };
const { mcp } = EQUIPMENT;

describe.each([
  { name: 'claude', cli: 'claude', binary: CLAUDE_BINARY, equipment: { ...EQUIPMENT, ...HOOKS } },
  { name: 'codex', cli: 'codex', binary: CODEX_BINARY, equipment: EQUIPMENT },
  ...LIVE_AGENTS.map((cli) => ({ name: cli.name, cli, binary: cli.binary, equipment: { mcp } })),
] as const)('the equipment of an agent in a run of the real $name', ({ cli, binary, equipment }) => {
  const test = it.skipIf(binary === undefined);

  test('is what it was when the run began, also after a crash, and keeps its secret', async () => {
    room = await open(cli, equipment);
    const { engine, environment, gate, outputs } = room;
    const first = engine.start(['run', 'objective.md', '--json', '--yes'], environment);
    await gate.reached;
    first.child.kill('SIGKILL');
    await first.finished;
    room.change();
    gate.open();
    const end = await engine.run(['resume', '--json'], environment);
    expect(end.lines.at(-1), end.stderr).toMatchObject({ type: 'run-ended', outcome: 'done' });
    expect(turnsTaken(engine).map((turn) => turn.result?.outcome)).toEqual(['completed', 'completed', 'completed']);

    const raw = room.received();
    const second = raw.filter((one) => one.includes('# Task two:')).join('\n');
    if ('skills' in equipment) expect(second).toContain('bound-canary');
    expect(raw.join('\n')).not.toMatch(/changed-(?:canary|body|word)/);
    expect(outputs[0]).toContain(`bound-word of ${TOKEN}`);
    if ('hooks' in equipment) {
      expect(readFileSync(join(engine.root, 'hooks.log'), 'utf8')).toBe('bound-hook\nbound-hook\n');
    }
    // The raw output of a turn is kept as the program wrote it (docs/threat-model.md).
    const raws = /\/turns\/[^/]+\/std(?:out|err)$/;
    expect(holding(stateOf(engine.repository), TOKEN).filter((path) => !raws.test(path))).toEqual([]);
    expect(end.stdout + end.stderr).not.toContain(TOKEN);
    expect(await processesOf(engine.root)).toEqual([]);
  });
});

describe('what a runtime refuses', () => {
  it.skipIf(CODEX_BINARY === undefined).each([
    ['codex', HOOKS, /builder: hooks: `codex exec` reports no hook/],
    ['codex', { deny: ['Bash(git push:*)'] }, /builder: deny: codex confines by sandbox/],
    ['codex', { ask: 'human' }, /builder: ask: codex cannot honour ask/],
    ['claude', { ask: 'human' }, /builder: ask: claude cannot honour ask/],
    [
      'claude',
      { hooks: [{ on: 'tool-ended', tool: 'bash', run: 'true' }] },
      /builder: hooks: this agent has no tool bash/,
    ],
  ] as const)('of %s: %j is named before a run exists', async (cli, equipment, message) => {
    room = await open(cli, equipment);
    const { stderr, stdout, code } = await room.engine.run(['run', 'objective.md', '--yes'], room.environment);
    expect(code, stdout).not.toBe(0);
    expect(stderr).toMatch(message);
    expect(room.engine.ledger).toThrow(/no/);
  });

  describe.each(LIVE_AGENTS)('of acp/$name', (agent) => {
    it.skipIf(agent.binary === undefined).each([
      [{ skills: EQUIPMENT.skills }, 'skills: acp/NAME cannot honour skills'],
      [HOOKS, 'hooks: acp/NAME cannot honour hooks'],
      [{ home: 'mine' }, 'home: acp/NAME cannot honour home'],
      [{ effort: 'high' }, 'effort: acp/NAME cannot set how hard its model thinks'],
    ] as const)('%j is named before a run exists', async (equipment, message) => {
      room = await open(agent, equipment);
      const { stderr, stdout, code } = await room.engine.run(['run', 'objective.md', '--yes'], room.environment);
      expect(code, stdout).not.toBe(0);
      expect(stderr).toContain(`builder: ${message.replace('NAME', agent.name)}`);
      expect(room.engine.ledger).toThrow(/no/);
    });
  });

  it.skipIf(CLAUDE_BINARY === undefined)(
    'a skill that takes rights is named before a run of claude exists',
    async () => {
      const rights = { 'docs/skills/notes/SKILL.md': skill('bound', 'allowed-tools: Bash\n') };
      room = await open('claude', { skills: ['docs/skills/notes'] }, rights);
      const { stderr, code } = await room.engine.run(['run', 'objective.md', '--yes'], room.environment);
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/builder: skills: the SKILL\.md of notes sets allowed-tools/);
    },
  );
});
