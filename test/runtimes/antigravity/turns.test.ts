// @module-tag all
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import type { RuntimeSettings } from '../../../src/runtimes/shared/cli-adapter.ts';
import { openAgyBench, type AgyBench, type AgyScript } from '../../support/antigravity-harness.ts';

let bench: AgyBench;
afterEach(() => bench.close());

let turns = 0;
async function start(script: AgyScript, changes: Partial<TurnRequest> = {}, settings: Partial<RuntimeSettings> = {}) {
  bench = await openAgyBench(script, settings);
  return begin(changes);
}

async function begin(changes: Partial<TurnRequest> = {}) {
  const events: TurnEvent[] = [];
  const request: TurnRequest = {
    turnId: `agy-${process.pid}-${(turns += 1)}`,
    workspace: bench.workspace,
    prompt: 'Please continue.',
    instructions: '',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...bench.request,
    ...changes,
  };
  const turn = bench.runtime().start(request, {
    directory: await bench.directory(),
    onSpawned: () => Promise.resolve(),
    onEvent: (event) => events.push(event),
  });
  return { turn, events, request };
}

const plays = (...steps: Record<string, unknown>[]): AgyScript => ({ turns: [{ steps }] });
const says = { answer: 'hello' };

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 20) {
    if (waited > 20_000) throw new Error('it did not come to this');
    await setTimeout(20);
  }
}

