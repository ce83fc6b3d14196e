import { expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { expectSound } from '../cli/room.ts';
import { openRunBench } from './run-bench.ts';
import type { Entry } from './run-script.ts';

const PLANNER = { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' };
const LOGIN = {
  ...{ op: 'add', id: 'b-login', version: 0, title: 'A login form', kind: 'feature', acceptance: ['it is there'] },
  ...{ priority: 70, source: null, same_as: null, reason: null },
};

function planned(request: string): Entry {
  const requests = [
    { request_id: request, outcome: 'planned', items: ['b-login'], answer: 'A form, in the next sprint.' },
  ];
  const proposals = { backlog_writes: [LOGIN], requests, findings: [] };
  const answer = {
    role: 'planner',
    status: 'completed',
    summary: 'one item',
    insights: [],
    artifacts: [],
    error: null,
  };
  return { steps: [{ answer: 'planned' }], structured: { ...answer, proposals } };
}

it(
  'waits for the planner, and has its work done where no service does it',
  { ...ALL, timeout: 120_000 },
  async (test) => {
    const bench = openRunBench({ script: [], settings: { agents: [PLANNER], sprint: { start: 'person' } } });
    test.onTestFinished(() => bench.end());
    const [received] = (await bench.run(['request', 'Add a login form', '--json'])).lines;
    const id = String(received?.['id']);
    bench.rescript([planned(id)]);
    const { code, lines, stderr } = await bench.run([
      'request',
      'add a login form!',
      '--wait',
      'planned',
      '--yes',
      '--json',
    ]);
    expect(code, stderr).toBe(0);
    expect(lines[0]).toMatchObject({ type: 'request-received', id, how: 'join', state: 'received', next: 'planner' });
    expect(lines.at(-1)).toMatchObject({
      ...{ type: 'request-ended', id, state: 'planned', next: 'next sprint', answer: 'A form, in the next sprint.' },
      items: [{ id: 'b-login', title: 'A login form', state: 'pending', sprint: null, commit: null }],
    });
    expect((await bench.run(['backlog'])).stdout).toMatch(/^b-login +pending +70 +feature +A login form$/m);
    expect((await bench.run(['request', 'show', id])).stdout).toContain('The next sprint has it next.');
    expectSound(bench);
  },
);

it('keeps the request when a person no longer waits for it', { ...ALL, timeout: 40_000 }, async (test) => {
  const script = [{ steps: [{ run: ['sh', '-c', 'sleep 100'] }] }];
  const bench = openRunBench({ script, settings: { agents: [PLANNER], sprint: { start: 'person' } } });
  test.onTestFinished(() => bench.end());
  const engine = bench.start(['request', 'Add a login form', '--wait', '--yes', '--json']);
  const { id } = await engine.line(({ type }) => type === 'request-received');
  await engine.line(({ type }) => type === 'attempt-taken');
  // As the second Ctrl-C: its turn is ended at once.
  engine.child.kill('SIGTERM');
  const { code, stderr } = await engine.finished;
  expect([code, stderr]).toEqual([143, expect.stringContaining(`${String(id)} is planning, and stays on record: `)]);
  expect((await bench.run(['request', 'list', '--json'])).lines).toMatchObject([{ id, state: 'planning' }]);
});
