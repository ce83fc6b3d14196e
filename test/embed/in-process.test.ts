// @module-tag all
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  AgentFailure,
  inProcess,
  turnIn,
  type AgentTurn,
  type InProcessAgentOptions,
} from '../../src/exports/langgraph.ts';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import type { AgentRuntime } from '../../src/exports/runtime.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { author, commits, piece, plan, WITH_CRITIC } from '../runs/run-script.ts';
import { openBench } from '../support/runtime-bench.ts';
import { ScriptedChatModel } from '../support/scripted-chat-model.ts';

type Agent = Parameters<typeof inProcess>[0];

interface Bench {
  readonly runtime: AgentRuntime;
  start(changes?: Partial<TurnRequest>): {
    turn: ReturnType<AgentRuntime['start']>;
    events: TurnEvent[];
    spawned: Promise<void>;
  };
  run(changes?: Partial<TurnRequest>): Promise<TurnResult & { readonly events: TurnEvent[] }>;
}

async function benchOf(agent: Agent, options: InProcessAgentOptions = {}): Promise<Bench> {
  let turns = 0;
  const bench = await openBench(({ home, stateDirectory, environment, processes, clock }) => {
    const machine = { userHome: home, platform: process.platform, architecture: process.arch, isRoot: false };
    const settings = { ...machine, environment, allowEnvironment: [], stateDirectory };
    const ports = { name: 'mine', processes, clock, node: process.execPath };
    return { makeRuntime: () => inProcess(agent, options)(settings, ports) as AgentRuntime, received: () => '' };
  });
  onTestFinished(async () => bench.close());
  const directories = [await bench.directory(), await bench.directory(), await bench.directory()];
  const runtime = bench.runtime();
  const start: Bench['start'] = (changes = {}) => {
    turns += 1;
    const request: TurnRequest = {
      ...{ turnId: `in-process-${process.pid}-${Date.now()}-${turns}`, workspace: bench.workspace, prompt: 'Go.' },
      ...{ instructions: 'You are a member.', access: { level: 'edit' }, mcp: [], limits: DEFAULT_TURN_LIMITS },
      ...changes,
    };
    const events: TurnEvent[] = [];
    const spawned = Promise.withResolvers<void>();
    const turn = runtime.start(request, {
      directory: directories[turns - 1] ?? '',
      onEvent: (event) => events.push(event),
      onSpawned: () => Promise.resolve(spawned.resolve()),
    });
    return { turn, events, spawned: spawned.promise };
  };
  const run: Bench['run'] = async (changes) => {
    const { turn, events } = start(changes);
    return { ...(await turn.result), events };
  };
  return { runtime, start, run };
}

