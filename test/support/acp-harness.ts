import { join } from 'node:path';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { createAcpAdapter } from '../../src/runtimes/acp/index.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import type { RuntimeSettings } from '../../src/runtimes/shared/cli-adapter.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import type { ConversationScenario, RuntimeHarness, ScenarioName } from '../../src/testing/runtime-scenarios.ts';
import { fakeAcpArguments, fakeAcpNotes, type FakeAcpScript, type FakeStep } from './fake-acp-agent.ts';
import { idleOf, openBench, type BenchParts } from './runtime-bench.ts';
import './on-disk.ts';

const say = (text: string): FakeStep => ({ say: text, chunks: 3 });
const run = (line: string): FakeStep => ({ run: line, ask: true });
const made = (text: string): FakeStep => ({ write: { path: 'made.txt', text }, ask: true });
const one = (...steps: FakeStep[]): FakeAcpScript => ({ turns: [{ steps }] });
const failing = (code: number, message: string, data?: object): FakeAcpScript =>
  one({ error: { code, message, ...(data === undefined ? {} : { data }) } });

/** Each scenario as a script of the fake agent. */
function scriptOf(scenario: ScenarioName | ConversationScenario): FakeAcpScript {
  switch (scenario) {
    case 'answer':
    case 'mcp-down':
      return one(say('hello from the agent'));
    case 'hermetic':
      return one({ read: 'AGENTS.md' }, say('hello from the agent'));
    case 'echo':
      return one(say('{prompt}'));
    case 'empty':
      return one();
    case 'tool':
      return one(run('echo tool-ran'), say('done'));
    case 'failing-tool':
      return one(run('exit 3'), say('done'));
    case 'edit':
      return one(made('made by the agent\n'), say('done'));
    case 'commit':
      return one(made('made\n'), run('git add -A'), run('git commit -m made'), say('done'));
    case 'structured':
      return one(say('{"verdict":"approve","score":7}'));
    case 'ignored-schema':
      return one(say('It is approved.'));
    case 'wrong-schema':
      return one(say('{"verdict":"maybe"}'));
    case 'mcp':
      return one({ mcp: 'desk', tool: 'note', arguments: { text: 'from the agent' }, ask: true }, say('done'));
    case 'two-turns':
      return {
        turns: [
          { turn: 1, steps: [say('first')] },
          { turn: 2, steps: [say('second')] },
        ],
      };
    case 'long-tool':
      return one(run('setsid sleep 30 & sleep 30'), say('done'));
    case 'denied':
      return one(run('touch not-allowed'), say('done'));
    case 'slow':
      return one(run('sleep 2'), say('done'));
    case 'environment':
      return one(run('env'), say('done'));
    case 'bad-request':
      return failing(400, 'Request contains an invalid argument.');
    case 'unauthorized':
      return failing(401, 'API key not valid. Please pass a valid API key.');
    case 'forbidden':
      return failing(403, 'The caller does not have permission');
    case 'unknown-model':
      return failing(404, 'models/none is not found');
    case 'rate-limit':
      return failing(-32603, 'API Error: Request rejected (429)', { errorKind: 'rate_limit' });
    case 'usage-limit':
      return one({ error: { code: -32603, message: 'You’ve hit your usage limit. Try again in 34m13s.' } });
    case 'server-error':
      return failing(500, 'Internal error encountered.');
    case 'overloaded':
      return failing(503, 'The model is overloaded. Please try again later.');
    case 'cut-stream':
      return failing(-32603, 'stream disconnected before completion');
    case 'refused-connection':
      return failing(-32603, 'fetch failed: connect ECONNREFUSED 127.0.0.1:9');
    case 'silent':
      return one({ hang: true });
    case 'late-request':
      return one({ sleep: 1000 }, run('echo tool-ran'), say('done'));
    case 'asked-person':
      return one({ write: { path: 'asked.txt', text: 'yes\n' }, kind: 'other', ask: true }, say('done'));
    case 'open-text':
      return one(say('still thinking'), { hang: true });
    case 'history':
      return {
        initialize: { agentCapabilities: { sessionCapabilities: {} } },
        on: { load: [{ replay: 50 }] },
        turns: [
          { turn: 1, steps: [run('echo tool-ran'), say('first')] },
          { turn: 2, steps: [say('second')] },
        ],
      };
    case 'repaired-answer':
      return { turns: [{ steps: [say('It is approved.')], repair: [say('{"verdict":"approve","score":7}')] }] };
  }
}

/** A runtime `acp/<agent>` whose agent plays this script, or the one in this file. */
export function fakeAcpRuntime(
  parts: BenchParts,
  script: FakeAcpScript | string,
  more: Partial<RuntimeSettings> = {},
  agent = 'fake',
): AgentRuntime {
  const settings: RuntimeSettings = {
    binary: process.execPath,
    environment: parts.environment,
    allowEnvironment: [],
    stateDirectory: parts.stateDirectory,
    userHome: parts.home,
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    // What the clones of a bench borrow.
    config: { args: fakeAcpArguments(script), read: [join(parts.root, 'repository')] },
    ...more,
  };
  const ports = { processes: parts.processes, clock: parts.clock };
  return createCliRuntime(createAcpAdapter(agent, settings, { ...ports, node: process.execPath }), ports);
}

function open(scenario: ScenarioName | ConversationScenario): ReturnType<RuntimeHarness['open']> {
  return openBench((parts) => ({
    makeRuntime: () => fakeAcpRuntime(parts, scriptOf(scenario)),
    request: { limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: idleOf(scenario), retryMs: 3000 } },
    received: () => fakeAcpNotes(parts.stateDirectory, 'received.jsonl').join('\n'),
  }));
}

export const acpHarness: RuntimeHarness = { name: 'acp', failureBoundMs: 8000, open, openConversation: open };
