import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { processTree, usageOf } from '../support/process-usage.ts';
import { openRunBench } from './run-bench.ts';
import { author, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const HOUR = 3_600_000;
/** Two per cent of a core. */
const MOST_SHARE = 0.02;
const WATCHED_MS = 6_000;

it(
  'T22: an engine that only waits for a usage limit uses no processor and opens no files',
  { ...ALL, timeout: 300_000 },
  async ({ onTestFinished }) => {
    const limit = { kind: 'quota-exhausted', message: 'come back later', retryIn: HOUR };
    const bench = openRunBench({ script: [plan([piece('a')]), author('a', [{ fail: limit }])] });
    onTestFinished(() => bench.end());
    const engine = bench.startRun();
    const pid = engine.child.pid ?? 0;
    await engine.line(({ type, task }) => type === 'attempt-ended' && task === 'a');
    // What the end of the turn brought with it.
    await sleep(2_000);
    expect((await bench.status()).waitingFor).toMatchObject({ for: 'time', account: 'scripted' });
    const tree = processTree(pid);
    const before = tree.map(usageOf);
    const from = performance.now();
    await sleep(WATCHED_MS);
    const ranMs = performance.now() - from;
    const after = tree.map(usageOf);
    const used = after.reduce((sum, { cpuMs }, index) => sum + cpuMs - (before[index]?.cpuMs ?? 0), 0);
    console.log(`a parked engine and its helpers used ${used} ms of ${Math.round(ranMs)}`);
    expect(used / ranMs).toBeLessThanOrEqual(MOST_SHARE);
    expect(processTree(pid)).toEqual(tree);
    expect(after.map(({ files }) => files)).toEqual(before.map(({ files }) => files));
    engine.child.kill('SIGTERM');
    expect((await engine.finished).code).toBe(143);
  },
);
