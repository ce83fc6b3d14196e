import { describe, expect, it } from 'vitest';
import { until } from '../runtimes/shared/player-bench.ts';
import { isRunning } from './chaos-bench.ts';
import { openChaosRun, planned } from './chaos-run.ts';

const MODES = ['ignores-signals', 'forks', 'daemonises', 'sheds-its-name', 'hundred-children', 'breeds'];
/** Longest time from the command until nothing of the run lives (bar T12). */
const STOPPED_MS = 10_000;

describe('T12 `squad stop` with agents that ignore signals, fork and daemonise', { timeout: 120_000 }, () => {
  it.each([
    ['while its engine lives', false],
    ['after its engine was killed', true],
  ])('%s: none of them survives', async (_, killed) => {
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
      await until('they did not get going', () => agent.children().length >= wanted || engine.child.exitCode !== null);
      expect(agent.turns().map(({ mode }) => mode)).toEqual(expect.arrayContaining(MODES));
      if (killed) {
        engine.child.kill('SIGKILL');
        await engine.finished;
      }
      expect(bench.alive().length).toBeGreaterThan(wanted);
      const from = performance.now();
      const stopped = await chaos.run(['stop', '--json']);
      const took = performance.now() - from;
      const alive = [...bench.alive(), ...agent.children().filter(isRunning)];
      expect([stopped.code, alive], stopped.stderr).toEqual([0, []]);
      expect(took).toBeLessThan(STOPPED_MS);
      expect(stopped.lines[0]).toMatchObject({ type: 'run-stopped' });
      if (!killed) expect((await engine.finished).code).toBe(4);
      expect((await bench.status()).turns).toMatchObject({ live: 0 });
    } finally {
      chaos.end();
    }
  });
});
