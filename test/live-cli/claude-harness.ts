import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { createClaudeAdapter } from '../../src/runtimes/claude/index.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import type { RuntimeBench, RuntimeHarness, ScenarioName } from '../../src/testing/runtime-scenarios.ts';
import { openBench, type BenchParts } from '../support/runtime-bench.ts';
import { calls, fails, runs, says, startFakeAnthropic, type FakeRequest, type FakeScript } from './fake-anthropic.ts';

/** Absolute path of the real binary; the live lane sets it. */
export const CLAUDE_BINARY = process.env['SQUAD_LIVE_CLAUDE'];
export const NO_BINARY = 'SQUAD_LIVE_CLAUDE does not name a claude binary';

function scriptOf(scenario: ScenarioName): FakeScript {
  switch (scenario) {
    case 'answer':
    case 'hermetic':
      return [says('hello from the agent')];
    case 'empty':
      return [says('')];
    case 'echo':
      return (request) => says(request.prompt);
    case 'tool':
      return [runs('echo tool-ran'), says('done')];
    case 'failing-tool':
      return [runs('exit 3'), says('done')];
    case 'edit':
      return ({ step, raw }) => (step === 0 ? calls('Write', madeFile(raw, 'made by the agent\n')) : says('done'));
    case 'commit':
      return [runs('echo made > made.txt'), runs('git add -A && git commit -m made'), says('done')];
    case 'structured':
      return [calls('StructuredOutput', { verdict: 'approve', score: 7 })];
    case 'ignored-schema':
      return [says('I would rather talk about it.')];
    case 'wrong-schema':
      return [calls('StructuredOutput', { verdict: 'maybe' })];
    case 'mcp':
      return [calls('mcp__desk__note', { text: 'from the agent' }), says('done')];
    case 'mcp-down':
      return [says('done')];
    case 'two-turns':
      return ({ answers }) => says(answers > 0 ? 'second' : 'first');
    case 'long-tool':
      return [runs('setsid sleep 30 & sleep 30'), says('done')];
    case 'denied':
      return [calls('Write', { file_path: '/denied-by-squad.txt', content: 'x' }), says('done')];
    case 'slow':
      return [runs('sleep 2'), says('done')];
    case 'environment':
      return [runs('env'), says('done')];
    case 'bad-request':
      return [fails(400, 'invalid_request_error', 'messages: malformed')];
    case 'unauthorized':
      return [fails(401, 'authentication_error', 'invalid x-api-key')];
    case 'forbidden':
      return [fails(403, 'permission_error', 'Your account does not have access')];
    case 'unknown-model':
      return [fails(404, 'not_found_error', 'model: unknown')];
    case 'rate-limit':
      return [fails(429, 'rate_limit_error', 'This request would exceed your rate limit')];
    case 'usage-limit':
      return [fails(429, 'rate_limit_error', 'Usage limit reached', LIMIT_HEADERS)];
    case 'server-error':
      return [fails(500, 'api_error', 'Internal server error')];
    case 'overloaded':
      return [fails(529, 'overloaded_error', 'Overloaded')];
    case 'cut-stream':
      return [{ type: 'cut', text: 'half an ans' }];
    case 'refused-connection':
      return [];
    case 'silent':
      return [{ type: 'hang' }];
  }
}

/** What the API sends when a subscription's limit is used up. */
const LIMIT_HEADERS = {
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-reset': String(Math.floor(Date.now() / 1000) + 3600),
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
};

/** The tool wants an absolute path; the CLI tells the model where it works. */
function madeFile(raw: string, content: string): Record<string, unknown> {
  const folder = /Primary working directory: ([^\s"\\]+)/.exec(raw)?.[1] ?? '/unknown';
  return { file_path: `${folder}/made.txt`, content };
}

export interface ClaudeBench extends RuntimeBench {
  readonly requests: readonly FakeRequest[];
  readonly parts: BenchParts;
}

export interface ClaudeBenchOptions {
  readonly baseUrl?: string;
  /** InputRecords what the bench sets; an undefined value unsets. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A bench with the real binary, a scripted model behind it, and a private home (the fake's key is set). */
export async function openClaudeBench(script: FakeScript, options: ClaudeBenchOptions = {}): Promise<ClaudeBench> {
  const fake = await startFakeAnthropic(script);
  let kept: BenchParts | undefined;
  const bench = await openBench((parts) => {
    kept = parts;
    return {
      makeRuntime: () => makeRuntime(parts, options.baseUrl ?? fake.url, options.environment ?? {}),
      request: { limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 5000, retryMs: 9000 } },
      received: () => fake.requests.map(({ raw }) => raw).join('\n'),
      close: () => fake.close(),
    };
  });
  if (kept === undefined) throw new Error('the bench was not arranged');
  return Object.assign(bench, { requests: fake.requests, parts: kept });
}

function makeRuntime(parts: BenchParts, baseUrl: string, extra: ClaudeBenchOptions['environment']): AgentRuntime {
  const adapter = createClaudeAdapter(
    {
      ...(CLAUDE_BINARY === undefined ? {} : { binary: CLAUDE_BINARY }),
      environment: {
        ...parts.environment,
        ANTHROPIC_API_KEY: 'key-of-the-fake',
        ANTHROPIC_BASE_URL: baseUrl,
        ...extra,
      },
      allowEnvironment: [],
      stateDirectory: parts.stateDirectory,
      userHome: parts.home,
      platform: process.platform,
      architecture: process.arch,
      isRoot: process.getuid?.() === 0,
    },
    { processes: parts.processes },
  );
  return createCliRuntime(adapter, { processes: parts.processes, clock: parts.clock });
}

/** Only a login of a subscription is told its limits; the token is as fake as the key. */
const WITH_LOGIN = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'token-of-the-fake' };

export const claudeHarness: RuntimeHarness = {
  name: 'claude',
  failureBoundMs: 20_000,
  open: (scenario) =>
    openClaudeBench(scriptOf(scenario), {
      ...(scenario === 'refused-connection' ? { baseUrl: 'http://127.0.0.1:9' } : {}),
      ...(scenario === 'usage-limit' ? { environment: WITH_LOGIN } : {}),
    }),
};
