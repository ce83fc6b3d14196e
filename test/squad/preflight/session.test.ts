import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../src/rules/run-facts.ts';
import { readObjective } from '../../../src/squad/preflight/read-input.ts';
import { tokenSamples } from '../../security/tokens.ts';
import { DIAMOND, writeSession, type SessionAbout } from '../../support/session-folder.ts';
import { OBJECTIVE, openBench, type Asked, type Bench } from './support.ts';
import { ALL } from '../../support/lane.ts';

const TOKEN = tokenSamples()['github token']?.token ?? '';
const TEAM: Asked = { objective: { session: 'team' } };

function benchWith(more: Partial<SessionAbout> = {}): Bench {
  const bench = openBench();
  writeSession(join(bench.repository, 'team'), { ...DIAMOND, ...more });
  return bench;
}

describe('a session', () => {
  it('says what the run is about; nothing in its words is a command or a setting', async () => {
    const description = '# Make things\n\n## Success Criteria\n\n- [ ] They are there (run: `touch x`)\n';
    const bench = benchWith({ description });
    symlinkSync('team', join(bench.repository, 'link'));
    const { definition, items } = await bench.run({ objective: { session: './link/' } });
    expect(definition).toMatchObject({
      ...{ name: 'make-things', playbook: 'session', source: './link/', folder: join(bench.repository, 'team') },
      objective: { title: 'Make things', text: description, goals: [description], criteria: [] },
      options: { session: { id: 'TC-make-things-2026-02-27', completed: [] } },
    });
    // A fork has no folder, and room for the same work.
    const { folder: _folder, ...forked } = definition;
    expect([factsOf(definition), factsOf(forked)].map(({ limits }) => limits.tasks)).toEqual([2_100, 2_100]);
    expect(definition.agents.map(({ name, access: { level } }) => [name, level])).toEqual([
      ['analyst', 'read-only'],
      ['implementer', 'edit'],
      ['writer', 'edit'],
    ]);
    expect(definition.agents[0]?.instructions).toContain('You MUST do your task.');
    expect(items).toEqual([]);
  });

  it('is asked for the runs on its folder before anything else is checked', async () => {
    const bench = benchWith();
    const asked: string[] = [];
    const refused = (): never => {
      throw new Error('taken');
    };
    const error = await bench
      .refusal({ ...TEAM, runs: { on: (path) => (asked.push(path), refused()), now: () => 0, hasWork: refused } })
      .catch((thrown: unknown) => thrown);
    expect(error).toEqual(new Error('taken'));
    expect(asked).toEqual([join(bench.repository, 'team')]);
    expect(bench.probed).toEqual([]);
  });

  it('leaves out agents of other roles, with what squad.yaml says of them', async () => {
    const bench = benchWith();
    bench.write(
      'squad.yaml',
      [
        'agents:',
        '  - { name: ann, role: analyst, runtime: claude, access: read-only }',
        '  - { name: bob, role: builder, runtime: claude }',
        'models: { builder: opus, analyst: haiku }',
        'mail: { routes: { bob: [ann] } }',
      ].join('\n'),
    );
    const { definition } = await bench.run({ ...TEAM, yes: true });
    expect(definition.agents.map(({ name, model }) => [name, model])).toEqual([
      ['ann', 'haiku'],
      ['implementer', undefined],
      ['writer', undefined],
    ]);
    expect(factsOf(definition).roster).toMatchObject([
      { commits: false, readOnly: true },
      { commits: true },
      { commits: true },
    ]);
  });

  it('has the models of its agents, although squad.yaml is written for others', async () => {
    const bench = benchWith();
    bench.write('squad.yaml', 'models: { planner: opus, builder-1: opus, writer: haiku }\n');
    const { definition } = await bench.run({ ...TEAM, yes: true });
    expect(definition.agents.map(({ name, model }) => [name, model])).toEqual([
      ['analyst', undefined],
      ['implementer', undefined],
      ['writer', 'haiku'],
    ]);
  });

  it('keeps its role file, to which an agent’s own instructions are added', async () => {
    const bench = benchWith();
    bench.write('mine.md', '# Role: analyst\n\n## Identity\n\nMine.\n\n## Boundaries\n\n## Execution\n\nMine.\n');
    const ann = '{ name: ann, role: analyst, runtime: claude, access: read-only, instructions: mine.md }';
    bench.write('squad.yaml', `agents: [${ann}]\n`);
    const [agent] = (await bench.run(TEAM)).definition.agents;
    expect(agent?.instructions).toMatch(
      /describes it \(roles\/analyst\.md\)[^]*You MUST do your task\.[^]*Further instructions from this repository \(mine\.md\)/,
    );
  });

  describe('that was just made for an objective', () => {
    const madeFor = async (deadline: string) => {
      const text = `---\nname: ours\nlimits: { usd: 5, turns: 7 }\n---\n${OBJECTIVE}\n## Priority\n\nHigh\n\n## Deadline\n\n${deadline}\n`;
      return { objective: { session: 'team', madeFor: await readObjective({ text, from: 'plans/it.md' }, '/') } };
    };

    it('is run with the criteria, the limits, the deadline, the priority and the name of that', async () => {
      const bench = benchWith();
      bench.write('squad.yaml', 'limits: { usd: 9, minutes: 30 }\n');
      const { definition } = await bench.run({ ...(await madeFor('2026-12-24T17:00Z')), limits: { turns: 8 } });
      expect(definition).toMatchObject({
        ...{ name: 'ours', limits: { usd: 5, turns: 8, minutes: 30 } },
        objective: {
          ...{ title: 'Make things', deadline: Date.UTC(2026, 11, 24, 17), priority: 'High' },
          criteria: [expect.objectContaining({ text: 'The form is there' })],
        },
      });
    });

    it('is refused once its deadline has passed', async () => {
      expect(await benchWith().refusal(await madeFor('2026-10-31T17:00Z'))).toMatchObject({
        ...{ code: 'bad-input', next: 'Play the session without this deadline: `squad run --session=team`.' },
        message: expect.stringMatching(/plans\/it\.md:\d+: the deadline 2026-10-31T17:00Z has passed/),
      });
    });
  });

  it('does not need what squad.yaml says of a playbook', async () => {
    const bench = benchWith();
    bench.write('squad.yaml', 'playbook: session\n');
    expect((await bench.run(TEAM)).definition.playbook).toBe('session');
    expect((await bench.run({ ...TEAM, playbook: 'session' })).definition.playbook).toBe('session');
  });
});

