import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { processTree } from '../support/process-usage.ts';
import { openRunBench, turnsOf } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

/** Longer than the turn may be silent. */
const STOPPED_MS = 14_000;

function signal(pids: Iterable<number>, name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // A git of the engine that has ended meanwhile.
    }
  }
}

it(
  'a turn is not silent while the engine and all of its turns stand still, and the engine says so',
  { ...ALL, timeout: 300_000 },
  async ({ onTestFinished }) => {
    const bench = openRunBench({
      script: [plan([piece('a')]), author('a', [{ sleep: 4_000 }, ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL],
      settings: { limits: { idleMinutes: 0.15, retries: 0 } },
    });
    onTestFinished(() => bench.end());
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'a');
    await sleep(1_000);
    const all = new Set([engine.child.pid ?? 0]);
    signal(all, 'SIGSTOP');
    for (const pid of [...processTree(engine.child.pid ?? 0), ...bench.alive()]) all.add(pid);
    signal(all, 'SIGSTOP');
    await sleep(STOPPED_MS);
    // The engine looks before a turn can show a sign of life.
    signal([engine.child.pid ?? 0], 'SIGCONT');
    await sleep(1_500);
    signal(all, 'SIGCONT');
    const ended = await engine.finished;
    expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0 });
    // Its work and its review.
    expect(turnsOf(ended, 'a').map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    const said = ended.lines.flatMap(({ type, text }) => (type === 'warning' ? [String(text)] : []));
    expect(said.filter((text) => /^squad stood still for 1\ds; no limit/.test(text))).toHaveLength(1);
  },
);
