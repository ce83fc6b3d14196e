import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { inProcess, turnIn, type AgentTurn } from '../../src/exports/langgraph.ts';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import type { AgentRuntime } from '../../src/exports/runtime.ts';
import type { RuntimeHarness, ScenarioName } from '../../src/testing/runtime-scenarios.ts';
import { idleOf, openBench } from './runtime-bench.ts';
import { ScriptedChatModel, type ModelReply, type ModelScript } from './scripted-chat-model.ts';

const NAME = 'mine';

const shell = (command: string): ModelReply => ({ tool: 'shell', input: { command } });
const after = (first: ModelReply, ...others: readonly ModelReply[]): ModelScript => {
  const replies = [first, ...others, 'done'];
  return (_messages, calls) => replies[calls] ?? 'done';
};
const fails = (message: string, status?: number): ModelScript => {
  const error = Object.assign(new Error(message), status === undefined ? {} : { status });
  return () => ({ error });
};

/** Each scenario as a script of the agent's model. */
function scriptOf(scenario: ScenarioName): ModelScript {
  switch (scenario) {
    case 'answer':
    case 'hermetic':
    case 'ignored-schema':
    case 'mcp-down':
      return () => 'hello from the agent';
    case 'echo':
      return (messages) => messages.at(-1)?.text ?? '';
    case 'empty':
      return () => '';
    case 'tool':
      return after(shell('echo tool-ran'));
    case 'failing-tool':
      return after(shell('exit 3'));
    case 'edit':
      return after({ tool: 'write', input: { path: 'made.txt', text: 'made by the agent\n' } });
    case 'commit':
      return after(
        { tool: 'write', input: { path: 'made.txt', text: 'made\n' } },
        shell('git add -A && git commit -m made'),
      );
    case 'structured':
      return () => '{"verdict":"approve","score":7}';
    case 'wrong-schema':
      return () => '{"verdict":"maybe"}';
    case 'mcp':
      return after({ tool: 'mcp__desk__note', input: { text: 'from the agent' } });
    case 'two-turns':
      return (messages) => (said(messages) === 0 ? 'first' : 'second');
    case 'long-tool':
      return after(shell('setsid sleep 30 & sleep 30'));
    case 'denied':
      return after(shell('touch denied.txt'));
    case 'slow':
      return after(shell('sleep 2'));
    case 'environment':
      return after(shell('env'));
    case 'bad-request':
      return fails('the request is malformed', 400);
    case 'unauthorized':
      return fails('Incorrect API key provided', 401);
    case 'forbidden':
      return fails('this account may not do that', 403);
    case 'unknown-model':
      return fails('the model does not exist', 404);
    case 'rate-limit':
      return fails('Too many requests', 429);
    case 'usage-limit':
      return fails(`You've hit your usage limit. Try again at ${new Date(Date.now() + 3_600_000).toISOString()}`, 429);
    case 'server-error':
      return fails('internal error', 500);
    case 'overloaded':
      return fails('overloaded', 529);
    case 'cut-stream':
      return fails('terminated');
    case 'refused-connection':
      return fails('connect ECONNREFUSED 127.0.0.1:9');
    case 'silent':
      return () => ({ silent: true });
  }
}

function said(messages: readonly BaseMessage[]): number {
  return messages.filter((message) => message.getType() === 'ai').length;
}

const write = tool(
  ({ path, text }, config) => {
    writeFileSync(join(turnIn(config).workspace, path), text);
    return path;
  },
  { name: 'write', description: 'Writes a file.', schema: z.object({ path: z.string(), text: z.string() }) },
);

const run = tool(async ({ command }, config) => runShell(turnIn(config), command), {
  name: 'shell',
  description: 'Runs a command.',
  schema: z.object({ command: z.string() }),
});

/** Ends its program when the turn is to end, as every tool of an agent has to. */
async function runShell({ access, workspace, environment, signal }: AgentTurn, command: string): Promise<string> {
  if (access.level === 'read-only') throw new Error('this turn may only read');
  const child = spawn('sh', ['-c', command], { cwd: workspace, env: environment, signal, killSignal: 'SIGKILL' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => resolve(status));
  });
  if (code !== 0) throw new Error(`exit ${code}: ${output}`);
  return output;
}

export const inProcessHarness: RuntimeHarness = {
  name: 'an agent of the application',
  failureBoundMs: 8000,
  skip: [
    {
      title: 'no variable of the host reaches the agent unless it is on the list',
      reason: 'it works in the process of the application, and reads the variables of that',
    },
  ],
  open: (scenario) =>
    openBench(({ home, stateDirectory, environment, processes, clock }) => {
      const received: string[] = [];
      const model = new ScriptedChatModel(scriptOf(scenario), (text) => received.push(text));
      const checkpointer = new MemorySaver();
      const agent = async (turn: AgentTurn) =>
        createReactAgent({ llm: model, tools: [run, write, ...turn.tools], checkpointer }).invoke(
          turn.input,
          turn.config,
        );
      const factory = inProcess(agent, { checkpointer, toolKinds: { shell: 'execute', write: 'edit' } });
      const machine = { userHome: home, platform: process.platform, architecture: process.arch, isRoot: false };
      const settings = { ...machine, environment, allowEnvironment: [], stateDirectory };
      return {
        makeRuntime: () => factory(settings, { name: NAME, processes, clock, node: process.execPath }) as AgentRuntime,
        request: { limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: idleOf(scenario), retryMs: 3000 } },
        received: () => received.join('\n'),
      };
    }),
};
