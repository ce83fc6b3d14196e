import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  {
    name: 'sprint',
    roster: Object.fromEntries(
      ['research', 'planner', 'architect', 'developer', 'qa', 'version-controller'].map((role) => [
        `the-${role}`,
        role,
      ]),
    ),
    script: [
      ...['research', 'milestone-refinement', 'artifact-sync', 'backlog-prioritization', 'todo-1-guide'].map((id) =>
        author(id, [{ run: ['true'] }, { answer: 'done' }]),
      ),
      {
        ...author('backlog-definition', [{ run: ['true'] }]),
        structured: { items: [{ id: 'item-1', title: 'Login' }] },
      },
      {
        ...author('todo-finalization', [{ run: ['true'] }]),
        structured: { todos: [{ title: 'Login', brief: 'Build login', acceptance: ['works'] }] },
      },
      author('todo-1', [{ write: { path: 'login.txt', text: 'login\n' } }, { answer: 'written' }]),
      author('todo-1-commit', commits({}, 'Log people in')),
      APPROVE_ALL,
    ],
    expect: (bench) => expect(bench.fileOnBranch('login.txt')).toBe('login'),
  },
];

describe.concurrent('the other playbooks on the real engine', { timeout: 120_000 }, () => {
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

  it('session runs from its folder, keeps its readable file, and is refused by name without one', async (test) => {
    const bench = openRunBench({
      script: [
        author('design-001', commits({ 'docs/design.md': 'plain\n' })),
        author('impl-001', commits({ 'impl.txt': 'built\n' })),
      ],
      settings: { playbook: 'session', agents: agents({ ann: 'writer', bob: 'coder' }) },
    });
    test.onTestFinished(() => bench.end());
    const refused = await bench.runAll();
    expect(refused.code, refused.stderr).toBe(65);
    expect(refused.stderr).toMatch(/team-session\.json[^]*^Next: /m);
    const ended = await bench.runAll(['--files', sessionFolder(bench.root)]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('impl.txt')).toBe('built');
    const runs = join(bench.repository, '.squad', 'runs');
    const kept = join(runs, readdirSync(runs)[0] ?? '', 'files', 'team-session.json');
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toMatchObject({
      session_id: 'TC-auth-2026-03-08',
      completed_tasks: ['design-001', 'impl-001'],
      pipeline: { tasks_total: 2, tasks_completed: 2 },
    });
  });
});

function sessionFolder(root: string): string {
  const folder = join(root, 'session');
  mkdirSync(join(folder, 'roles'), { recursive: true });
  const session = {
    session_id: 'TC-auth-2026-03-08',
    task_description: 'Build it',
    status: 'active',
    team_name: 'auth',
    roles: [{ name: 'writer' }, { name: 'coder', inner_loop: true }],
  };
  const tasks = [
    { id: 'IMPL-001', subject: 'Build it', owner: 'coder', blockedBy: ['DESIGN-001'] },
    { id: 'DESIGN-001', subject: 'Design it', owner: 'writer' },
  ];
  writeFileSync(join(folder, 'team-session.json'), JSON.stringify(session));
  writeFileSync(join(folder, 'task-analysis.json'), JSON.stringify({ tasks }));
  for (const role of ['writer', 'coder']) writeFileSync(join(folder, 'roles', `${role}.md`), `# ${role}\n`);
  return folder;
}