describe('an agent of the application', { timeout: 60_000 }, () => {
  it('that is a function without threads begins each turn anew', async () => {
    const { run } = await benchOf(async ({ prompt, instructions }: AgentTurn) => `${instructions} ${prompt}`);
    const result = await run();
    expect(result).toMatchObject({
      outcome: 'completed',
      text: expect.stringMatching(/^You are a member\. [^]*Go\.$/),
    });
    expect(result.session).toBeUndefined();
    expect(result.usage).toBeUndefined();
  });

  it('that is a runnable gets the instructions with its first prompt only, and its use is counted', async () => {
    const asked: string[][] = [];
    const model = new ScriptedChatModel((messages) => {
      asked.push(messages.map(({ text }) => text));
      return `answer ${asked.length}`;
    });
    const agent = createReactAgent({ llm: model, tools: [], checkpointer: new MemorySaver() });
    const { run } = await benchOf(agent);
    const first = await run();
    expect(first).toMatchObject({ text: 'answer 1', usage: { cachedInputTokens: 0, outputTokens: 7 }, steps: 1 });
    const second = await run({ ...(first.session && { session: first.session }), prompt: 'Again.' });
    expect(second).toMatchObject({ text: 'answer 2', usage: { outputTokens: 7 } });
    expect(asked[0]?.[0]).toMatch(/^You are a member\.\n\n[^]*Go\.$/);
    expect(asked[1]?.slice(1)).toEqual(['answer 1', 'Again.']);
  });

  it('is refused a model that it cannot take, and what only programs have', async () => {
    const { runtime, run } = await benchOf(new ScriptedChatModel(() => 'hello') as unknown as Agent);
    expect(await run({ model: 'opus' })).toMatchObject({ outcome: 'refused', failure: { setting: 'model' } });
    expect(await run({ effort: 'high' })).toMatchObject({ outcome: 'refused', failure: { setting: 'effort' } });
    expect(await runtime.probe()).toMatchObject({ ok: true, sandbox: 'none' });
    expect(runtime.description).toEqual({ onlyByName: true, reportsCost: false, inApplication: true });
  });

  it('may give a message, and its use is read from that', async () => {
    const usage = { input_tokens: 30, output_tokens: 2, total_tokens: 32, input_token_details: { cache_read: 20 } };
    const said = Object.assign(new AIMessage('hello'), { usage_metadata: usage });
    const { run } = await benchOf(async () => said);
    const use = { inputTokens: 10, cachedInputTokens: 20, outputTokens: 2 };
    expect(await run()).toMatchObject({ text: 'hello', usage: use });
  });

  it('fails its turn by what it throws, and nobody else’s', async () => {
    const { run } = await benchOf(() => Promise.reject(new AgentFailure('billing', 'nothing is paid')));
    expect(await run()).toMatchObject({ outcome: 'failed', failure: { kind: 'billing', message: 'nothing is paid' } });
    const broken = await benchOf(() => {
      throw new TypeError('x is not a function');
    });
    expect(await broken.run()).toMatchObject({ failure: { kind: 'crashed', message: 'x is not a function' } });
    const odd = await benchOf((async () => 7) as unknown as Agent);
    expect(await odd.run()).toMatchObject({ failure: { kind: 'bad-output' } });
  });

  it('hears of a cancel by its signal; one that works on all the same is said not to stop', async () => {
    const begun = Promise.withResolvers<void>();
    const obeys = await benchOf(async ({ signal }: AgentTurn) => {
      begun.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      return '';
    });
    const first = obeys.start();
    await begun.promise;
    const cancelled = await first.turn.cancel('enough');
    expect(cancelled).toMatchObject({ outcome: 'cancelled', failure: { message: 'enough' } });
    const released = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const ignores = await benchOf(async () => {
      started.resolve();
      return released.promise;
    });
    const second = ignores.start();
    await started.promise;
    const result = await second.turn.cancel('enough');
    released.resolve('late');
    expect(result.failure?.kind).toBe('not-stopped');
    expect(result.failure?.message).toContain('may still change');
  });

  it('has an answer for the tool call in which its last turn was cut short', async () => {
    const conversations: BaseMessage[][] = [];
    const model = new ScriptedChatModel((messages) => {
      conversations.push([...messages]);
      return messages.some(({ content }) => content === 'Again.') ? 'done' : { tool: 'wait', input: {} };
    });
    const called = Promise.withResolvers<void>();
    const wait = tool(
      async (_input, config) => {
        called.resolve();
        const { signal } = turnIn(config);
        return new Promise<string>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('cut'))),
        );
      },
      { name: 'wait', description: 'Waits.', schema: z.object({}) },
    );
    const { start, run } = await benchOf(
      createReactAgent({ llm: model, tools: [wait], checkpointer: new MemorySaver() }),
    );
    const first = start();
    await called.promise;
    await expect.poll(() => first.events.some(({ type }) => type === 'tool-started')).toBe(true);
    const { session } = await first.turn.cancel('enough');
    expect(session).toBeDefined();
    expect(await run({ ...(session && { session }), prompt: 'Again.' })).toMatchObject({ text: 'done' });
    const types = conversations.at(-1)?.map((message) => message.getType());
    expect(types).toEqual(['human', 'ai', 'tool', 'human']);
    expect(conversations.at(-1)?.at(-1)).toBeInstanceOf(HumanMessage);
  });
});

const FIXTURE = fileURLToPath(new URL('../fixtures/embedding/own-reviewer.ts', import.meta.url));

function benchWithCritic(): RunBench {
  const bench = openRunBench({
    script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' }))],
    settings: { agents: WITH_CRITIC },
  });
  onTestFinished(() => bench.end());
  return bench;
}

function startApplication(bench: RunBench, verb: 'run' | 'resume'): { child: ChildProcess; ended: Promise<string> } {
  const child = spawn(process.execPath, [FIXTURE, bench.root, verb], {
    env: { PATH: process.env['PATH'], HOME: bench.root },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part) => (text += String(part)));
  return { child, ended: new Promise((resolve) => child.once('exit', () => resolve(text))) };
}

describe('a run with an agent of the application', { timeout: 120_000 }, () => {
  it('loses its turn with the application, is refused without it, and continues in it', async () => {
    const bench = benchWithCritic();
    const first = startApplication(bench, 'run');
    await expect.poll(() => existsSync(join(bench.root, 'review-begun')), { timeout: 60_000 }).toBe(true);
    first.child.kill('SIGKILL');
    await first.ended;
    // What stood for the agent ends with the application.
    await expect.poll(() => bench.alive(), { timeout: 10_000 }).toEqual([]);
    for (const more of [[], ['--detach']]) {
      const shell = await bench.run(['resume', ...more], {});
      expect([shell.code, shell.stderr]).toEqual([78, expect.stringContaining('needs the runtime critic')]);
      expect(shell.stderr).toContain('It is part of the application that started the run');
    }
    const second = startApplication(bench, 'resume');
    expect(JSON.parse(await second.ended)).toEqual({ outcome: 'done', failures: ['lost'] });
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    const nothing = 'nothing confines critic: an agent of the application works in its process and has its rights';
    expect(await bench.report()).toContain(nothing);
  });

  it('is refused by the command line before it begins', async () => {
    const bench = benchWithCritic();
    const { code, stderr } = await bench.run(['run', 'objective.md', '--yes']);
    expect([code, stderr]).toEqual([65, expect.stringContaining('not “critic”')]);
  });
});
