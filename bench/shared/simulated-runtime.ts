import type { AgentRuntime, Turn } from '../../src/runtimes/port/agent-runtime.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';

export interface SimulatedTurns {
  /** Of the attempt with this ledger id. */
  durationMs(attemptId: string): number;
  onStart?(attemptId: string): void;
}

/**
 * An agent runtime without agents: a turn is a timer in the engine's own process. For benches alone, where what is measured
 * is the engine; it keeps none of the port's promises about processes, and cannot be resumed.
 */
export function createSimulatedRuntime(turns: SimulatedTurns): AgentRuntime {
  return {
    portVersion: 1,
    name: 'scripted',
    probe: () => Promise.resolve({ ok: true, login: 'ok', sandbox: 'none', problems: [] }),
    start: (request, context) => {
      const startedAt = Date.now();
      const result = (async (): Promise<TurnResult> => {
        const { turnId } = request;
        const identity = { pid: process.pid, startTime: '0', bootId: 'simulated', marker: turnId };
        await context.onSpawned(identity, startedAt);
        turns.onStart?.(turnId);
        await pass(turns.durationMs(turnId));
        const session = { runtime: 'scripted', id: turnId, home: '/', workspace: '/', instructionsHash: '' };
        const usage = { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100, costUsd: 0 };
        const durationMs = Date.now() - startedAt;
        return { outcome: 'completed', session, text: 'done', denials: [], usage, stderrTail: '', durationMs };
      })();
      return turnOf(result);
    },
    attach: () => turnOf(Promise.reject(new Error('a simulated turn lives in its engine'))),
  };
}

function turnOf(result: Promise<TurnResult>): Turn {
  return {
    result,
    cancel: () => result,
    detach: () => Promise.resolve(),
    activity: () => ({ lastSignOfLifeAt: Date.now(), firstToolAt: 0, openTools: 0 }),
  };
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}
