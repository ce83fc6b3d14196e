import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import { createScriptedAdapter } from '../../src/runtimes/scripted/index.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import type { RuntimeHarness, ScenarioName } from '../../src/testing/runtime-scenarios.ts';
import { idleOf, openBench, type BenchParts } from './runtime-bench.ts';

type Step = Record<string, unknown>;
type Script = { turns: { when?: string; turn?: number; steps: Step[]; structured?: unknown; lingers?: boolean }[] };

const done: Step[] = [{ answer: 'done' }];
const failing = (kind: string, more: object = {}): Script => ({
  turns: [{ steps: [{ fail: { kind, message: `the script says ${kind}`, ...more } }] }],
});

/** Each scenario as a script. `log` is a file in which a script leaves what it received. */
function scriptOf(scenario: ScenarioName, log: string): Script {
  const keep: Step = { run: ['sh', '-c', 'cat "$0" >> "$1"', 'AGENTS.md', log] };
  switch (scenario) {
    case 'empty':
      return { turns: [{ steps: [] }] };
    case 'echo':
      return { turns: [{ steps: [{ answer: '{prompt}' }] }] };
    case 'tool':
      return { turns: [{ steps: [{ run: ['echo', 'tool-ran'] }, ...done] }] };
    case 'failing-tool':
      return { turns: [{ steps: [{ run: ['sh', '-c', 'exit 3'] }, ...done] }] };
    case 'edit':
      return { turns: [{ steps: [{ write: { path: 'made.txt', text: 'made by the agent\n' } }, ...done] }] };
    case 'commit': {
      const write = { write: { path: 'made.txt', text: 'made\n' } };
      const commit = [{ run: ['git', 'add', '-A'] }, { run: ['git', 'commit', '-m', 'made'] }];
      return { turns: [{ steps: [write, ...commit, ...done] }] };
    }
    case 'structured':
      return { turns: [{ steps: done, structured: { verdict: 'approve', score: 7 } }] };
    case 'wrong-schema':
      return { turns: [{ steps: done, structured: { verdict: 'maybe' } }] };
    case 'two-turns':
      return {
        turns: [
          { turn: 1, steps: [{ answer: 'first' }] },
          { turn: 2, steps: [{ answer: 'second' }] },
        ],
      };
    case 'long-tool':
      return { turns: [{ steps: [{ run: ['sh', '-c', 'setsid sleep 30 & sleep 30'] }, ...done] }] };
    case 'denied':
      return { turns: [{ steps: [{ deny: 'run' }, ...done] }] };
    case 'slow':
      return { turns: [{ steps: [{ run: ['sleep', '2'] }, ...done] }] };
    case 'environment':
      return { turns: [{ steps: [{ run: ['env'] }, ...done] }] };
    case 'hermetic':
      return { turns: [{ steps: [keep, { answer: 'hello from the agent' }] }] };
    case 'bad-request':
      return failing('bad-request', { httpStatus: 400 });
    case 'unauthorized':
    case 'forbidden':
      return failing('auth', { httpStatus: scenario === 'forbidden' ? 403 : 401 });
    case 'unknown-model':
      return failing('model-unavailable', { httpStatus: 404 });
    case 'rate-limit':
      return { turns: [{ steps: [{ retry: { kind: 'rate-limited', message: '429' } }, { hang: true }] }] };
    case 'usage-limit':
      return failing('quota-exhausted', { retryAt: Date.now() + 60_000 });
    case 'server-error':
      return failing('server-error', { httpStatus: 500 });
    case 'overloaded':
      return failing('overloaded', { httpStatus: 529 });
    case 'cut-stream':
    case 'refused-connection':
      return failing('network');
    case 'silent':
      return { turns: [{ steps: [{ hang: true }] }] };
    case 'mcp':
      return { turns: [{ steps: [{ mcp: 'desk', tool: 'note', arguments: { text: 'from the agent' } }, ...done] }] };
    case 'answer':
    case 'ignored-schema':
    case 'mcp-down':
      return { turns: [{ steps: [{ answer: 'hello from the agent' }] }] };
  }
}

/** The suite's harness for anything that drives the player; `makeRuntime` is what differs. */
export function playerHarness(
  name: string,
  makeRuntime: (parts: BenchParts, script: string) => AgentRuntime,
  skip: NonNullable<RuntimeHarness['skip']>,
): RuntimeHarness {
  return {
    name,
    failureBoundMs: 8000,
    skip,
    open: (scenario) =>
      openBench((parts) => {
        const script = join(parts.root, 'script.json');
        const log = join(parts.root, 'received.log');
        const turns = join(parts.root, '.squad', 'turns');
        writeFileSync(script, JSON.stringify(scriptOf(scenario, log)));
        appendFileSync(log, '');
        return {
          makeRuntime: () => makeRuntime(parts, script),
          request: { limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: idleOf(scenario), retryMs: 3000 } },
          received: () => {
            // The prompt file is there before the program is; what it printed shows that it ran and read it.
            const ran = [1, 2, 3]
              .map((turn) => join(turns, String(turn)))
              .filter((path) => existsSync(join(path, 'stdout')));
            const sent = ran
              .filter((path) => statSync(join(path, 'stdout')).size > 0)
              .map((path) => JSON.stringify(readFileSync(join(path, 'prompt'), 'utf8')));
            return [...sent, readFileSync(log, 'utf8')].join('\n');
          },
        };
      }),
  };
}

export const scriptedHarness: RuntimeHarness = playerHarness(
  'scripted',
  (parts, script) =>
    createCliRuntime(
      createScriptedAdapter({
        binary: process.execPath,
        environment: parts.environment,
        allowEnvironment: [],
        stateDirectory: parts.stateDirectory,
        userHome: parts.home,
        platform: process.platform,
        architecture: process.arch,
        isRoot: process.getuid?.() === 0,
        config: { script },
      }),
      { processes: parts.processes, clock: parts.clock },
    ),
  [],
);
