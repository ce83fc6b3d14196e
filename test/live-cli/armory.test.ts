import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type McpServer, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import type { RuntimeBench } from '../../src/testing/runtime-scenarios.ts';
import type { BenchParts } from '../support/runtime-bench.ts';
import { CLAUDE_BINARY, NO_BINARY as NO_CLAUDE, openClaudeBench } from './claude-harness.ts';
import { CODEX_BINARY, NO_BINARY as NO_CODEX, openCodexBench, PLAIN_MODEL } from './codex-harness.ts';
import { scriptModel, type Act } from './turn-scripts.ts';
import { calls, runs, says } from './fake-anthropic.ts';

/** What the real programs make of an agent's equipment. */
type Bench = RuntimeBench & { readonly parts: BenchParts };
let bench: Bench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

interface Acted {
  readonly result: TurnResult;
  readonly events: readonly TurnEvent[];
  readonly directory: string;
}

async function act(on: Bench, changes: Partial<TurnRequest> = {}): Promise<Acted> {
  const events: TurnEvent[] = [];
  const directory = await on.directory();
  const request: TurnRequest = {
    turnId: `armory-${process.pid}-${Date.now()}`,
    workspace: on.workspace,
    prompt: 'Please go on.',
    instructions: 'You are a tester.',
    access: { level: 'edit' },
    mcp: [],
    ...on.request,
    limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 20_000 },
    ...changes,
  };
  const context = {
    directory,
    onSpawned: () => Promise.resolve(),
    onEvent: (event: TurnEvent) => void events.push(event),
  };
  return { result: await on.runtime().start(request, context).result, events, directory };
}

