import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { stateOf } from '../support/state.ts';

describe.concurrent('a playbook whose runs squad starts itself', { timeout: 300_000 }, () => {
  it.for(['sprint'])('%s is refused by name, and nothing is made', async (name, test) => {
    const bench = openRunBench({ script: [], settings: { playbook: name } });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(65);
    expect(ended.stderr).toMatch(/squad itself starts the run of a sprint: `squad sprint start "milestone"`/);
    expect(ended.stderr).toMatch(/^Next: /m);
    expect(existsSync(join(stateOf(bench.repository), 'runs'))).toBe(false);
  });
});
