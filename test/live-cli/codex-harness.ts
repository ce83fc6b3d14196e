import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { createCodexAdapter } from '../../src/runtimes/codex/index.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import type { RuntimeBench, RuntimeHarness, ScenarioName } from '../../src/testing/runtime-scenarios.ts';
import { openBench, type BenchParts } from '../support/runtime-bench.ts';
import { shellCall, startFakeOpenai, type FakeReply, type FakeRequest, type FakeScript } from './fake-openai.ts';

/** Absolute path of the real binary; the live lane sets it. */
export const CODEX_BINARY = process.env['SQUAD_LIVE_CODEX'];
export const NO_BINARY = 'SQUAD_LIVE_CODEX does not name a codex binary';

/** A model that Codex does not know gets plain tools instead of one that takes JavaScript. */
export const PLAIN_MODEL = 'fake-model';

const text = (answer: string): FakeReply => ({ type: 'text', text: answer });
const fails = (failure: Extract<FakeReply, { type: 'failure' }>['failure']): FakeScript => [
  { type: 'failure', failure },
];

/** A model that runs these commands, one after the other, and then answers. */
export function commands(scripts: readonly string[], answer = 'done'): (request: FakeRequest) => FakeReply {
  return (request) => {
    const script = scripts[request.step];
    return script === undefined ? text(answer) : { type: 'calls', calls: [shellCall(request, script)] };
  };
}

function scriptOf(scenario: ScenarioName): FakeScript {
  switch (scenario) {
    case 'answer':
    case 'hermetic':
      return [text('hello from the agent')];
    case 'empty':
      return [text('')];
    case 'echo':
      return (request) => text(request.said('user'));
    case 'tool':
      return commands(['echo tool-ran']);
    case 'failing-tool':
      return commands(['exit 3']);
    case 'edit':
      return commands(['echo "made by the agent" > made.txt']);
    case 'commit':
      return commands(['echo made > made.txt', 'git add -A', 'git commit -m made']);
    case 'structured':
      return [text('{"verdict":"approve","score":7}')];
    case 'ignored-schema':
      return [text('I would rather talk about it.')];
    case 'wrong-schema':
      return [text('{"verdict":"maybe"}')];
    case 'mcp':
      return (request) =>
        request.step > 0
          ? text('done')
          : { type: 'calls', calls: [{ namespace: 'mcp__desk', name: 'note', arguments: { text: 'from the agent' } }] };
    case 'mcp-down':
      return [text('done')];
    case 'two-turns':
      return (request) => text(userWords(request) > 1 ? 'second' : 'first');
    case 'long-tool':
      return commands(['setsid sleep 30 & sleep 30']);
    case 'denied':
      // Said aloud, "Read-only file system" makes codex 0.169 hide the call's event; codex-sandbox.test.ts shows it.
      return commands(['touch denied.txt 2> /dev/null']);
    case 'slow':
      return commands(['sleep 2']);
    case 'environment':
      return commands(['env']);
    case 'bad-request':
      return fails('bad-request');
    case 'unauthorized':
      return fails('unauthorized');
    case 'forbidden':
      return fails('forbidden');
    case 'unknown-model':
      return fails('model-not-found');
    case 'rate-limit':
      return fails('rate-limited');
    case 'usage-limit':
      return fails('usage-limit');
    case 'server-error':
      return fails('server-error');
    case 'overloaded':
      return fails('overloaded');
    case 'cut-stream':
      return fails('cut-stream');
    case 'refused-connection':
      return [];
    case 'silent':
      return fails('hang');
  }
}

/** The conversation so far has one answer of the model for each turn before this one. */
function userWords(request: FakeRequest): number {
  const answers = (request.body.input ?? []).filter((item) => item.role === 'assistant');
  return answers.length + 1;
}

export interface CodexBench extends RuntimeBench {
  readonly requests: readonly FakeRequest[];
  readonly parts: BenchParts;
}

/** A bench with the real binary, a scripted model behind it, and a private home (the fake's key is set). */
export async function openCodexBench(script: FakeScript, options: CodexBenchOptions = {}): Promise<CodexBench> {
  const fake = await startFakeOpenai(script);
  let kept: BenchParts | undefined;
  const bench = await openBench((parts) => {
    kept = parts;
    return {
      makeRuntime: () => makeRuntime(parts, options.baseUrl ?? fake.baseUrl, options),
      request: {
        ...(options.model === null ? {} : { model: options.model ?? PLAIN_MODEL }),
        limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 5000, retryMs: 10_000 },
      },
      received: () => fake.requests.map((request) => JSON.stringify(request.body)).join('\n'),
      close: () => fake.close(),
    };
  });
  if (kept === undefined) throw new Error('the bench was not arranged');
  return Object.assign(bench, { requests: fake.requests, parts: kept });
}

export interface CodexBenchOptions {
  readonly baseUrl?: string;
  /** null: Codex's own default model, which runs in code mode. */
  readonly model?: string | null;
  /** No key in the environment: the turn runs in the user's own home, as with a ChatGPT login. */
  readonly keyless?: boolean;
}

function makeRuntime(parts: BenchParts, baseUrl: string, options: CodexBenchOptions): AgentRuntime {
  const key = options.keyless === true ? {} : { env_key: 'FAKE_KEY' };
  const provider = { name: 'fake', base_url: baseUrl, wire_api: 'responses', ...key };
  const retries = { request_max_retries: 0, stream_max_retries: 1 };
  const adapter = createCodexAdapter(
    {
      ...(CODEX_BINARY === undefined ? {} : { binary: CODEX_BINARY }),
      environment: { ...parts.environment, FAKE_KEY: 'key-of-the-fake' },
      allowEnvironment: [],
      stateDirectory: parts.stateDirectory,
      userHome: parts.home,
      platform: process.platform,
      architecture: process.arch,
      isRoot: process.getuid?.() === 0,
      config: { model_provider: 'fake', 'model_providers.fake': { ...provider, ...retries } },
    },
    { processes: parts.processes },
  );
  return createCliRuntime(adapter, { processes: parts.processes, clock: parts.clock });
}

export const codexHarness: RuntimeHarness = {
  name: 'codex',
  failureBoundMs: 15_000,
  open: (scenario) =>
    openCodexBench(scriptOf(scenario), scenario === 'refused-connection' ? { baseUrl: 'http://127.0.0.1:9/v1' } : {}),
};
