import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import type { Attempt, Settlement } from '../../src/model/attempt.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { createSystemProcesses } from '../../src/substrate/system/process/system-processes.ts';
import { GEMINI } from './acp-agents.ts';
import { acts } from './acp-live-harness.ts';
import { answerTimes, timed } from './answer-times.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, commands, PLAIN_MODEL } from './codex-harness.ts';
import { runs, says, startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { DEV_TURN, openEngineRoom, type EngineRoom, type Finished } from '../support/engine.ts';
import { acpHosts } from '../support/acp-run.ts';
import { markedPids } from '../support/marked-pids.ts';
import { stateOf } from '../support/state.ts';

const TRIALS = process.env['SQUAD_LIVE_TRIALS'];
const processes = createSystemProcesses({ clock: createSystemClock() });

/** Longest time that a request may wait for its answer. */
const ANSWERED_MS = 1000;
/** Longest time that processes may outlive their host. */
const GONE_MS = 10_000;

/** A real CLI with a model behind it that runs one command of a second and then says `done`. */
interface LiveCli {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** How many turns reached the model so far. */
  turns(): number;
  close(): Promise<void>;
}

async function openClaude(binary: string): Promise<LiveCli> {
  const fake = await startFakeAnthropic([runs('sleep 1'), says('done')]);
  return {
    args: ['--runtime', 'claude', '--binary', binary],
    environment: { ANTHROPIC_API_KEY: 'key-of-the-fake', ANTHROPIC_BASE_URL: fake.url },
    turns: () => fake.requests.filter((request) => request.step === 0).length,
    close: () => fake.close(),
  };
}

async function openCodex(binary: string): Promise<LiveCli> {
  const fake = await startFakeOpenai(commands(['sleep 1']));
  const provider = { name: 'fake', base_url: fake.baseUrl, wire_api: 'responses', env_key: 'FAKE_KEY' };
  const config = ['--config', 'model_provider=fake', '--config', `model_providers.fake=${JSON.stringify(provider)}`];
  return {
    args: ['--runtime', 'codex', '--binary', binary, '--model', PLAIN_MODEL, ...config],
    environment: { FAKE_KEY: 'key-of-the-fake' },
    turns: () => fake.requests.filter((request) => request.step === 0).length,
    close: () => fake.close(),
  };
}

/** The host answers the request for the tool's permission, with or without an engine. */
async function openGemini(binary: string): Promise<LiveCli> {
  const fake = await GEMINI.start(acts(GEMINI, { act: 'shell', command: 'sleep 1' }));
  const environment = GEMINI.environment(fake.url);
  const variables = Object.keys(environment).flatMap((name) => ['--env', name]);
  return {
    args: ['--runtime', 'acp/gemini', '--binary', binary, '--model', GEMINI.model ?? '', ...variables],
    environment,
    turns: () => fake.requests.filter((request) => request.step === 0).length,
    close: () => fake.close(),
  };
}

const CLIS = [
  { name: 'claude', binary: CLAUDE_BINARY, open: openClaude, usual: 2 },
  { name: 'codex', binary: CODEX_BINARY, open: openCodex, usual: 2 },
  { name: 'gemini', binary: GEMINI.binary, open: openGemini, usual: 1 },
];

let room: EngineRoom;
let cli: LiveCli | undefined;
afterEach(async () => {
  await cli?.close();
  room.close();
});

describe.each(CLIS)('kill -9 of the engine during a turn of $name', ({ name, binary, open, usual }) => {
  const trials = Array.from({ length: Number(TRIALS ?? usual) }, (_, index) => index + 1);
  const test = it.skipIf(binary === undefined);

  const begin = async (): Promise<LiveCli> => {
    room = openEngineRoom();
    cli = await open(binary ?? '');
    return cli;
  };
  const resume = (live: LiveCli) => room.run([DEV_TURN, '--resume'], live.environment);

  test.each(trials)(`${name}, mid-turn: the same process is adopted and settles once (trial %i)`, async (trial) => {
    const live = await begin();
    const engine = room.start([DEV_TURN, 'go', ...live.args], live.environment);
    // Spread over the second that the tool takes.
    await engine.line((line) => line['type'] === 'tool-started');
    await pause((trial * 263) % 700);
    engine.child.kill('SIGKILL');
    await engine.finished;
    const [before] = attempts(room);
    expect(await isAlive(before)).toBe(true);
    const resumed = await resume(live);
    expect(resumed.lines.find((line) => line['type'] === 'attempt-taken')).toMatchObject({ how: 'attached' });
    expectOneSettlement(before, resumed);
    expect(live.turns()).toBe(1);
  });

  test.each(trials)(`${name}, after the agent's exit: harvested (trial %i)`, async () => {
    const live = await begin();
    const engine = room.start([DEV_TURN, 'go', ...live.args], live.environment);
    await engine.line((line) => line['type'] === 'tool-started');
    engine.child.kill('SIGKILL');
    await engine.finished;
    const [before] = attempts(room);
    await until(() => existsSync(join(stateOf(room.repository), 'turns', before?.id ?? '', 'exit')));
    await until(async () => !(await isAlive(before)));
    const resumed = await resume(live);
    expectOneSettlement(before, resumed);
    expect(live.turns()).toBe(1);
  });

  test.each(trials)(`${name}, before go: no agent ran (trial %i)`, async () => {
    const live = await begin();
    const environment = { ...live.environment, SQUAD_FAILPOINTS: 'process.before-go=kill' };
    const killed = await room.run([DEV_TURN, 'go', ...live.args], environment);
    expect(killed.signal).toBe('SIGKILL');
    await pause(300);
    expect(live.turns()).toBe(0);
    const resumed = await resume(live);
    expect(endOf(resumed)).toMatchObject({ outcome: 'completed' });
    expect(live.turns()).toBe(1);
    const [first, second] = settlements(room);
    expect(first?.result.failure).toMatchObject({ kind: 'never-started', mayHaveActed: false });
    expect(second?.result.outcome).toBe('completed');
    expectSound(room);
  });
});

describe('kill -9 of the engine while a request for permission is on its way', () => {
  const trials = Array.from({ length: Number(TRIALS ?? 1) }, (_, index) => index + 1);

  it.skipIf(GEMINI.binary === undefined).each(trials)(
    'gemini: the host answers, and the turn ends as if nothing had happened (trial %i)',
    async () => {
      const times: number[] = [];
      const fake = await GEMINI.start(async (request) => {
        times.push(Date.now());
        if (request.step > 0) return says('done');
        await pause(1500);
        times.push(Date.now());
        return GEMINI.reply({ act: 'shell', command: 'touch made.txt' }, request);
      });
      room = openEngineRoom();
      const agent = timed(room.root, GEMINI.binary ?? '');
      const own = GEMINI.environment(fake.url);
      const environment = { ...own, ...agent.environment };
      const variables = Object.keys(own).flatMap((variable) => ['--env', variable]);
      const args = ['--runtime', 'acp/gemini', '--binary', agent.binary, '--model', GEMINI.model ?? ''];
      cli = { args, environment, turns: () => 0, close: () => fake.close() };
      const engine = room.start([DEV_TURN, 'go', ...args, ...variables], environment);
      await engine.line((line) => line['type'] === 'session-announced');
      engine.child.kill('SIGKILL');
      await engine.finished;
      const [before] = attempts(room);
      await until(async () => !(await isAlive(before)));
      const resumed = await room.run([DEV_TURN, '--resume'], environment);
      expectOneSettlement(before, resumed);
      const [waited = Infinity, ...others] = answerTimes(settlements(room)[0]?.result.session?.home ?? '');
      process.stdout.write(`the request waited ${waited.toFixed(1)} ms\n`);
      expect(others).toEqual([]);
      expect(waited).toBeLessThan(ANSWERED_MS);
      expect(times).toHaveLength(3);
    },
  );
});

describe('kill -9 of the host', () => {
  const trials = Array.from({ length: Number(TRIALS ?? 1) }, (_, index) => index + 1);

  it.skipIf(GEMINI.binary === undefined).each(trials)(
    'gemini: nothing of the turn is left 10 s later, it is lost, and another does its work (trial %i)',
    async () => {
      room = openEngineRoom();
      cli = await openGemini(GEMINI.binary ?? '');
      const engine = room.start([DEV_TURN, 'go', ...cli.args], cli.environment);
      await engine.line((line) => line['type'] === 'tool-started');
      const [host] = acpHosts(room.repository);
      if (host === undefined) throw new Error('the turn has no host');
      process.kill(host.pid, 'SIGKILL');
      await until(() => markedPids(host.turn).length === 0, GONE_MS);
      expect(endOf(await engine.finished)).toMatchObject({ outcome: 'completed' });
      const ends = settlements(room).map((one) => one?.result.failure?.kind ?? one?.result.outcome);
      expect(ends).toEqual([expect.stringMatching(/^(?:lost|crashed)$/), 'completed']);
      expectSound(room);
    },
  );
});

async function isAlive(attempt: Attempt | undefined): Promise<boolean> {
  if (attempt?.process === undefined || attempt.process === null) throw new Error('nothing was spawned');
  return processes.isAlive(attempt.process);
}

function expectOneSettlement(before: Attempt | undefined, resumed: Finished): void {
  expect(endOf(resumed), resumed.stderr).toMatchObject({ outcome: 'completed', text: 'done' });
  const after = attempts(room);
  expect(after).toHaveLength(1);
  expect(after[0]?.process).toEqual(before?.process);
  const [settlement] = settlements(room);
  expect(settlement?.result.usage?.inputTokens).toBeGreaterThan(0);
  expect(settlement?.result.session?.id).toBe(sessionOf(resumed));
  expectSound(room);
}

function sessionOf(run: Finished): unknown {
  return run.lines.find((line) => line['type'] === 'session-announced')?.['id'];
}

function endOf(run: Finished): Record<string, unknown> | undefined {
  return run.lines.find((line) => line['type'] === 'turn-ended');
}

function attempts({ ledger }: EngineRoom): readonly Attempt[] {
  const open = ledger();
  try {
    return open.attempts({});
  } finally {
    open.close();
  }
}

function settlements({ ledger }: EngineRoom): (Settlement | undefined)[] {
  const open = ledger();
  try {
    return open.attempts({}).map((attempt) => open.settlement(attempt.id));
  } finally {
    open.close();
  }
}

function expectSound({ repository }: EngineRoom): void {
  const check = checkLedger(ledgerPath(stateOf(repository)));
  expect([...check.problems, ...check.violations]).toEqual([]);
  for (const attempt of attempts(room)) expect(markedPids(attempt.id)).toEqual([]);
}

async function until(holds: () => boolean | Promise<boolean>, most = 30_000): Promise<void> {
  for (let waited = 0; waited < most; waited += 50) {
    if (await holds()) return;
    await pause(50);
  }
  throw new Error(`it did not happen within ${most} ms`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
