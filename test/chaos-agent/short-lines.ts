import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import type { Settlement } from '../../src/model/attempt.ts';
import { until } from '../substrate/system/process/turn-bench.ts';
import type { ChaosEntry } from '../support/chaos-agent.ts';
import { allowedMs } from '../support/busy-machine.ts';
import type { Engine } from '../support/engine.ts';
import { usageOf } from '../support/process-usage.ts';
import type { Printer } from './chaos-bench.ts';
import { openChaosRun, planned, type ChaosRun } from './chaos-run.ts';
import { stateOf } from '../support/state.ts';

/** Longest time from the wish to stop until nothing of the run lives, its engine included. */
const STOPPED_MS = 10_000;
/** Longest time from the end of the turn until its engine has nothing left to do for it. */
const IDLE_MS = 5_000;
/** What an engine may grow by for a turn. */
const MOST_GROWTH_MB = 50;

/** As the launcher starts the command line. */
const AS_LAUNCHED = ['--max-semi-space-size=2', '--optimize-for-size'];

function openFlood(cli: Printer, bytes: number, more: Pick<ChaosEntry, 'says'> = {}): ChaosRun & { end(): void } {
  return openChaosRun([planned(['flood']), { when: '# Task flood:', mode: 'short-lines-deaf', bytes, ...more }], {
    builders: [cli],
    settings: { limits: { retries: 0 } },
  });
}

/** Starts the run and returns once the builder prints; the folder is that of its turn. */
async function startFlood(chaos: ChaosRun): Promise<{ engine: Engine; turn: string }> {
  // Without --json: all that it prints is kept here.
  const engine = chaos.start(['run', 'objective.md', '--yes'], AS_LAUNCHED);
  const turn = await until(() => {
    const turns = join(stateOf(chaos.bench.repository), 'turns');
    const name = existsSync(turns) ? readdirSync(turns).find((one) => one.includes('flood')) : undefined;
    const path = join(turns, name ?? '', 'stdout');
    return name !== undefined && existsSync(path) && statSync(path).size > 0 ? join(turns, name) : undefined;
  });
  return { engine, turn };
}

/** The turn is ended by a limit, and five seconds later the engine is done with it and has not grown. */
export async function endsAtItsLimit(cli: Printer, bytes: number, more: Pick<ChaosEntry, 'says'> = {}): Promise<void> {
  const chaos = openFlood(cli, bytes, more);
  try {
    const { engine, turn } = await startFlood(chaos);
    const { pid = 0 } = engine.child;
    const before = usageOf(pid).rssMb;
    let most = before;
    const sampler = setInterval(() => (most = Math.max(most, rssOf(pid))), 50);
    const { code } = await engine.finished;
    clearInterval(sampler);
    const settled = settlementOf(chaos, basename(turn));
    const idleMs = settled.at - statSync(join(turn, 'exit')).mtimeMs;
    console.log(
      `${cli} ${bytes} bytes: settled ${idleMs.toFixed(0)} ms after its end, grew by ${(most - before).toFixed(1)} MB`,
    );
    expect(settled.result).toMatchObject({ outcome: 'failed', failure: { kind: 'output-flood' } });
    expect(code).toBe(1);
    expect(idleMs).toBeLessThan(allowedMs(IDLE_MS));
    expect(most - before).toBeLessThan(MOST_GROWTH_MB);
  } finally {
    chaos.end();
  }
}

/** `squad stop` so many ms after its first line. */
export async function stopsWhileItPrints(cli: Printer, bytes: number, afterMs: number): Promise<void> {
  const chaos = openFlood(cli, bytes);
  try {
    const { engine } = await startFlood(chaos);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const from = performance.now();
    const [stopped] = await Promise.all([chaos.run(['stop', '--json']), engine.finished]);
    const took = performance.now() - from;
    console.log(`${cli} stopped after ${afterMs} ms: took ${took.toFixed(0)} ms`);
    expect([stopped.code, chaos.bench.alive()], stopped.stderr).toEqual([0, []]);
    expect(took).toBeLessThan(allowedMs(STOPPED_MS));
  } finally {
    chaos.end();
  }
}

function settlementOf({ bench }: ChaosRun, attempt: string): Settlement {
  const ledger = bench.ledger();
  try {
    return ledger.settlement(attempt)!;
  } finally {
    ledger.close();
  }
}

/** 0: it is gone, or its parent has not seen it yet. */
function rssOf(pid: number): number {
  try {
    return usageOf(pid).rssMb || 0;
  } catch {
    return 0;
  }
}
