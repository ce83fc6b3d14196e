import { join } from 'node:path';
import { expect } from 'vitest';
import { installChaosAgent, type ChaosAgent, type ChaosEntry } from '../support/chaos-agent.ts';
import type { Engine, Finished } from '../support/engine.ts';
import { killAll } from '../support/marked-pids.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { objective, piece } from '../runs/run-script.ts';
import { isRunning, type Printer } from './chaos-bench.ts';

export interface ChaosRun {
  readonly bench: RunBench;
  readonly agent: ChaosAgent;
  /** `squad run`, or another command that drives it. */
  start(args?: readonly string[], flags?: readonly string[]): Engine;
  run(args: readonly string[]): Promise<Finished>;
}

/** What the planner answers: one piece for each name. */
export function planned(names: readonly string[]): ChaosEntry {
  const structured = { summary: 'the plan', tasks: names.map((name) => piece(name)) };
  return { when: 'Split this objective', mode: 'honest', structured };
}

/** What reviewers answer. */
export const APPROVED: ChaosEntry = {
  when: '# Review of task',
  mode: 'honest',
  structured: { approved: true, summary: 'good', findings: [] },
};

/** A repository whose squad of `clis` is the chaos-agent behind the real adapters, ready for `squad run`. */
export function openChaosRun(
  entries: readonly ChaosEntry[],
  about: { builders: readonly Printer[]; seed?: number; settings?: Readonly<Record<string, unknown>> },
): ChaosRun & { end(): void } {
  const bench = openRunBench({ script: [], objective: objective() });
  const { seed } = about;
  const plan = { turns: entries, ...(seed === undefined ? {} : { seed }) };
  const agent = installChaosAgent(join(bench.root, 'bin'), plan);
  const member = (name: string, role: string, runtime: Printer, access: string) => ({ name, role, runtime, access });
  bench.settings({
    agents: [
      member('planner', 'planner', 'claude', 'read-only'),
      ...about.builders.map((cli, index) => member(`builder-${index}`, 'builder', cli, 'edit')),
      member('reviewer', 'reviewer', 'codex', 'read-only'),
    ],
    runtimes: {
      claude: { command: agent.path('claude'), env: ['ANTHROPIC_API_KEY'] },
      codex: { command: agent.path('codex'), env: ['CODEX_API_KEY'] },
    },
    ...about.settings,
  });
  const engines: Engine[] = [];
  const keys = { ANTHROPIC_API_KEY: 'none', CODEX_API_KEY: 'none' };
  return {
    bench,
    agent,
    start: (args = ['run', 'objective.md', '--yes', '--json'], flags = []) => {
      const engine = bench.start(args, keys, flags);
      engines.push(engine);
      return engine;
    },
    run: (args) => bench.run(args, keys),
    end: () => {
      // Of a test that failed in the middle.
      for (const { child } of engines) if (child.exitCode === null) child.kill('SIGKILL');
      const alive = (): number[] => [...bench.alive(), ...agent.children().filter(isRunning)];
      const left = alive();
      killRounds(alive);
      bench.end();
      expect(left, 'processes left behind').toEqual([]);
    },
  };
}

/** In rounds: what was found may be gone, and what forks has others by then. */
function killRounds(alive: () => number[]): void {
  const deadline = performance.now() + 10_000;
  for (let pids = alive(); pids.length > 0 && performance.now() < deadline; pids = alive()) killAll(pids);
}
