// @module-tag all
import { expect, it } from 'vitest';
import type { FailpointName } from '../../src/substrate/system/failpoint.ts';
import { ALL } from '../support/lane.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';

/** Where it is passed: by the process that submits, or by the engine that starts the run. */
const POINTS: readonly { readonly point: FailpointName; readonly by: 'add' | 'engine' }[] = [
  { point: 'submitted.recorded', by: 'add' },
  { point: 'submitted.named', by: 'add' },
  { point: 'submitted.stored', by: 'add' },
  { point: 'submitted.based', by: 'engine' },
  { point: 'submitted.branch', by: 'engine' },
];

it.each(POINTS)(
  'T1 killed at $point, a submitted run is one run under its key, and ends as without',
  { ...ALL, timeout: 240_000 },
  async ({ point, by }) => {
    const script = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
    const bench = openRunBench({ script });
    try {
      const kill = { SQUAD_FAILPOINTS: `${point}:1=kill` };
      const add = ['add', 'objective.md', '--runtime', 'scripted', '--yes', '--key', 'k', '--base', 'main', '--json'];
      const first = await bench.run(add, by === 'add' ? kill : undefined);
      expect(first.signal).toBe(by === 'add' ? 'SIGKILL' : null);
      // One transaction: there is the whole of it or nothing.
      const there = await bench.run(['queue', '--json']);
      expect(there.lines).toHaveLength(point === 'submitted.recorded' || by === 'engine' ? 1 : 0);
      const { lines: known } = await bench.run(['runs', '--json']);
      expect(known).toHaveLength(there.lines.length);
      if (by === 'engine') expect((await bench.run(['resume', '--all', '--json'], kill)).signal).toBe('SIGKILL');
      const again = await bench.run(add);
      expect([again.code, again.lines[0]?.['known']], again.stderr).toEqual([
        0,
        point === 'submitted.recorded' || by === 'engine',
      ]);
      const swept = await bench.run(['resume', '--all', '--json']);
      expect(swept.code, swept.stdout + swept.stderr).toBe(0);
      const { lines } = await bench.run(['runs', '--json']);
      expect(lines.map(({ name, state }) => [name, state])).toEqual([['make-things', 'done']]);
      expect(bench.fileOnBranch('a.txt')).toBe('a');
    } finally {
      bench.end();
    }
  },
);
