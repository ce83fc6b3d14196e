import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import { APPROVE_ALL, objective, piece, plan } from '../runs/run-script.ts';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { expireCodex } from './expired-codex.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { scriptModel, type ScriptedTurn } from './turn-scripts.ts';
import { runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const CLIS: readonly Cli[] = ['claude', 'codex'];
const RUN = ['run', 'objective.md', '--yes', '--plain', '--parallel', '1'];
const OTHER = { claude: 'codex', codex: 'claude' } as const;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Room {
  readonly engine: EngineRoom;
  readonly environment: Record<string, string>;
}

/**
 * A run of two pieces, planned and reviewed by a script, built by the first of these real CLIs; the second one, if any, is its
 * stand-in. `expired`: the login of the first one is no longer good.
 */
async function openRoom(builders: readonly Cli[], turns: readonly ScriptedTurn[], expired = false): Promise<Room> {
  const [first = 'claude', second] = builders;
  const model = scriptModel(turns);
  const refuse = {
    type: 'failure',
    status: 401,
    error: 'authentication_error',
    message: 'OAuth token has expired',
  } as const;
  const anthropic = await startFakeAnthropic(expired && first === 'claude' ? () => refuse : model.anthropic);
  const openai = await startFakeOpenai(model.openai);
  const engine = openEngineRoom({ 'objective.md': objective() });
  const script = engine.script({ turns: [plan([piece('a'), piece('b')]), APPROVE_ALL] });
  const runtimes = runtimesAt(openai.baseUrl) as Record<Cli, { command: string; env: string[] }>;
  const environment: Record<string, string> = {
    ANTHROPIC_API_KEY: 'key-of-the-fake',
    ANTHROPIC_BASE_URL: anthropic.url,
    FAKE_KEY: 'key-of-the-fake',
  };
  const expiredCodex = expired && first === 'codex' ? await expireCodex(engine.root, closing) : undefined;
  Object.assign(environment, expiredCodex);
  const own =
    expiredCodex === undefined ? runtimes[first] : { command: runtimes.codex.command, env: Object.keys(expiredCodex) };
  const agent = (name: string, role: string, runtime: string) => ({
    ...{ name, role, runtime },
    ...(runtime === 'codex' && expiredCodex === undefined ? { model: PLAIN_MODEL } : {}),
  });
  const settings = {
    version: 1,
    agents: [
      agent('planner', 'planner', 'scripted'),
      agent('builder-1', 'builder', first),
      ...(second === undefined ? [] : [agent('builder-2', 'builder', second)]),
      agent('reviewer', 'reviewer', 'scripted'),
    ],
    runtimes: {
      ...runtimes,
      [first]: { ...own, ...(second === undefined ? {} : { fallback: second }) },
      scripted: { config: { script } },
    },
  };
  writeFileSync(join(engine.repository, 'squad.yaml'), JSON.stringify(settings));
  closing.push(() => engine.close(), anthropic.close, openai.close);
  return { engine, environment };
}

function builds(...names: readonly string[]): ScriptedTurn[] {
  return names.map((name) => ({
    name,
    when: new RegExp(`# Task ${name}:`),
    acts: [
      { act: 'write', path: `${name}.txt`, text: `${name}\n` },
      { act: 'shell', command: `git add -A && git commit -q -m "Add ${name}"` },
      { act: 'say', text: 'done' },
    ],
  }));
}

/** What the terminal shows from the end on, `status` and the report without Markdown's escapes; and the status as data. */
async function surfacesOf({ engine, environment }: Room, stdout: string, word: string) {
  const end = stdout.slice(stdout.lastIndexOf(`\n${word}`));
  expect(end).not.toBe('\n');
  const status = (await engine.run(['status'], environment)).stdout;
  const report = (await engine.run(['report'], environment)).stdout.replaceAll(/\\(.)/g, '$1');
  const data = JSON.parse((await engine.run(['status', '--json'], environment)).stdout) as RunStatus;
  return { all: [end, status, report], data };
}

describe.each(CLIS)('a builder on the real %s', { timeout: 240_000 }, (cli) => {
  test('whose every write is denied: the failure says which, its last words and what to do', async () => {
    const outside = '/var/lib/squad-may-not-write-here.txt';
    // Codex does not always tell of a command that its sandbox denied; it always tells of one that failed by itself.
    const shown = cli === 'claude' ? 'squad-may-not-write-here.txt' : '/no/such/folder';
    const acts: ScriptedTurn['acts'] =
      cli === 'claude'
        ? [{ act: 'write', path: `../../../../../..${outside}`, text: 'a' }]
        : [
            { act: 'shell', command: `echo a > ${outside}` },
            { act: 'shell', command: 'ls /no/such/folder' },
          ];
    const say = { act: 'say', text: 'Nothing can be written here.' } as const;
    const tries: ScriptedTurn = { name: 'tries', when: /# Task a:|You said that task a/, acts: [...acts, say] };
    const room = await openRoom([cli], [tries, ...builds('b')]);
    const { code, stdout, stderr } = await room.engine.run(RUN, room.environment);
    expect(code, stdout + stderr).toBe(1);
    const { all, data } = await surfacesOf(room, stdout, 'FAILED');
    const failure = data.failures.find(({ task }) => task === 'a');
    expect(failure).toMatchObject({
      agent: 'builder-1',
      cause: 'no-evidence',
      lastWords: 'Nothing can be written here.',
    });
    const error = failure?.errors.find(({ input }) => input.includes(shown));
    expect(error, JSON.stringify(failure?.errors)).toMatchObject({ denied: cli === 'claude' });
    expect(existsSync(outside)).toBe(false);
    expect(error?.output).not.toBe('');
    for (const surface of all) {
      expect(surface).toContain('no commit was made');
      expect(surface).toContain('Nothing can be written here.');
      expect(surface).toContain(shown);
      expect(surface).toContain(String(error?.output).split('\n')[0]?.slice(0, 60));
      expect(surface).toMatch(/squad retry a --run make-things/);
    }
  });

  test('whose login has expired: one attempt, its stand-in delivers all, and nobody is asked', async () => {
    const room = await openRoom([cli, OTHER[cli]], builds('a', 'b'), true);
    const { code, stdout, stderr } = await room.engine.run(RUN, room.environment);
    expect(code, stdout + stderr).toBe(0);
    const turns = turnsTaken(room.engine);
    expect(turns.filter(({ attempt }) => attempt.runtime === cli)).toMatchObject([
      { result: { failure: { kind: 'auth' } } },
    ]);
    for (const name of ['a', 'b']) {
      expect(git(room.engine.repository, 'show', `squad/make-things:${name}.txt`)).toBe(name);
    }
    expect(stdout).toMatch(/account   \w+: cannot be used \(auth\); \w+ stands in/);
  });

  test('whose login has expired, without a stand-in: one attempt, and the question names what helps', async () => {
    const room = await openRoom([cli], builds('a', 'b'), true);
    const { code, stdout, stderr } = await room.engine.run(RUN, room.environment);
    expect(code, stdout + stderr).toBe(3);
    expect(turnsTaken(room.engine).filter(({ attempt }) => attempt.runtime === cli)).toHaveLength(1);
    const { all } = await surfacesOf(room, stdout, 'WAITING');
    for (const surface of all) {
      expect(surface).toContain('expired');
      expect(surface).toContain(cli === 'claude' ? '`claude auth login`' : '`codex login`');
      expect(surface).toMatch(/`squad switch \w+ --agent builder-1`/);
    }
    expect(all[0]).toContain(`squad answer engine/auth/${cli} "try again"`);
  });
});