describe('a turn of agy', () => {
  it('is not held up by a megabyte on stderr', async () => {
    const { turn } = await start(plays({ flood: 1_000_000 }, says));
    expect(await turn.result).toMatchObject({ outcome: 'completed', text: 'hello' });
  });

  it('that works in another conversation is ended before it has done much', async () => {
    const { turn } = await start({
      turns: [{ turn: 1, steps: [{ sleep: 4000 }, { write: { path: 'foreign.txt', text: 'x' } }, says] }],
    });
    await turn.cancel('only to see its home');
    const [home] = readdirSync(join(bench.parts.stateDirectory, 'homes', 'antigravity'));
    const id = '00000000-0000-4000-8000-000000000000';
    const { turn: resumed } = await begin({
      session: {
        runtime: 'antigravity',
        id,
        home: join(bench.parts.stateDirectory, 'homes', 'antigravity', home ?? ''),
        workspace: bench.workspace.path,
        instructionsHash: (await turn.result).session?.instructionsHash ?? 'e3b0c44298fc1c149afbf4c8996fb924',
      },
    });
    const { failure, session } = await resumed.result;
    expect(failure).toMatchObject({ kind: 'session-not-found', mayHaveActed: false });
    expect(session?.id).toBe(id);
    expect(existsSync(join(bench.workspace.path, 'foreign.txt'))).toBe(false);
  });

  it('ends as a success of agy that is none', async () => {
    const { turn } = await start(plays({ timeout: 'half of it' }));
    expect((await turn.result).failure?.kind).toBe('output-truncated');
  });

  it('is refused where agy is too old, at each start', async () => {
    const { turn } = await start({ ...plays(says), version: '1.2.17' });
    expect((await turn.result).failure).toMatchObject({
      kind: 'cli-unsupported',
      message: 'agy 1.2.17 is older than 1.3.0',
    });
    expect(await bench.runtime().probe()).toMatchObject({ ok: false, version: '1.2.17', floor: '1.3.0' });
  });

  it('is refused in a repository that names servers for agy', async () => {
    bench = await openAgyBench(plays(says));
    mkdirSync(join(bench.workspace.path, '.agents'));
    writeFileSync(join(bench.workspace.path, '.agents', 'mcp_config.json'), '{"mcpServers":{}}');
    const { turn } = await begin();
    expect(await turn.result).toMatchObject({ outcome: 'refused', failure: { setting: 'workspace' } });
  });

  it('is refused without a key, and its probe says the terms', async () => {
    const { turn } = await start(plays(says), {}, { environment: { PATH: process.env['PATH'] } });
    expect((await turn.result).failure?.kind).toBe('auth');
    const { login, problems } = await bench.runtime().probe();
    expect([login, problems.map(({ text }) => text).join()]).toEqual([
      'missing',
      expect.stringContaining('terms forbid'),
    ]);
  });

  it('has the variables of the host that it was given by name', async () => {
    bench = await openAgyBench(plays({ run: ['env'] }, says));
    const [given = '', other = ''] = bench.canaries;
    const { turn, events } = await begin({ environment: [given] });
    await turn.result;
    const printed = events.flatMap((event) => (event.type === 'tool-ended' ? (event.output ?? '') : [])).join();
    expect([printed.includes(`${given}=`), printed.includes(`${other}=`)]).toEqual([true, false]);
  });

  it('in its cage writes where it may and nowhere else', async () => {
    const outside = ['../escape.txt', '/tmp/squad-agy-escape.txt', '/etc/squad-agy-escape.txt'];
    const { turn, events } = await start(
      plays(
        ...['.git/hooks/ok', ...outside].map((path) => ({ write: { path, text: 'x' } })),
        { run: ['sh', '-c', 'echo x >"$TMPDIR/t" && cat "$TMPDIR/t"'] },
        says,
      ),
    );
    await turn.result;
    const ends = events.flatMap((event) => (event.type === 'tool-ended' ? [event] : []));
    // What it writes to a hidden place is gone with the cage.
    expect([ends[0]?.ok, ends[3]?.ok]).toEqual([true, false]);
    expect(ends.at(-1)?.output).toMatch(/^x\n/);
    const paths = outside.map((path) => resolve(bench.workspace.path, path));
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
  });

  it('without a cage is refused, and allowed where the settings say so', async () => {
    const nowhere = { platform: 'darwin' as const };
    const { turn } = await start(plays(says), {}, nowhere);
    expect((await turn.result).failure).toMatchObject({ kind: 'sandbox-unavailable', setting: 'access' });
    await bench.close();
    const { turn: allowed } = await start(plays(says), {}, { ...nowhere, config: { 'allow-unconfined': true } });
    expect((await allowed.result).outcome).toBe('completed');
  });

  it('of a reader without a cage keeps to the rules', async () => {
    const { turn } = await start(
      plays({ run: ['git', 'status'] }, says),
      { access: { level: 'read-only' } },
      { platform: 'darwin' },
    );
    expect(await turn.result).toMatchObject({ failure: { kind: 'bad-output' }, denials: [{ tool: 'run_command' }] });
  });
});

describe('a cancelled turn of agy', () => {
  it.each<[where: string, script: AgyScript, begun: TurnEvent['type']]>([
    ['in its text', plays({ say: 'I begin' }, { hang: true }), 'text'],
    ['in a tool', plays({ run: ['sh', '-c', 'setsid sleep 60 & sleep 60'] }), 'tool-started'],
    ['in a tool, deaf to SIGINT', { ...plays({ run: ['sleep', '60'] }), deaf: true }, 'tool-started'],
  ])('%s is over within 5 s, and nothing of it is left', async (_, script, begun) => {
    const { turn, events, request } = await start(script);
    await until(() => events.some(({ type }) => type === begun));
    const from = performance.now();
    expect(await turn.cancel('stop')).toMatchObject({ outcome: 'cancelled', failure: { message: 'stop' } });
    expect(performance.now() - from).toBeLessThan(5000);
    expect(await bench.marked(request.turnId)).toEqual([]);
  });

  it('keeps its session and what it used', async () => {
    const { turn, events } = await start(plays({ run: ['sleep', '60'] }));
    await until(() => events.some(({ type }) => type === 'tool-started'));
    const { session, usage } = await turn.cancel('stop');
    expect(session?.counters?.inputTokens).toBeGreaterThan(0);
    expect(usage?.inputTokens).toBeGreaterThan(0);
  });
});
