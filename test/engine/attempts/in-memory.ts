import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AttemptPorts } from '../../../src/engine/attempts/start-attempt.ts';
import type { Attempt } from '../../../src/model/attempt.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import type { AgentRuntime, AttachContext, Turn, TurnContext } from '../../../src/runtimes/port/agent-runtime.ts';

export const LEASE = { runId: 'run', epoch: 2 };
export const DONE: TurnResult = { outcome: 'completed', text: 'done', denials: [], stderrTail: '', durationMs: 1 };
export const FAILED: TurnResult = {
  ...DONE,
  outcome: 'failed',
  failure: { kind: 'crashed', message: 'it crashed', mayHaveActed: true },
};
export const IDENTITY = { pid: 4_000_000, startTime: '1', bootId: 'boot', marker: 'a-1' };

const REQUEST: TurnRequest = {
  turnId: 'a-1',
  workspace: { path: '/work' },
  prompt: 'go',
  instructions: 'rules',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};

export function attemptOf(more: Partial<Attempt> = {}): Attempt {
  return {
    ...{ id: 'a-1', runId: 'run', taskId: 'a', number: 1, kind: 'turn', agent: 'bob', runtime: 'fake', epoch: 2 },
    ...{ sessionKey: null, request: JSON.stringify(REQUEST), claimedAt: 10, process: null, spawnedAt: null },
    ...{ status: 'claimed', ...more },
  };
}

/** A ledger and a runtime in memory, a real folder, and in `did` what happened in this order. */
export function openAttempts(attempt: Attempt | undefined, more: Partial<AttemptPorts> = {}) {
  const turns = mkdtempSync(join(tmpdir(), 'squad-attempts-'));
  onTestFinished(() => rmSync(turns, { recursive: true, force: true }));
  const did: string[] = [];
  const told: unknown[] = [];
  const settled: TurnResult[] = [];
  const ended = Promise.withResolvers<TurnResult>();
  let known = attempt;
  let context: (TurnContext | AttachContext) | undefined;
  const turn: Turn = {
    result: ended.promise,
    cancel: async (reason) => {
      did.push(`cancel ${reason}`);
      ended.resolve({ ...DONE, outcome: 'cancelled' });
      return ended.promise;
    },
    detach: async () => void did.push('detach'),
    activity: () => ({ lastSignOfLifeAt: 7, openTools: 1 }),
  };
  const runtime = {
    portVersion: 1,
    name: 'fake',
    start: (request: TurnRequest, given: TurnContext) => {
      context = given;
      did.push(`start ${request.prompt} in ${given.directory.slice(turns.length + 1)}`);
      void given.onSpawned(IDENTITY, 20).then(() => did.push('go'));
      return turn;
    },
    attach: (request: TurnRequest, given: AttachContext) => {
      context = given;
      did.push(`attach ${request.prompt} of ${given.identity.pid} at ${given.spawnedAt}`);
      return turn;
    },
  } as unknown as AgentRuntime;
  const ports = {
    ledger: {
      attempt: () => known,
      markSpawned: (_: unknown, id: string, { pid }: { pid: number }, at: number) => {
        if (known !== undefined) known = { ...known, status: 'spawned', process: IDENTITY, spawnedAt: at };
        did.push(`record ${id} ${pid} ${at}`);
      },
      observe: (_: unknown, id: string, type: string, data: unknown) => told.push([id, type, data]),
      settle: (_: unknown, id: string, result: TurnResult) => {
        did.push(`settle ${id}`);
        settled.push(result);
        if (known !== undefined) known = { ...known, status: 'settled' };
      },
    },
    processes: {
      sweep: async (id: string) => {
        did.push(`sweep ${id}`);
        return [];
      },
      trimOutput: async (directory: string, bytes: number) =>
        void did.push(`trim ${directory.slice(turns.length + 1)} ${bytes}`),
    },
    runtime: (name: string) => (name === 'fake' ? runtime : undefined),
    turnsDirectory: turns,
    onStarted: (id: string, how: string) => did.push(`${how} ${id}`),
    ...more,
  } as unknown as AttemptPorts;
  return { ports, turns, did, told, settled, runtime, end: ended.resolve, context: () => context };
}