function plant(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

const skillText = (name: string, word: string): string =>
  `---\nname: ${name}\ndescription: ${word}-canary. Use it for each release.\n---\n${word}-body\n`;

/** A bound skill, and others in all the places where programs look for them. */
function plantSkills(on: Bench): NonNullable<TurnRequest['skills']> {
  const { root, home, stateDirectory } = on.parts;
  const theirs = (folder: string) => ({ [`${folder}/planted/SKILL.md`]: skillText('planted', 'planted') });
  for (const place of [home, on.workspace.path]) {
    plant(place, { ...theirs('.claude/skills'), ...theirs('.codex/skills'), ...theirs('.agents/skills') });
  }
  plant(stateDirectory, { ...theirs('claude/home/skills'), ...theirs('codex-home/skills') });
  plant(join(root, 'store', '1a'), {
    'notes/SKILL.md': skillText('notes', 'bound'),
    'notes/more.txt': 'bound-reference\n',
  });
  return [{ name: 'notes', folder: join(root, 'store', '1a', 'notes') }];
}

const desk = (on: Bench, changes: Partial<McpServer> = {}): McpServer => ({
  name: 'desk',
  required: true,
  transport: {
    type: 'stdio',
    command: process.execPath,
    args: [...on.mcpServer.args],
    env: { DESK_TOKEN: 'secret-of-the-desk' },
  },
  ...changes,
});

const shellServer = (script: string): McpServer => ({
  name: 'desk',
  required: true,
  transport: { type: 'stdio', command: '/bin/sh', args: ['-c', script], env: {} },
});

/** Everything that a shell can find of the secrets of other processes of its turn. */
const SEARCH =
  "(env; cat /proc/[0-9]*/environ; tr '\\0' '\\n' < /proc/self/environ; cat ../turns/*/*.json) 2>/dev/null | tr '\\0' '\\n' | grep -a 'secret-o[f]'; echo searched";

const outputs = ({ events }: Acted): string =>
  events.flatMap((event) => (event.type === 'tool-ended' ? [event.output ?? ''] : [])).join('\n');

interface Real {
  readonly name: 'claude' | 'codex';
  readonly skip: string | undefined;
  /** A model that does these things, one a step. */
  open(...acts: readonly Act[]): Promise<Bench & { readonly requests: readonly unknown[] }>;
}

const script = (acts: readonly Act[]) => scriptModel([{ name: 'go', when: /./, acts }]);

const REAL: readonly Real[] = [
  {
    name: 'claude',
    skip: CLAUDE_BINARY === undefined ? NO_CLAUDE : undefined,
    open: (...acts) => openClaudeBench(script(acts).anthropic),
  },
  {
    name: 'codex',
    skip: CODEX_BINARY === undefined ? NO_CODEX : undefined,
    open: (...acts) => openCodexBench(script(acts).openai, { model: PLAIN_MODEL }),
  },
];

describe.each(REAL)('the equipment of an agent of $name', ({ name, skip, open }) => {
  const lane = skip === undefined ? it : it.skip;
  if (skip !== undefined) it.skip(`is not tested: ${skip}`);

  lane('shows the model exactly the bound skills, whose files the agent can read', async () => {
    const on = await open({ act: 'shell', command: 'cat ../store/1a/notes/SKILL.md ../store/1a/notes/more.txt' });
    bench = on;
    const skills = plantSkills(on);
    const acted = await act(on, { skills });
    expect(acted.result).toMatchObject({ outcome: 'completed', denials: [] });
    expect(on.received()).toContain('bound-canary');
    expect(on.received()).not.toMatch(/planted-(?:canary|body)|skill-creator|plugin-authoring|code-review/);
    expect(outputs(acted)).toMatch(/bound-body\s+bound-reference/);
    await act(on);
    expect(JSON.stringify(on.requests[2])).not.toMatch(/(?:bound|planted)-canary/);
  });

  lane('calls a tool of a bound server, whose secret reaches that server alone', async () => {
    const note: Act = { act: 'mail', server: 'desk', tool: 'note', arguments: { text: 'from the agent' } };
    const on = await open(note, { act: 'shell', command: SEARCH });
    bench = on;
    const other = shellServer(`env > ${join(on.parts.root, 'other')}; sleep 60`);
    const acted = await act(on, { mcp: [desk(on), { ...other, name: 'other', required: false }] });
    expect(acted.result).toMatchObject({ outcome: 'completed', denials: [] });
    expect(await on.notes()).toEqual(['from the agent']);
    expect(outputs(acted)).toContain('searched');
    expect(outputs(acted)).not.toContain('secret-of');
    expect(readFileSync(join(on.parts.root, 'other'), 'utf8')).not.toContain('secret-of');
    expect(on.received()).not.toContain('secret-of');
  });

  lane.each<[string, string, RegExp]>([
    ['dies at its start', 'echo the database is gone >&2; exit 3', /the database is gone/],
    ['never answers', 'echo waiting for godot >&2; sleep 600', /(?:timed out|waiting for godot)/],
    ['is no server', 'echo Welcome; exit 0', /desk/],
  ])('fails the turn with the last words of a required server that %s', async (_title, command, words) => {
    const on = await open({ act: 'say', text: 'I should not have been asked' });
    bench = on;
    const limits = { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 20_000 };
    const { result } = await act(on, { mcp: [shellServer(command)], limits });
    expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'mcp-unavailable', mayHaveActed: false } });
    expect(result.failure?.message).toMatch(words);
  });

  lane('hands a server over HTTP its header, and fails the turn with what it answers', async () => {
    const seen: unknown[] = [];
    const server = createServer((incoming, response) => {
      seen.push(incoming.headers['x-desk']);
      response.writeHead(401).end('this desk is closed');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const on = await open({ act: 'say', text: 'done' });
    bench = on;
    const transport = { type: 'http' as const, url, headers: { 'x-desk': 'secret-of-the-desk' } };
    const { result } = await act(on, { mcp: [{ name: 'desk', required: true, transport }] });
    server.close();
    expect(seen).toContain('secret-of-the-desk');
    expect(result.failure).toMatchObject({ kind: 'mcp-unavailable' });
    expect(result.failure?.message).toContain('desk');
    expect(JSON.stringify(result)).not.toContain('secret-of-the-desk');
  });

  lane('shows the shell a variable that is meant for the agent, and no other of the host', async () => {
    // The CLIs cut long output, and a host may have long variables.
    const on = await open({ act: 'shell', command: "env | grep -E 'TOKEN|key-of-the-fake|canary' || true" });
    bench = on;
    on.parts.environment['NPM_TOKEN'] = 'token-for-the-agent';
    const { result, events } = await act(on, { environment: ['NPM_TOKEN'] });
    expect(result.outcome).toBe('completed');
    const said = outputs({ result, events, directory: '' });
    expect(said).toContain('NPM_TOKEN=token-for-the-agent');
    expect(said).not.toMatch(/key-of-the-fake|canary/);
    const without = await act(on);
    expect(outputs(without)).not.toContain('token-for-the-agent');
  });

  lane('tells the model how hard to think', async () => {
    for (const effort of ['low', 'max'] as const) {
      const on = await open({ act: 'say', text: 'done' });
      await act(on, { effort });
      expect(on.received()).toContain(`"effort":"${effort}"`);
      await on.close();
    }
  });

  lane('reads the settings and memory of the user on purpose, and never those of the repository', async () => {
    const on = await open({ act: 'say', text: 'done' });
    bench = on;
    const { home, marks } = on.parts;
    const touch = (mark: string): string => `touch ${join(marks, mark)}`;
    const hook = [{ hooks: [{ type: 'command', command: touch('user-hook') }] }];
    plant(home, {
      '.claude/CLAUDE.md': 'user-memory',
      '.claude/settings.json': JSON.stringify({ hooks: { SessionStart: hook } }),
      '.claude/skills/mine/SKILL.md': skillText('mine', 'user'),
      '.codex/AGENTS.md': 'user-memory',
      '.codex/config.toml': `unknown_key = 1\n[mcp_servers.users]\ncommand = "touch"\nargs = ["${join(marks, 'user-server')}"]\n[projects."${on.workspace.path}"]\ntrust_level = "trusted"\n`,
      '.codex/skills/mine/SKILL.md': skillText('mine', 'user'),
    });
    const { result } = await act(on, { home: 'mine' });
    expect(result.outcome).toBe('completed');
    expect(result.session?.home).toBe(join(home, `.${name}`));
    expect(on.received()).toContain('user-memory');
    expect(on.received()).toContain('user-canary');
    expect(on.received()).toContain('squad-conformance-house-rule');
    expect(await on.planted()).toEqual([name === 'claude' ? 'user-hook' : 'user-server']);
  });
});