describe('a session is refused', () => {
  it.each<[string, Partial<SessionAbout>, Asked, object]>([
    [
      'if it is completed',
      { status: 'completed', done: DIAMOND.tasks.map(({ id }) => id) },
      {},
      { code: 'usage', message: expect.stringMatching(/^TC-make-things-2026-02-27 is completed, with 6 tasks/) },
    ],
    [
      'without a folder',
      {},
      { objective: { session: '' } },
      { code: 'usage', message: expect.stringMatching(/^Session required\./) },
    ],
    [
      'if there is none',
      {},
      { objective: { session: 'nowhere' } },
      { code: 'bad-input', message: expect.stringMatching(/^Session directory not found: nowhere/) },
    ],
    [
      'with another playbook',
      {},
      { playbook: 'delivery' },
      { code: 'usage', message: expect.stringContaining('--session and --playbook delivery cannot be combined') },
    ],
    ['with a name that is none', {}, { name: 'No Name' }, { code: 'bad-input' }],
  ])('%s', async (_, about, request, error) => {
    const bench = benchWith(about);
    expect(await bench.refusal({ ...TEAM, ...request })).toMatchObject(error);
    expect(bench.traces()).not.toContain('.squad');
  });
});

it('a session with two byte order marks is refused, not only found to be wrong later', async () => {
  const bench = benchWith();
  const path = join(bench.repository, 'team', 'team-session.json');
  writeFileSync(path, `\ufeff\ufeff${readFileSync(path, 'utf8')}`);
  expect(await bench.refusal(TEAM)).toMatchObject({ code: 'bad-input' });
});

