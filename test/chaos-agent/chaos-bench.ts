import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type TurnLimits, type TurnRequest, DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { turnResultSchema, type TurnResult } from '../../src/model/turn-result.ts';
import { createAcpAdapter } from '../../src/runtimes/acp/index.ts';
import { createAntigravityAdapter } from '../../src/runtimes/antigravity/index.ts';
import { createClaudeAdapter } from '../../src/runtimes/claude/index.ts';
import { createCodexAdapter } from '../../src/runtimes/codex/index.ts';
import type { AgentRuntime } from '../../src/runtimes/port/agent-runtime.ts';
import { createCliRuntime } from '../../src/runtimes/shared/cli-turn.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import type { Clock } from '../../src/substrate/ports/clock.ts';
import { createSystemProcesses } from '../../src/substrate/system/process/system-processes.ts';
import { openSupervisorBench, type SupervisorBench } from '../engine/attempts/supervisor-bench.ts';
import { installChaosAgent, type ChaosAgent, type ChaosEntry } from '../support/chaos-agent.ts';
import { ALL, LANE } from '../support/lane.ts';
import { killAll, markedPids } from '../support/marked-pids.ts';
import '../support/on-disk.ts';

/** Those that are started with a prompt and print. */
export const PRINTERS = ['claude', 'codex'] as const;
export type Printer = (typeof PRINTERS)[number];
/** And those in a cage, the last of which holds a conversation. */
export const EVERY_CLI = [...PRINTERS, 'agy', 'acp'] as const;
export type Cli = (typeof EVERY_CLI)[number];
/** `agy` is left to the night: its cage is that of the other one. */
export const CLIS: readonly Cli[] = EVERY_CLI.filter((cli) => LANE === 'night' || cli !== 'agy');

/** Each commit tries one that prints; the others are started, watched and ended in the same way (`test/runtimes/acp` converses). */
export function laneOf(cli: Cli, own: { readonly tags?: string[] } = {}): { readonly tags?: string[] } {
  return cli === 'claude' ? own : ALL;
}

/** An agent that squad knows, and of which it knows nothing special. */
const AGENT = 'kimi';

const RUNTIMES: Readonly<Record<Cli, string>> = {
  ...{ claude: 'claude', codex: 'codex', agy: 'antigravity', acp: `acp/${AGENT}` },
};

/** The name of its runtime. */
export function runtimeOf(cli: Cli): string {
  return RUNTIMES[cli];
}

/** As vitest hands it to a test: tests that run side by side have no other. */
interface TestContext {
  onTestFinished(end: () => Promise<void>): void;
}

export interface ChaosTurn {
  readonly id: string;
  readonly directory: string;
  readonly settled: Promise<TurnResult>;
  cancel(reason: string): Promise<TurnResult>;
}

export interface ChaosBench {
  readonly agent: ChaosAgent;
  readonly ledger: SupervisorBench['ledger'];
  start(cli: Cli, changes?: Partial<TurnRequest>, limits?: Partial<TurnLimits>): ChaosTurn;
  run(cli: Cli, changes?: Partial<TurnRequest>, limits?: Partial<TurnLimits>): Promise<TurnResult>;
}

/**
 * The chaos-agent behind the real adapters, wrapper, supervisor and ledger. When the test is over nothing of any turn may
 * be alive, and the ledger's history has to be sound.
 */
export function openChaosBench(test: TestContext, entry: ChaosEntry, more: { clock?: Clock } = {}): ChaosBench {
  const bench = openSupervisorBench([]);
  const root = join(bench.workspace, '..');
  const agent = installChaosAgent(join(root, 'bin'), { turns: [entry] });
  const clock = createSystemClock();
  const processes = createSystemProcesses({ clock });
  const ports = { processes, clock: more.clock ?? clock };
  const runtimes = new Map<string, AgentRuntime>([
    ['claude', createCliRuntime(createClaudeAdapter(settingsFor(agent, 'claude', root), ports), ports)],
    ['codex', createCliRuntime(createCodexAdapter(settingsFor(agent, 'codex', root), ports), ports)],
    [runtimeOf('agy'), createCliRuntime(createAntigravityAdapter(settingsFor(agent, 'agy', root), ports), ports)],
    [
      runtimeOf('acp'),
      createCliRuntime(
        createAcpAdapter(AGENT, settingsFor(agent, 'acp', root), { ...ports, node: process.execPath }),
        ports,
      ),
    ],
  ]);
  const supervisor = bench.supervisor({ runtime: (name) => runtimes.get(name) });
  const ids: string[] = [];
  test.onTestFinished(async () => {
    const left = [...ids.flatMap(markedPids), ...agent.children().filter(isRunning)];
    await bench.close();
    // Those without a name are out of any sweep's reach.
    killAll(agent.children().filter(isRunning));
    expect(left, 'processes left behind').toEqual([]);
  });

  const start: ChaosBench['start'] = (cli, changes = {}, limits = {}) => {
    const id = `${cli}-${process.pid}-${Date.now()}-${ids.length}`;
    ids.push(id);
    const all = { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, ...limits };
    // In its cage it could not write down what it does.
    const access = { level: 'edit' as const, writable: [agent.folder] };
    bench.claim(id, runtimeOf(cli), { instructions: 'You are a builder.', limits: all, access, ...changes });
    supervisor.ensure(id);
    const settled = supervisor.settled(id).then(() => resultOf(bench, id));
    return {
      id,
      directory: join(bench.turns, id),
      settled,
      cancel: async (reason) => {
        await supervisor.cancel(id, reason);
        return settled;
      },
    };
  };
  return { agent, ledger: bench.ledger, start, run: (...args) => start(...args).settled };
}

/** Of programs that ask no model. */
export const NO_KEYS = {
  ANTHROPIC_API_KEY: 'none',
  CODEX_API_KEY: 'none',
  GEMINI_API_KEY: 'none',
  KIMI_API_KEY: 'none',
};

function settingsFor(agent: ChaosAgent, cli: Cli, root: string) {
  return {
    binary: agent.path(cli),
    environment: { PATH: process.env['PATH'], HOME: root, ...NO_KEYS },
    allowEnvironment: [],
    stateDirectory: join(root, 'state'),
    userHome: root,
    platform: process.platform,
    architecture: process.arch,
    isRoot: false,
  };
}

/** As it stands in the ledger, which has to be as any reader expects it. */
function resultOf({ ledger }: SupervisorBench, id: string): TurnResult {
  return turnResultSchema.parse(ledger.settlement(id)?.result);
}

/** What the agent has written to stdout so far. */
export function printed({ directory }: ChaosTurn): string {
  const path = join(directory, 'stdout');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

export function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  try {
    return existsSync(path) && !/\) [ZX] /.test(readFileSync(path, 'utf8'));
  } catch {
    // It ended between the two looks.
    return false;
  }
}
