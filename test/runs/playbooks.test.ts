import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, type Entry } from './run-script.ts';

const agents = (roles: Readonly<Record<string, string>>) =>
  Object.entries(roles).map(([name, role]) => ({ name, role, runtime: 'scripted' }));

/** `delivery` has the other files here to itself. */
const PLAYBOOKS: readonly {
  name: string;
  roster: Record<string, string>;
  script: readonly Entry[];
  expect(bench: RunBench, tasks: readonly string[]): void;
}[] = [
  {
    name: 'objective',
    roster: { pm: 'pm', ba: 'ba', 'builder-1': 'builder', 'builder-2': 'builder', reviewer: 'reviewer' },
    script: [
      ...['business-problem', 'spec', 'research', 'test-strategy', 'plan'].map((id) =>
        author(id, commits({ [`docs/${id}.md`]: `# ${id}\n` })),
      ),
      ...['implementation-1', 'implementation-2'].map((id) => author(id, commits({ [`${id}.txt`]: id }))),
      { ...author('post-review', [{ answer: 'ok' }]), structured: { approved: true, summary: 'all there' } },
      author('setup', [{ run: ['true'] }, { answer: 'ready' }]),
      APPROVE_ALL,
    ],
    expect: (bench, tasks) => {
      expect(tasks).toContain('test done');
      expect(bench.fileOnBranch('docs/plan.md')).toBe('# plan');
      expect(bench.fileOnBranch('implementation-2.txt')).toBe('implementation-2');
    },
  },
];

describe.concurrent('the other playbooks on the real engine', { timeout: 300_000 }, () => {
  it.for(PLAYBOOKS)('$name runs to its end', async ({ name, roster, script, expect: check }, test) => {
    const bench = openRunBench({
      script,
      settings: { playbook: name, agents: agents(roster) },
      objective: objective({ criteria: ['it is there (run: `true`)'] }),
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    const failed = ended.lines.filter(({ type, outcome }) => type === 'attempt-ended' && outcome !== 'completed');
    expect([ended.code, failed], `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toEqual([0, []]);
    const status = await bench.status();
    expect([status.playbook, status.outcome]).toEqual([name, 'done']);
    const tasks = status.tasks.map(({ id, status: state }) => `${id} ${state}`);
    expect(tasks.filter((task) => !task.endsWith(' done'))).toEqual([]);
    check(bench, tasks);
    expect(turnsOf(ended, 'verify')).toEqual([]);
  });

  it.for(['session', 'sprint'])('%s is refused by name, and nothing is made', async (name, test) => {
    const bench = openRunBench({ script: [], settings: { playbook: name } });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(65);
    expect(ended.stderr).toMatch(/“(session|sprint)” is not available in this version; available: delivery, /);
    expect(ended.stderr).toMatch(/^Next: /m);
    expect(existsSync(join(bench.repository, '.squad', 'runs'))).toBe(false);
  });
});