describe('a secret in a session', () => {
  it('is neither stored nor read by agents, and the person’s file is not taken for squad’s', async () => {
    const role = `# Role: analyst\n\n## Identity\n\nUse ${TOKEN}.\n\n## Boundaries\n\n## Execution\n`;
    const files = {
      'roles/analyst.md': role,
      'shared-memory.json': JSON.stringify({ key: [TOKEN] }),
      'wisdom/learnings.md': `${TOKEN} works\n`,
      'artifacts/spec.md': `See ${TOKEN}\n`,
      'explorations/explore-a.json': JSON.stringify({ found: TOKEN }),
    };
    const bench = benchWith({ description: `Use ${TOKEN} to make things`, files });
    const { definition, warnings } = await bench.run(TEAM);
    const stored = JSON.stringify(definition);
    expect(stored).not.toContain(TOKEN);
    expect(definition.objective.text).toBe('Use [redacted] to make things');
    const { session } = definition.options as {
      session: { start: { state: string; memory: unknown; hashes: Record<string, string> } };
    };
    expect(session.start.memory).toEqual({ key: ['[redacted]'] });
    expect(JSON.parse(session.start.state)).toMatchObject({ task_description: 'Use [redacted] to make things' });
    const touched = ['team-session.json', ...Object.keys(files)];
    expect(Object.keys(session.start.hashes)).toContain('wisdom/issues.md');
    for (const path of touched) expect(session.start.hashes).not.toHaveProperty([path]);
    const secrets = warnings.filter(({ about }) => about === 'secret');
    expect(secrets.map(({ text }) => /team\/[^:]+/.exec(text)?.[0] ?? text).toSorted()).toEqual(
      touched.map((path) => `team/${path}`).toSorted(),
    );
  });

  it('is not in the text that is stored because of its numbers', async () => {
    const files = {
      'shared-memory.json': JSON.stringify({ key: TOKEN }).replace('}', ', "one": 1.0}'),
      'explorations/cache-index.json': '{"two": 2.0}',
    };
    const { definition } = await benchWith({ files }).run(TEAM);
    expect(JSON.stringify(definition)).not.toContain(TOKEN);
    const { session } = definition.options as { session: { start: { texts: object } } };
    expect(session.start.texts).toEqual({ 'explorations/cache-index.json': '{"two": 2.0}' });
  });

  it('is refused where it would be a name', ALL, async () => {
    const bench = benchWith({ roles: [{ name: 'analyst' }], tasks: [{ id: TOKEN, role: 'analyst' }] });
    expect(await bench.refusal(TEAM)).toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(/team\/team-session\.json:1: roles\[0\]\.prefix holds a secret/),
    });
    const third = benchWith({
      roles: [{ name: 'analyst' }],
      tasks: [
        { id: 'A', role: 'analyst' },
        { id: TOKEN, role: 'analyst' },
      ],
    });
    expect(await third.refusal(TEAM)).toMatchObject({
      message: expect.stringMatching(/team\/task-analysis\.json:1: tasks\[1\]\.id holds a secret/),
    });
    const fourth = benchWith({
      roles: [{ name: 'analyst', responsibility: TOKEN }],
      tasks: [{ id: 'A', role: 'analyst' }],
    });
    expect(await fourth.refusal(TEAM)).toMatchObject({
      message: expect.stringMatching(/team\/team-session\.json:1: roles\[0\]\.responsibility_type holds a secret/),
    });
    for (const folder of ['artifacts', 'roles']) {
      const other = benchWith();
      writeFileSync(join(other.repository, 'team', folder, `${TOKEN}.md`), '');
      expect(await other.refusal(TEAM), folder).toMatchObject({
        message: expect.stringContaining('the name of a file holds a secret'),
      });
    }
  });
});
