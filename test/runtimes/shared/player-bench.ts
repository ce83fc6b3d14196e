import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ProcessIdentity } from '../../../src/model/process-identity.ts';
import type { TurnEvent } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnLimits, type TurnRequest } from '../../../src/model/turn-request.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import type { AgentRuntime, Turn } from '../../../src/runtimes/port/agent-runtime.ts';
import { createScriptedAdapter } from '../../../src/runtimes/scripted/index.ts';
import { createCliRuntime } from '../../../src/runtimes/shared/cli-turn.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import type { Clock } from '../../../src/substrate/ports/clock.ts';
import { createSystemProcesses } from '../../../src/substrate/system/process/system-processes.ts';
import { markedPids } from '../../support/marked-pids.ts';

const clock = createSystemClock();

/** Durations pass `factor` times as fast for whoever measures with it; the time of day stays true. */
export function hurriedClock(factor: number): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() * factor,
    sleep: (ms, signal) => clock.sleep(ms / factor, signal),
  };
}

export type Step = Record<string, unknown>;

export interface PlayedTurn {
  readonly turn: Turn;
  readonly request: TurnRequest;
  readonly directory: string;
  readonly events: TurnEvent[];
  /** Resolves once the process is there; rejects never, so race it with the result where a refusal is possible. */
  readonly spawned: Promise<{ identity: ProcessIdentity; at: number }>;
}

export interface StartOptions {
  readonly onSpawned?: () => Promise<void>;
  readonly changes?: Partial<TurnRequest>;
  readonly limits?: Partial<TurnLimits>;
  /** For floods: no event is kept. */
  readonly onEvent?: (event: TurnEvent) => void;
}

/** The scripted runtime on a real process, in a folder of its own that goes with the test. */
export function openPlayerBench(
  steps: readonly Step[],
  {
    adapt = (adapter) => adapter,
    ...options
  }: {
    clock?: Clock;
    lingers?: boolean;
    structured?: unknown;
    environment?: Record<string, string>;
    /** What breaks in squad's own translator. */
    adapt?: (adapter: ReturnType<typeof createScriptedAdapter>) => ReturnType<typeof createScriptedAdapter>;
  } = {},
) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-player-')));
  const script = join(root, 'script.json');
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  writeFileSync(script, JSON.stringify({ turns: [{ ...options, clock: undefined, steps }] }));
  const processes = createSystemProcesses({ clock });
  const markers: string[] = [];
  onTestFinished(async () => {
    const left = markers.flatMap(markedPids);
    for (const marker of markers) await processes.sweep(marker);
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    expect(left, 'processes that a settled turn left behind').toEqual([]);
  });
  const runtime = (): AgentRuntime =>
    createCliRuntime(
      adapt(
        createScriptedAdapter({
          binary: process.execPath,
          environment: { PATH: process.env['PATH'], HOME: root, ...options.environment },
          allowEnvironment: [],
          stateDirectory: join(root, 'state'),
          userHome: root,
          platform: process.platform,
          architecture: process.arch,
          isRoot: process.getuid?.() === 0,
          config: { script },
        }),
      ),
      { processes, clock: options.clock ?? clock },
    );
  let turns = 0;
  const start = ({ onSpawned, changes = {}, limits = {}, onEvent }: StartOptions = {}): PlayedTurn => {
    turns += 1;
    const directory = join(root, `turn-${turns}`);
    mkdirSync(directory);
    const request: TurnRequest = {
      turnId: `player-${process.pid}-${Date.now()}-${turns}`,
      workspace: { path: workspace },
      prompt: 'Please go on.',
      instructions: 'You are a member of a squad.',
      access: { level: 'edit' },
      mcp: [],
      limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000, ...limits },
      ...changes,
    };
    markers.push(request.turnId);
    const events: TurnEvent[] = [];
    const spawned = Promise.withResolvers<{ identity: ProcessIdentity; at: number }>();
    const turn = runtime().start(request, {
      directory,
      onEvent: onEvent ?? ((event) => events.push(event)),
      onSpawned: async (identity, at) => {
        spawned.resolve({ identity, at });
        await onSpawned?.();
      },
    });
    return { turn, request, directory, events, spawned: spawned.promise };
  };
  return {
    root,
    workspace,
    processes,
    runtime,
    start,
    run: async (run: StartOptions = {}): Promise<PlayedTurn & { result: TurnResult }> => {
      const started = start(run);
      return { ...started, result: await started.turn.result };
    },
  };
}

/** Waits for what another process does. */
export async function until(problem: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = clock.monotonic() + 15_000; clock.monotonic() < end; await clock.sleep(20)) {
    if (await holds()) return;
  }
  throw new Error(problem);
}
