import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { createAntigravityAdapter } from '../../src/runtimes/antigravity/index.ts';
import type { RuntimeSettings } from '../../src/runtimes/shared/cli-adapter.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import type { RuntimeBench, RuntimeHarness, ScenarioName } from '../../src/testing/runtime-scenarios.ts';
import { openBench, type BenchParts } from './runtime-bench.ts';
import './on-disk.ts';

export const FAKE_AGY = fileURLToPath(new URL('./fake-agy.mjs', import.meta.url));

type Step = Record<string, unknown>;
export interface AgyScript {
  readonly turns: readonly { when?: string; turn?: number; steps: readonly Step[]; structured?: unknown }[];
  readonly version?: string;
  readonly models?: readonly string[];
  /** It does not end on SIGINT. */
  readonly deaf?: boolean;
}

/** What the emulator needs in its cage: itself, its script, and the objects that the bench's clones borrow. */
function readsOf(root: string): string[] {
  return [FAKE_AGY, join(root, 'agy-script.json'), join(root, 'repository', '.git', 'objects')];
}

/** An `agy` that plays this script, by its absolute path. */
export function installFakeAgy(folder: string, script: AgyScript): string {
  const [program, file] = [join(folder, 'agy'), join(folder, 'agy-script.json')];
  writeFileSync(file, JSON.stringify(script));
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${FAKE_AGY}' '${file}' "$@"\n`, { mode: 0o755 });
  return program;
}

const done: Step[] = [{ answer: 'done' }];
const plays = (...steps: Step[]): AgyScript => ({ turns: [{ steps }] });
const fails = (error: string, more: object = {}): AgyScript => plays({ fail: { error, ...more } });

/** Each scenario as a script; the errors in the words of Gemini's API. */
function scriptOf(scenario: ScenarioName): AgyScript {
  switch (scenario) {
    case 'empty':
      return plays();
    case 'echo':
      return plays({ answer: '{prompt}' });
    case 'tool':
      return plays({ run: ['echo', 'tool-ran'] }, ...done);
    case 'failing-tool':
      return plays({ run: ['sh', '-c', 'exit 3'] }, ...done);
    case 'edit':
      return plays({ write: { path: 'made.txt', text: 'made by the agent\n' } }, ...done);
    case 'commit': {
      const commit = [{ run: ['git', 'add', '-A'] }, { run: ['git', 'commit', '-m', 'made'] }];
      return plays({ write: { path: 'made.txt', text: 'made\n' } }, ...commit, ...done);
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
      return plays({ run: ['sh', '-c', 'setsid sleep 30 & sleep 30'] }, ...done);
    case 'denied':
      return plays({ write: { path: 'denied-by-squad.txt', text: 'x' } }, ...done);
    case 'slow':
      return plays({ run: ['sleep', '2'] }, ...done);
    case 'environment':
      return plays({ run: ['env'] }, ...done);
    case 'mcp':
      return plays({ mcp: 'desk', tool: 'note', arguments: { text: 'from the agent' } }, ...done);
    case 'bad-request':
      return fails('Invalid JSON payload received', { code: 400 });
    case 'unauthorized':
      return fails('API key not valid. Please pass a valid API key.', { code: 401 });
    case 'forbidden':
      return fails('The caller does not have permission', { code: 403 });
    case 'unknown-model':
      return fails('models/unknown is not found for API version v1', { code: 404 });
    case 'rate-limit':
      return fails('Resource has been exhausted (e.g. check quota).', { code: 429 });
    case 'usage-limit':
      return fails('Individual quota reached. Please upgrade your subscription. Resets in 34m13s.', {
        code: 429,
        exit: 3,
      });
    case 'server-error':
      return fails('An internal error has occurred', { code: 500 });
    case 'overloaded':
      return fails('The model is overloaded. Please try again later.', { code: 503 });
    case 'cut-stream':
      return plays({ say: 'half an ans' }, { fail: { error: 'stream error: unexpected EOF, connection lost' } });
    case 'refused-connection':
      return fails('dial tcp 127.0.0.1:9: connect: connection refused');
    case 'silent':
      return plays({ hang: true });
    case 'answer':
    case 'hermetic':
    case 'ignored-schema':
    case 'mcp-down':
      return plays({ answer: 'hello from the agent' });
  }
}

export interface AgyBench extends RuntimeBench {
  readonly parts: BenchParts;
}

/** A bench with the emulator in a process of its own, in the cage that an agent gets. */
export async function openAgyBench(script: AgyScript, settings: Partial<RuntimeSettings> = {}): Promise<AgyBench> {
  let kept: BenchParts | undefined;
  const bench = await openBench((parts) => {
    kept = parts;
    const binary = installFakeAgy(parts.root, script);
    const homes = join(parts.stateDirectory, 'homes', 'antigravity');
    return {
      makeRuntime: () =>
        createCliRuntime(
          createAntigravityAdapter(
            {
              binary,
              environment: { ...parts.environment, GEMINI_API_KEY: 'key-of-the-fake' },
              allowEnvironment: [],
              stateDirectory: parts.stateDirectory,
              userHome: parts.home,
              platform: process.platform,
              architecture: process.arch,
              isRoot: process.getuid?.() === 0,
              config: { read: readsOf(parts.root) },
              ...settings,
            },
            { processes: parts.processes },
          ),
          { processes: parts.processes, clock: parts.clock },
        ),
      request: { limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, idleMs: 4000, retryMs: 4000 } },
      received: () =>
        existsSync(homes)
          ? readdirSync(homes)
              .map((name) => join(homes, name, 'received.log'))
              .filter((file) => existsSync(file))
              .map((file) => readFileSync(file, 'utf8'))
              .join('\n')
          : '',
    };
  });
  if (kept === undefined) throw new Error('the bench was not arranged');
  return Object.assign(bench, { parts: kept });
}

export const antigravityHarness: RuntimeHarness = {
  name: 'antigravity',
  failureBoundMs: 10_000,
  open: (scenario) => openAgyBench(scriptOf(scenario)),
};
