import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FailureKind } from '../../src/model/failure.ts';
import type { SessionRef } from '../../src/model/session-ref.ts';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import { turnResultSchema, type TurnResult } from '../../src/model/turn-result.ts';
import { createClaudeAdapter } from '../../src/runtimes/claude/index.ts';
import { createCodexAdapter } from '../../src/runtimes/codex/index.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import { instructionsHash } from '../../src/runtimes/shared/session.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../src/substrate/system/process/system-processes.ts';
import { isJsonObject } from '../../src/text/json.ts';
import { markedPids } from '../support/marked-pids.ts';
import { some, SPREAD } from '../support/lane.ts';

/**
 * Every recording of a real CLI once more, but as a process: a program that stands in for the binary plays it to the real
 * wrapper, and the result is what a caller of the runtime gets.
 */
type Cli = 'claude' | 'codex';

interface Replay {
  /** `completed`, or the kind of the failure. */
  readonly ends: 'completed' | FailureKind;
  readonly code?: number;
  readonly signal?: 'SIGKILL' | 'SIGTERM';
  readonly hangs?: boolean;
  readonly request?: Partial<TurnRequest>;
  /** More that the result must hold. */
  readonly result?: object;
}

const completed = (result: object = {}, request: Partial<TurnRequest> = {}): Replay => {
  return { ends: 'completed', result, request };
};
const failed = (ends: FailureKind, more: Partial<Replay> = {}): Replay => ({ ends, code: 1, ...more });
const http = (name: string) => ({
  mcp: [{ name, required: true, transport: { type: 'http' as const, url: 'http://127.0.0.1:1', headers: {} } }],
});
const schema: Partial<TurnRequest> = {
  outputSchema: {
    type: 'object',
    properties: { verdict: { enum: ['approve', 'reject'] }, score: { type: 'integer' } },
    required: ['verdict'],
  },
};
const approved = { structured: { verdict: 'approve', score: 7 } };
const INSTRUCTIONS = 'You are a builder.';
const oneDenial = { denials: [expect.objectContaining({ tool: expect.any(String) })] };
/** A session whose last turn ended with these readings. */
const session = (runtime: Cli, id: string, counters: number[] = []): { session: SessionRef } => {
  const [inputTokens, cachedInputTokens, outputTokens, costUsd] = counters;
  const reading = {
    inputTokens: inputTokens ?? 0,
    cachedInputTokens: cachedInputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
  const ref = { runtime, id, home: join(root, 'home'), workspace: join(root, 'tree') };
  return {
    session: {
      ...ref,
      instructionsHash: instructionsHash(INSTRUCTIONS),
      ...(counters.length === 0 ? {} : { counters: reading }),
    },
  };
};

const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-replay-')));
const STAND_IN = join(root, 'agent');
const PLAYER = fileURLToPath(new URL('../fixtures/agents/replays.mjs', import.meta.url));
beforeAll(() => {
  mkdirSync(join(root, 'tree'));
  writeFileSync(STAND_IN, `#!/bin/sh\nexec '${process.execPath}' '${PLAYER}' "$@"\n`, { mode: 0o755 });
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

const claudeSession = (digit: string, ...counters: number[]) =>
  session('claude', `${digit}1111111-2222-4333-8444-555555555555`, counters);
const thread = (...counters: number[]) => session('codex', '01a1f881-7c5a-7af1-92a4-9c40c008570b', counters);

const CLAUDE: Readonly<Record<string, Replay>> = {
  'SIGINT-bash': failed('cancelled', { code: 0 }),
  'SIGINT-text': failed('cancelled', { code: 0 }),
  'SIGKILL-bash': failed('crashed', { signal: 'SIGKILL', result: { exit: { code: null, signal: 'SIGKILL' } } }),
  agent: completed({ text: 'Saw the sub-agent end.', steps: 3 }),
  asp1: completed({ text: 'I can see 1 user message(s) and 2 message(s) in all.' }),
  asp2: completed({}, claudeSession('3')),
  'bgbash-disabled': completed(),
  budget: failed('cost-limit'),
  conc1: completed({}, claudeSession('4')),
  conc2: completed({}, claudeSession('4')),
  credit: failed('billing'),
  cut: failed('network'),
  deny: completed(oneDenial),
  empty: failed('crashed'),
  err400: failed('context-overflow'),
  err401: failed('crashed', { signal: 'SIGTERM' }),
  err403: failed('auth'),
  err404: failed('model-unavailable'),
  err429: failed('rate-limited', { result: { failure: { httpStatus: 429, retryAt: expect.any(Number) } } }),
  err500: failed('server-error'),
  err529: failed('overloaded'),
  'foreground-agent': completed({ text: 'main done' }),
  'iso-plain': completed(),
  longtool: completed({ text: 'Done: ran the command.' }),
  maxtokens: failed('output-truncated'),
  maxturns: failed('step-limit'),
  'mcp-bad': failed('mcp-unavailable', { code: 0, request: http('bad') }),
  'mcp-http': completed({ text: 'Mail sent.' }, http('squad')),
  'mcp-noallow': completed(oneDenial),
  neverschema: failed('bad-output', { code: 0, request: schema }),
  'no-sandbox': failed('sandbox-unavailable'),
  nokey: failed('auth'),
  partial: completed({ text: 'It is done now.' }),
  'recommended-1': completed({ text: 'Mail sent.' }),
  'recommended-2': completed(approved, {
    ...session('claude', '453d38ee-1cda-470a-9e57-9072cfbb31e6', [300, 100, 84, 0.002235]),
    ...schema,
  }),
  refusal: failed('model-refused'),
  refused: failed('network'),
  'resume-unknown': failed('session-not-found', { request: claudeSession('9') }),
  resume: completed(
    { usage: { inputTokens: 150, cachedInputTokens: 50, outputTokens: 42, costUsd: 0.001117 } },
    claudeSession('1', 150, 50, 42, 0.0011175),
  ),
  schema: completed(approved, schema),
  'sid-dup': failed('session-busy'),
  'bypass-root': failed('setting-unsupported'),
  'skip-root': failed('setting-unsupported'),
  unkflag: failed('cli-unsupported'),
  sid: completed({ usage: { inputTokens: 150, cachedInputTokens: 50, outputTokens: 42, costUsd: 0.001118 } }),
  'slash-command': failed('protocol', { code: 0 }),
  text: completed({ text: 'Hello from the fake model.', exit: { code: 0, signal: null } }),
  'timed-out': failed('stalled'),
  'usage-limit': failed('quota-exhausted', { result: { failure: { retryAt: 1_795_190_000_000 } } }),
  'write-accept': completed({ text: 'Done: wrote the file.', denials: [] }),
  'write-default': completed(oneDenial),
  wrongschema: failed('bad-output', { request: schema }),
};

const CODEX: Readonly<Record<string, Replay>> = {
  'SIGTERM-bash': failed('crashed', {
    signal: 'SIGTERM',
    result: { failure: { mayHaveActed: true }, exit: { code: null, signal: 'SIGTERM' } },
  }),
  badcfg: failed('bad-request'),
  'bash-ww': completed({ text: 'Done: ran the command.', steps: 1 }),
  big: completed(),
  conc2: failed('session-busy', { request: thread() }),
  err400: failed('bad-request'),
  err401: failed('auth'),
  err429: failed('rate-limited'),
  err500: failed('server-error'),
  errctx: failed('context-overflow'),
  errquota: failed('quota-exhausted'),
  errusage: failed('quota-exhausted', { result: { failure: { retryAt: expect.any(Number) } } }),
  'expired-login': failed('auth', { result: { failure: { message: expect.stringContaining('sign in again') } } }),
  failed: failed('network'),
  hang: failed('stalled', { hangs: true, result: { outcome: 'timed-out' } }),
  lean: completed(),
  longtool: completed(),
  'mcp-approve': completed({ denials: [] }),
  'mcp-bad': completed(),
  'mcp-http': completed({ denials: [] }),
  'mcp-noann': completed(oneDenial),
  'mcp-noann-full': completed({ denials: [] }),
  'mcp-req': failed('mcp-unavailable', { request: http('squad') }),
  nocomplete: failed('network'),
  nogit: failed('crashed'),
  r1: completed({ usage: { inputTokens: 150, cachedInputTokens: 50, outputTokens: 42, reasoningTokens: 7 } }),
  r2: completed(
    { usage: { inputTokens: 150, cachedInputTokens: 50, outputTokens: 42, reasoningTokens: 14 } },
    thread(150, 50, 42),
  ),
  r4: completed({ usage: { inputTokens: 600 } }, thread(300, 100, 84)),
  r6: failed('session-not-found', { request: thread() }),
  r7: failed('session-not-found', { code: 0, request: thread(150, 50, 42) }),
  'recommended-1': completed({ denials: [] }),
  'recommended-2': completed(approved, { ...session('codex', '01a1f89b-021c-7143-83f4-b7a9265e9746'), ...schema }),
  schema: completed(approved, schema),
  'stdin-open': failed('crashed'),
  wt: completed(),
  'wt-a': completed(),
};

const clock = createSystemClock();
const processes = createSystemProcesses({ clock });
let turns = 0;

function runtimeOf(cli: Cli, replay: object): AgentRuntime {
  const settings = {
    binary: STAND_IN,
    environment: { PATH: join(root, 'bin'), HOME: root, SQUAD_TEST_REPLAY: JSON.stringify(replay) },
    allowEnvironment: ['SQUAD_TEST_REPLAY'],
    stateDirectory: join(root, 'state'),
    userHome: root,
    platform: process.platform,
    architecture: process.arch,
    isRoot: false,
  };
  const ports = { processes, clock };
  return cli === 'claude'
    ? createCliRuntime(createClaudeAdapter(settings, ports), ports)
    : createCliRuntime(createCodexAdapter(settings, ports), ports);
}

interface Replayed {
  readonly result: TurnResult;
  readonly events: readonly TurnEvent[];
  readonly given: { readonly prompt: string; readonly args: readonly string[] };
}

async function play(cli: Cli, name: string, replay: Replay): Promise<Replayed> {
  turns += 1;
  const directory = join(root, `turn-${turns}`);
  mkdirSync(directory);
  const folder = captures(cli);
  const recorded = new Map(readdirSync(folder).map((file) => [file, join(folder, file)]));
  const { code = 0, signal, hangs } = replay;
  const played = { stdout: recorded.get(`${name}.jsonl`), stderr: recorded.get(`${name}.err`), code, signal, hangs };
  const request: TurnRequest = {
    turnId: `replay-${process.pid}-${turns}`,
    workspace: { path: join(root, 'tree') },
    prompt: 'Do it.',
    instructions: INSTRUCTIONS,
    access: { level: 'edit' },
    mcp: [],
    limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, ...(hangs === true ? { idleMs: 1000 } : {}) },
    ...replay.request,
  };
  const events: TurnEvent[] = [];
  const keep = join(directory, 'given.json');
  const turn = runtimeOf(cli, { ...played, keep }).start(request, {
    directory,
    onEvent: (event) => events.push(event),
    onSpawned: () => Promise.resolve(),
  });
  const result = turnResultSchema.parse(await turn.result);
  expect(markedPids(request.turnId)).toEqual([]);
  return { result, events, given: JSON.parse(readFileSync(keep, 'utf8')) as Replayed['given'] };
}

function captures(cli: Cli): string {
  return fileURLToPath(new URL(`../fixtures/captures/${cli}`, import.meta.url));
}

describe.each([
  { cli: 'claude' as const, table: CLAUDE },
  { cli: 'codex' as const, table: CODEX },
])('recordings of $cli, played as a process', ({ cli, table }) => {
  it('are all here', () => {
    const recorded = new Set(readdirSync(captures(cli)).map((file) => file.replace(/\.\w+$/, '')));
    expect(Object.keys(table).toSorted()).toEqual([...recorded].toSorted());
  });

  const all = Object.entries(table);
  it.concurrent.each(some(all, Math.ceil(all.length / 3)))('%s', { ...SPREAD }, async (name, replay) => {
    const { result, events, given } = await play(cli, name, replay);
    const { ends } = replay;
    expect(result.failure?.kind ?? 'completed').toBe(ends);
    expect(result.outcome).toBe(
      ends === 'completed' ? 'completed' : ends === 'stalled' && replay.hangs ? 'timed-out' : 'failed',
    );
    expect(result).toMatchObject(replay.result ?? {});
    expect(given.prompt).toBe('Do it.');
    expect(given.args.join('\n')).not.toContain('Do it.');
    const opened = events.filter((event) => event.type === 'session-announced');
    expect(opened.length).toBeLessThanOrEqual(1);
    if (ends !== 'completed') return;
    expect(result.text.trim()).not.toBe('');
    expect(result.usage?.inputTokens).toBeGreaterThan(0);
    expect(result.session).toMatchObject({ runtime: cli, id: opened[0]?.id, workspace: join(root, 'tree') });
    expect(isJsonObject(result.session?.counters)).toBe(true);
  });
});

describe('words that a shell or an option parser would obey', () => {
  const model = '--yolo=$(id) `id`; | > @file %s \\ \'a\' "b" ünï \u2028';

  it.each([
    ['claude' as const, 'text', [`--model=${model}`]],
    ['codex' as const, 'lean', ['-c', `model=${JSON.stringify(model)}`]],
  ])('reach %s as one argument, byte for byte', async (cli, name, expected) => {
    const { given } = await play(cli, name, completed({}, { model, prompt: model }));
    const at = given.args.indexOf(expected.at(-1) ?? '');
    expect(given.args.slice(at - expected.length + 1, at + 1)).toEqual(expected);
    expect(given.prompt).toBe(model);
    expect(given.args).not.toContain(model);
  });
});
