import { describe, expect, it } from 'vitest';
import { until } from '../substrate/system/process/turn-bench.ts';
import { allowedMs } from '../support/busy-machine.ts';
import { isRunning } from './chaos-bench.ts';
import { openChaosRun, planned } from './chaos-run.ts';
import { ALL } from '../support/lane.ts';

const MODES = ['ignores-signals', 'forks', 'daemonises', 'sheds-its-name', 'hundred-children', 'breeds'];
/** Longest time from the command until nothing of the run lives (bar T12). */
const STOPPED_MS = 10_000;

// Once more for a machine that was busy elsewhere in just these seconds.
describe('T12 `squad stop` with agents that ignore signals, fork and daemonise', { timeout: 240_000, retry: 1 }, () => {
  it.each([
    ['after its engine was killed', true],
    ['while its engine lives', false],
  ] as const)('%s: none of them survives', ALL, async (_, killed) => {
    const names = MODES.map((mode) => `task-${mode}`);
    const entries = MODES.map((mode, index) => ({ when: `# Task ${names[index]}:`, mode }));
    const chaos = openChaosRun([planned(names), ...entries], {
      builders: MODES.map((__, index) => (index % 2 === 0 ? 'claude' : 'codex')),
      settings: { limits: { parallel: MODES.length } },
    });
    const { bench, agent } = chaos;
    try {
      const engine = chaos.start();
      const wanted = 3 + 3 + 3 + 100 + 1;
      await until(() => agent.children().length >= wanted || engine.child.exitCode !== null || undefined, 60_000);
      expect(agent.turns().map(({ mode }) => mode)).toEqual(expect.arrayContaining(MODES));
      if (killed) {
        engine.child.kill('SIGKILL');
        await engine.finished;
      }
      expect(bench.alive().length).toBeGreaterThan(wanted);
      const survivors = (): number[] => [...bench.alive(), ...agent.children().filter(isRunning)];
      const from = performance.now();
      const stopping = chaos.run(['stop', '--json']);
      await until(() => survivors().length === 0 || undefined, 60_000);
      const took = performance.now() - from;
      const stopped = await stopping;
      expect([stopped.code, survivors()], stopped.stderr).toEqual([0, []]);
      expect(took).toBeLessThan(allowedMs(STOPPED_MS));
      expect(stopped.lines[0]).toMatchObject({ type: 'run-stopped' });
      if (!killed) expect((await engine.finished).code).toBe(4);
      expect((await bench.status()).turns).toMatchObject({ live: 0 });
    } finally {
      chaos.end();
    }
  });
});
