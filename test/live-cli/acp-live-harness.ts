import { join } from 'node:path';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { createAcpAdapter } from '../../src/runtimes/acp/index.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import type {
  ConversationScenario,
  RuntimeBench,
  RuntimeHarness,
  ScenarioName,
} from '../../src/testing/runtime-scenarios.ts';
import { openBench, type BenchParts } from '../support/runtime-bench.ts';
import type { AcpLiveAgent, ApiFailure } from './acp-agents.ts';
import { fails, says, type FakeReply, type FakeRequest, type FakeScript } from './fake-anthropic.ts';
import type { Act } from './turn-scripts.ts';

const say = (text: string): Act => ({ act: 'say', text });
const shell = (command: string): Act => ({ act: 'shell', command });
const DONE = say('done');

/** The model does these acts, one after the other, and then answers. */
export function acts(agent: AcpLiveAgent, ...list: readonly Act[]): FakeScript {
  return (request) => agent.reply(list[request.step] ?? DONE, request);
}

type AcpScenario = ScenarioName | ConversationScenario;

function scriptOf(agent: AcpLiveAgent, scenario: AcpScenario): FakeScript {
  const script = (...list: readonly Act[]): FakeScript => acts(agent, ...list);
  switch (scenario) {
    case 'answer':
    case 'hermetic':
      return [says('hello from the agent')];
    case 'empty':
      return [says('')];
    case 'echo':
      // The suite looks at what the model received; Gemini takes a repeated text for a loop.
      return [says('received')];
    case 'tool':
      return script(shell('echo tool-ran'));
    case 'failing-tool':
      return script(shell('exit 3'));
    case 'edit':
      return script({ act: 'write', path: 'made.txt', text: 'made by the agent\n' });
    case 'commit':
      return script(shell('echo made > made.txt'), shell('git add -A'), shell('git commit -m made'));
    case 'structured':
      return script({ act: 'answer', value: { verdict: 'approve', score: 7 } });
    case 'ignored-schema':
      return [says('I would rather talk about it.')];
    case 'wrong-schema':
      return script({ act: 'answer', value: { verdict: 'maybe' } });
    case 'mcp':
      return script({ act: 'mail', server: 'desk', tool: 'note', arguments: { text: 'from the agent' } });
    case 'mcp-down':
      return [DONE_REPLY];
    case 'two-turns':
      return ({ answers }) => says(answers > 0 ? 'second' : 'first');
    case 'long-tool':
      return script(shell('setsid sleep 30 & sleep 30'));
    case 'denied':
      return script({ act: 'write', path: '../denied-by-squad.txt', text: 'x' });
    case 'slow':
      return script(shell('sleep 2'));
    case 'environment':
      return script(shell('env'));
    case 'usage-limit':
      return [usedUp(agent)];
    case 'cut-stream':
      return [{ type: 'cut', text: 'half an ans' }];
    case 'refused-connection':
      return [];
    case 'silent':
      return [{ type: 'hang' }];
    case 'late-request':
      return later(script(shell('echo tool-ran > ran.txt && cat ran.txt')));
    case 'asked-person':
      return script({ act: 'write', path: 'asked.txt', text: 'yes\n' });
    case 'open-text':
      return [{ type: 'message', pauseMs: 200, blocks: [{ type: 'text', text: 'still thinking '.repeat(200) }] }];
    case 'history':
      return (request) => {
        if (request.step === 0 && request.answers > 0) return says('second');
        return agent.reply([shell('echo tool-ran')][request.step] ?? say('first'), request);
      };
    case 'repaired-answer':
      return (request) =>
        request.answers === 0
          ? says('It is approved.')
          : agent.reply({ act: 'answer', value: { verdict: 'approve', score: 7 } }, request);
    default:
      return [agent.failures[scenario satisfies ApiFailure]];
  }
}

const DONE_REPLY = says('done');

function later(script: FakeScript): FakeScript {
  return async (request: FakeRequest): Promise<FakeReply> => {
    if (request.step === 0) await new Promise((resolve) => setTimeout(resolve, 1500));
    return typeof script === 'function' ? script(request) : DONE_REPLY;
  };
}

/** The quota is used up for an hour. OpenCode and Copilot pass on what the API says, and none of its headers. */
function usedUp({ name }: AcpLiveAgent): FakeReply {
  if (name !== 'gemini') {
    const message = 'Usage limit reached. Please try again in 1 hour.';
    return fails(429, 'rate_limit_error', message, { 'retry-after': '3600' });
  }
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3600s' };
  const message = 'You exceeded your current quota, please check your plan and billing details.';
  return { type: 'failure', status: 429, error: 'RESOURCE_EXHAUSTED', message, details: [retry] };
}

export interface AcpBench extends RuntimeBench {
  readonly requests: readonly FakeRequest[];
  readonly parts: BenchParts;
}

/** A bench with the real agent and a scripted model behind it. */
export async function openAcpBench(
  agent: AcpLiveAgent,
  script: FakeScript,
  options: { baseUrl?: string } = {},
): Promise<AcpBench> {
  const fake = await agent.start(script);
  let kept: BenchParts | undefined;
  const bench = await openBench((parts) => {
    kept = parts;
    return {
      makeRuntime: () => makeRuntime(agent, parts, options.baseUrl ?? fake.url),
      request: {
        ...(agent.model === undefined ? {} : { model: agent.model }),
        limits: { ...DEFAULT_TURN_LIMITS, wallMs: 120_000, idleMs: 45_000, retryMs: 40_000 },
      },
      received: () => fake.requests.map(({ raw }) => raw).join('\n'),
      close: () => fake.close(),
    };
  });
  if (kept === undefined) throw new Error('the bench was not arranged');
  const own = { requests: fake.requests, parts: kept, reportsNoUsage: agent.reportsNoUsage === true };
  return Object.assign(bench, own);
}

function makeRuntime(agent: AcpLiveAgent, parts: BenchParts, url: string): AgentRuntime {
  const ports = { processes: parts.processes, clock: parts.clock };
  const adapter = createAcpAdapter(
    agent.name,
    {
      ...(agent.binary === undefined ? {} : { binary: agent.binary }),
      environment: { ...parts.environment, ...agent.environment(url) },
      allowEnvironment: Object.keys(agent.environment(url)),
      // The bench's clones borrow its objects.
      config: { read: [join(parts.root, 'repository')] },
      stateDirectory: parts.stateDirectory,
      userHome: parts.home,
      platform: process.platform,
      architecture: process.arch,
      isRoot: process.getuid?.() === 0,
    },
    { ...ports, node: process.execPath },
  );
  return createCliRuntime(adapter, ports);
}

export function liveHarness(agent: AcpLiveAgent): RuntimeHarness {
  const open = (scenario: AcpScenario): Promise<AcpBench> =>
    openAcpBench(
      agent,
      scriptOf(agent, scenario),
      scenario === 'refused-connection' ? { baseUrl: 'http://127.0.0.1:9' } : {},
    );
  return { name: `acp/${agent.name}`, failureBoundMs: 125_000, open, openConversation: open, skip: agent.skip };
}