const claude = CLAUDE_BINARY === undefined ? describe.skip : describe;

claude(`a skill and hooks of claude${CLAUDE_BINARY === undefined ? ` (not run: ${NO_CLAUDE})` : ''}`, () => {
  const hook = (on: 'turn-started' | 'tool-started' | 'tool-ended' | 'turn-ended', run: string, tool?: string) => ({
    on,
    run,
    ...(tool === undefined ? {} : { tool }),
  });

  it('calls the bound skill, reads its other files, and is given no other', async () => {
    let folder = '';
    const on = await openClaudeBench(({ step }) => {
      const file = { file_path: `${folder}/more.txt` };
      const steps = [
        calls('Skill', { skill: 'squad:notes' }),
        calls('Read', file),
        calls('Edit', { ...file, old_string: 'bound', new_string: 'x' }),
      ];
      return steps[step] ?? says('done');
    });
    bench = on;
    const skills = plantSkills(on);
    folder = skills[0]?.folder ?? '';
    const { result } = await act(on, { skills });
    expect(result.denials).toMatchObject([{ tool: 'Edit' }]);
    expect(on.requests[1]?.raw).toContain('bound-body');
    expect(on.requests[2]?.toolResults.at(-1)).toContain('bound-reference');
    const [, list] =
      /The following skills are available[^:]*:\\n\\n((?:- .*?\\n)+)/.exec(on.requests[0]?.raw ?? '') ?? [];
    expect(list?.split('\\n').filter((line) => line !== '')).toEqual([
      '- squad:notes: bound-canary. Use it for each release.',
    ]);
    // The session remembers where the skill was in its first turn.
    [, folder = ''] = /Base directory for this skill: ([^\\\\"]+)/.exec(on.requests[1]?.raw ?? '') ?? [];
    expect(folder).toContain('/turns/1/');
    const resumed = await act(on, { skills, ...(result.session === undefined ? {} : { session: result.session }) });
    expect(resumed.result.outcome).toBe('completed');
    expect(on.requests.at(-2)?.toolResults.at(-1)).toContain('bound-reference');
    for (const level of ['read-only', 'full'] as const) {
      expect((await act(on, { skills, access: { level } })).result.outcome).toBe('completed');
      expect(on.requests.at(-1)?.raw).toContain('bound-body');
    }
  });

  it.each(['allowed-tools: Bash, Write', 'hooks:\n  PreToolUse: []'])('refuses a skill that says %j', async (line) => {
    const on = await openClaudeBench([says('done')]);
    bench = on;
    const skills = plantSkills(on);
    plant(skills[0]?.folder ?? '', { 'SKILL.md': skillText('notes', 'bound').replace('\n---\n', `\n${line}\n---\n`) });
    const { result } = await act(on, { skills });
    expect(result).toMatchObject({ outcome: 'refused', failure: { kind: 'setting-unsupported', setting: 'skills' } });
    expect(on.requests).toEqual([]);
  });

  it('runs hooks at their moments, in the folder of the task, without the key, and takes no permission from them', async () => {
    const on = await openClaudeBench([
      runs('echo tool-ran'),
      calls('Write', { file_path: '/given-by-a-hook.txt', content: 'x' }),
      says('done'),
    ]);
    bench = on;
    const log = join(on.parts.root, 'hooks.log');
    const write = (word: string): string => `{ echo ${word} "$PWD"; env; cat; } >> ${log}`;
    const allow = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`;
    const hooks = [
      hook('turn-started', write('turn-started')),
      hook('tool-started', write('tool-started'), 'Bash'),
      hook('tool-ended', write('tool-ended'), 'Bash'),
      hook('turn-ended', write('turn-ended')),
      hook('tool-started', allow, 'Write'),
    ];
    const { result } = await act(on, { hooks });
    expect(result).toMatchObject({ outcome: 'completed', denials: [{ tool: 'Write' }] });
    expect(existsSync('/given-by-a-hook.txt')).toBe(false);
    const said = readFileSync(log, 'utf8');
    const moments = said.split('\n').filter((line) => /^t\w+-(?:started|ended) /.test(line));
    expect(moments).toEqual(hooks.slice(0, 4).map((one) => `${one.on} ${on.workspace.path}`));
    expect(said).toContain('"tool_input":{"command":"echo tool-ran"');
    expect(said).not.toMatch(/key-of-the-fake|canary/);
  });

  it.each(['turn-started', 'turn-ended'] as const)(
    'fails the turn if its hook for %s fails, with its last words',
    async (moment) => {
      const on = await openClaudeBench([says('done')]);
      bench = on;
      const { result } = await act(on, { hooks: [hook(moment, 'echo the disk is full >&2; exit 3')] });
      const message = `the hook ${moment} failed with exit 3: the disk is full`;
      expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'hook-failed', setting: 'hooks', message } });
      expect(on.requests).toHaveLength(moment === 'turn-started' ? 0 : 1);
    },
  );

  it('denies a call to which a hook objects, and tells the model of a hook that fails after a call', async () => {
    const on = await openClaudeBench([
      runs('touch denied-by-a-hook'),
      calls('Glob', { pattern: '*.md' }),
      says('done'),
    ]);
    bench = on;
    const hooks = [
      hook('tool-started', 'echo not on my watch; exit 1', 'Bash'),
      hook('tool-ended', 'echo look again; exit 1', 'Glob'),
    ];
    const { result, events } = await act(on, { hooks });
    expect(result.outcome).toBe('completed');
    expect(result.denials[0]).toMatchObject({ tool: 'Bash' });
    expect(result.denials[0]?.message).toContain('not on my watch');
    expect(existsSync(join(on.workspace.path, 'denied-by-a-hook'))).toBe(false);
    expect(on.requests.at(-1)?.raw).toContain('look again');
    expect(JSON.stringify(events)).toContain('the hook tool-ended failed with exit 1: look again');
  });

  it('fails the turn if a hook does not answer in time: the call has gone ahead', async () => {
    const on = await openClaudeBench([runs('echo tool-ran'), says('done')]);
    bench = on;
    const limits = { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 4000 };
    const { result } = await act(on, { hooks: [hook('tool-started', 'sleep 60', 'Bash')], limits });
    expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'hook-failed' } });
  });
});
