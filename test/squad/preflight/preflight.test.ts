import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SquadError } from '../../../src/model/errors.ts';
import { runDefinitionSchema } from '../../../src/model/run.ts';
import { git } from '../../support/git.ts';
import { NOW, OBJECTIVE, OPEN_FORGE, openBench, type Bench, type Asked } from './support.ts';
import { ALL } from '../../support/lane.ts';

describe('a definition', () => {
  it('holds all that a run was started with', async () => {
    const bench = openBench();
    bench.write(
      'squad.yaml',
      'limits: { usd: 5, turns: 9 }\nsetup: [{ run: npm ci }]\nverify: [{ run: npm test, minutes: 3 }]\npublish: { pr: true }\n',
    );
    bench.write('objective.md', `---\nlimits: { usd: 6, minutes: 30 }\n---\n${OBJECTIVE}\n## Priority\n\nHigh\n`);
    const forge = () => OPEN_FORGE;
    const { definition, repository } = await bench.run({ yes: true, limits: { minutes: 20 } }, { forge });
    expect(definition).toMatchObject({
      version: 1,
      name: 'let-people-log-in',
      source: 'objective.md',
      playbook: 'delivery',
      options: {
        reviewRounds: 4,
        list: {
          shows: 'tasks',
          stages: [
            { id: 'PLAN', by: ['planner'] },
            { id: 'BUILD', requires: [{ pr: true }] },
          ],
        },
      },
      limits: { minutes: 20, usd: 5, turns: 9, parallel: 6 },
      setup: [{ run: 'npm ci', minutes: 10 }],
      verify: [{ run: 'npm test', minutes: 3 }],
      publish: { remote: 'origin', pr: true },
      repository: { root: bench.repository, base: git(bench.repository, 'rev-parse', 'HEAD'), branch: 'main' },
      trusted: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(definition.objective).toMatchObject({ title: 'Let people log in', priority: 'High' });
    expect(definition.objective.text).toContain('limits: { usd: 6');
    expect(runDefinitionSchema.parse(JSON.parse(JSON.stringify(definition)))).toEqual(definition);
    expect(repository.root).toBe(bench.repository);
  });

  it('has a planner, and builders and reviewers on every runtime that is found', async () => {
    const { definition } = await openBench().run();
    expect(
      definition.agents.map(({ name, runtime, account, access }) => [name, runtime, account, access.level]),
    ).toEqual([
      ['planner', 'claude', 'claude', 'read-only'],
      ['builder-1', 'claude', 'claude', 'edit'],
      ['builder-2', 'codex', 'codex', 'edit'],
      ['reviewer-1', 'claude', 'claude', 'read-only'],
      ['reviewer-2', 'codex', 'codex', 'read-only'],
    ]);
    expect(definition.trusted).toBeNull();
  });

  it.each<[playbook: string, settings: string, request: Asked, plan: 'ask' | 'auto']>([
    ['delivery', '', {}, 'auto'],
    ['delivery', '', { attended: true }, 'ask'],
    ['delivery', '', { attended: true, yes: true }, 'auto'],
    ['objective', '', { attended: true }, 'auto'],
    ['objective', 'plan: ask\n', { attended: true }, 'ask'],
    ['objective', '', { plan: 'ask' }, 'ask'],
  ])('asks about the plan as its playbook and the caller want: %s %j %j', async (playbook, settings, request, plan) => {
    const bench = openBench();
    bench.write('squad.yaml', settings);
    expect((await bench.run({ playbook, ...request })).definition.plan).toBe(plan);
  });

  it('stays below the runtime that was asked for', async () => {
    const bench = openBench();
    bench.write(
      'squad.yaml',
      'agents:\n  - { name: a, role: builder, runtime: claude, model: sonnet, allow: ["Bash(x)"] }\n',
    );
    const replaced = await bench.run({ runtime: 'codex', yes: true });
    expect(replaced.definition.agents).toMatchObject([{ name: 'a', runtime: 'codex', account: 'codex' }]);
    expect(replaced.definition.agents[0]).not.toHaveProperty('model');
    expect(replaced.definition.agents[0]).not.toHaveProperty('allow');
    const same = await bench.run({ runtime: 'claude', yes: true });
    expect(same.definition.agents).toMatchObject([{ model: 'sonnet', allow: ['Bash(x)'] }]);
    bench.write('squad.yaml', '');
    const made = await bench.run({ runtime: 'codex' });
    expect(made.definition.agents.map(({ runtime }) => runtime)).toEqual(['codex', 'codex', 'codex']);
  });

  it('keeps its time limit beside a deadline, which is a moment of the wall clock', async () => {
    const bench = openBench();
    bench.write('objective.md', `${OBJECTIVE}\n## Deadline\n\n${new Date(NOW + 90 * 60_000).toISOString()}\n`);
    const { definition } = await bench.run({ limits: { minutes: 600 } });
    expect(definition.limits.minutes).toBe(600);
    expect(definition.objective.deadline).toBe(NOW + 90 * 60_000);
  });

  it('names programs and scripts by absolute paths', async () => {
    const bench = openBench();
    mkdirSync(join(bench.repository, 'demo'));
    bench.write('demo/script.json', '{"turns":[]}');
    bench.write(
      'squad.yaml',
      'runtimes:\n  scripted: { config: { script: demo/script.json } }\n  claude: { command: tools/claude }\n  codex: { command: git, env: [CODEX_API_KEY] }\n',
    );
    const { definition } = await bench.run({ runtime: 'scripted', yes: true });
    const script = join(bench.repository, 'demo/script.json');
    expect(definition.runtimes).toMatchObject({
      scripted: { config: { script } },
      claude: { command: join(bench.repository, 'tools/claude') },
      codex: { command: expect.stringMatching(/^\/.*\/git$/), env: ['CODEX_API_KEY'] },
    });
    expect(bench.probed).toEqual([{ name: 'scripted', choice: { allowEnvironment: [], config: { script } } }]);
  });

  it('leaves a runtime’s usual program to its adapter, which knows where that is', async () => {
    const bench = openBench();
    bench.write('squad.yaml', 'runtimes: { claude: { command: claude } }\n');
    const { definition } = await bench.run({ runtime: 'claude' });
    expect(definition.runtimes.claude).toEqual({ env: [] });
    expect(bench.probed).toEqual([{ name: 'claude', choice: { allowEnvironment: [] } }]);
  });

  it('freezes what agents are told, with the file that squad.yaml names', async () => {
    const bench = openBench();
    bench.write('notes.md', 'Prefer small functions.\n');
    bench.write('squad.yaml', 'agents:\n  - { name: a, role: builder, runtime: claude, instructions: notes.md }\n');
    const [agent] = (await bench.run()).definition.agents;
    expect(agent?.instructions).toMatch(/\(notes\.md\):\n\nPrefer small functions\.\n\nYour name in the squad is a\.$/);
    expect((await bench.run({ name: 'other' })).definition.agents[0]).toEqual(agent);
  });

  it('passes on what is worth knowing about the repository', async () => {
    const bench = openBench();
    bench.write('readme.md', 'changed\n');
    expect((await bench.run()).warnings).toContainEqual(expect.objectContaining({ about: 'tracked-changes' }));
  });

  it('is found from a folder below the root too', async () => {
    const bench = openBench();
    mkdirSync(join(bench.repository, 'sub'));
    bench.write('squad.yaml', 'limits: { turns: 7 }\n');
    const host = bench.host({ workingDirectory: join(bench.repository, 'sub') });
    const { definition } = await bench.run({ objective: '../objective.md' }, { host });
    expect(definition).toMatchObject({ source: '../objective.md', limits: { turns: 7 } });
  });

  it.each([
    [{}, 'let-people-log-in-2'],
    [{ name: 'mine' }, 'mine'],
  ])('is named so that no other run is: %j', async (request, name) => {
    const takenNames = () => ['let-people-log-in'];
    expect((await openBench().run(request, { takenNames })).definition.name).toBe(name);
  });
});

interface Bad {
  readonly title: string;
  readonly arrange?: (bench: Bench) => void;
  readonly request?: Asked;
  readonly found?: readonly ('claude' | 'codex' | 'scripted')[];
  readonly code: SquadError['code'];
  readonly message: RegExp;
  readonly next: RegExp;
}

const settings = (text: string) => (bench: Bench) => bench.write('squad.yaml', text);
const objective = (text: string | Buffer) => (bench: Bench) => bench.write('objective.md', text);
const bad = 'bad-input';

const BAD: readonly Bad[] = [
  {
    title: 'a missing objective',
    request: { objective: 'gone.md' },
    code: bad,
    message:
      /^gone\.md cannot be used:\ngone\.md:1: file not found; for example:\n {4}# Objective: [^]*## Success Criteria/,
    next: /squad init/,
  },
  {
    title: 'an empty objective',
    arrange: objective('\n'),
    code: bad,
    message: /^objective\.md[^]*objective\.md:1: there is no objective/,
    next: /objective\.md/,
  },
  {
    title: 'an objective without goals',
    arrange: objective('# Title\n'),
    code: bad,
    message: /## Goals/,
    next: /objective\.md/,
  },
  {
    title: 'a folder as objective',
    request: { objective: '.' },
    code: bad,
    message: /is a folder; name a file in it, such as objective\.md/,
    next: /Correct/,
  },
  {
    title: 'bytes that are no text',
    arrange: objective(Buffer.from('# a\n\n\xff\n', 'latin1')),
    code: bad,
    message: /objective\.md:3: is not UTF-8/,
    next: /Correct/,
  },
  {
    title: 'a pipe as objective',
    arrange: ({ repository }) => void execFileSync('sh', ['-c', 'mkfifo pipe.md'], { cwd: repository }),
    request: { objective: 'pipe.md' },
    code: bad,
    message: /is not a regular file/,
    next: /Correct/,
  },
  {
    title: 'an unknown key',
    arrange: settings('version: 1\nlimts: { usd: 3 }\n'),
    code: bad,
    message: /^squad\.yaml cannot be used:\nsquad\.yaml:2:1: unknown key “limts”; did you mean “limits”\?/,
    next: /squad\.yaml/,
  },
  {
    title: 'settings under another name',
    arrange: ({ write }) => write('squad.yml', ''),
    code: bad,
    message: /squad\.yml:1: squad does not read this file/,
    next: /git mv squad\.yml squad\.yaml/,
  },
  {
    title: 'settings that are a link to elsewhere',
    arrange: ({ repository, root }) => {
      writeFileSync(join(root, 'secret'), 'version: 1\n');
      symlinkSync(join(root, 'secret'), join(repository, 'squad.yaml'));
    },
    code: bad,
    message: /squad\.yaml:1: is a link to a place outside/,
    next: /Correct/,
  },
  {
    title: 'a path as the name of an agent',
    arrange: settings('agents:\n  - { name: ../x, role: builder, runtime: claude }\n'),
    code: bad,
    message: /squad\.yaml:2:\d+: agents\[0\]\.name: “\.\.\/x” needs lower-case/,
    next: /Correct/,
  },
  {
    title: 'a path as the name of the run',
    arrange: objective(`---\nname: ../x\n---\n${OBJECTIVE}`),
    code: bad,
    message: /objective\.md:2:\d+: name: “\.\.\/x” needs lower-case/,
    next: /Correct/,
  },
  {
    title: 'a path as --name',
    request: { name: '../x' },
    code: bad,
    message: /--name “\.\.\/x” needs lower-case/,
    next: /--name/,
  },
  {
    title: 'a name in use',
    request: { name: 'taken' },
    code: bad,
    message: /named taken already exists/,
    next: /squad resume taken/,
  },
  {
    title: 'a limit beyond all bounds',
    request: { limits: { minutes: 1e9 } },
    code: 'usage',
    message: /^--max-minutes: /,
    next: /--help/,
  },
  {
    title: 'a deadline that has passed',
    arrange: objective(`${OBJECTIVE}\n## Deadline\n\n2026-10-31\n`),
    code: bad,
    message: /objective\.md:13: the deadline 2026-10-31 has passed/,
    next: /later deadline/,
  },
  {
    title: 'an unknown playbook',
    request: { playbook: 'delivry' },
    code: bad,
    message: /“delivry”; did you mean “delivery”\? available: delivery, solo, best-of, objective, council$/,
    next: /--playbook/,
  },
  {
    title: 'the playbook of a sprint, on the command line',
    request: { playbook: 'sprint' },
    code: 'usage',
    message: /^squad itself starts the run of a sprint: `squad sprint start "milestone"`$/,
    next: /squad sprint start "milestone"/,
  },
  {
    title: 'the playbook of a session without its folder, on the command line',
    request: { playbook: 'session' },
    code: 'usage',
    message: /^Session required\. Usage: --session=<path-to-session-folder>$/,
    next: /squad run --session=/,
  },
  {
    title: 'the playbook of a session without its folder, in the objective',
    arrange: objective(`---\nplaybook: session\n---\n${OBJECTIVE}`),
    code: bad,
    message: /objective\.md:2: Session required\. Usage: --session=<path-to-session-folder>/,
    next: /objective\.md/,
  },
  {
    title: 'the playbook of a sprint, in squad.yaml',
    arrange: settings('version: 1\nplaybook: sprint\n'),
    code: bad,
    message: /squad\.yaml:2: squad itself starts the run of a sprint: `squad sprint start "milestone"`/,
    next: /squad\.yaml/,
  },
  {
    title: 'an unknown playbook in the objective',
    arrange: objective(`---\nplaybook: x\n---\n${OBJECTIVE}`),
    code: bad,
    message: /objective\.md:2: no playbook is called “x”; available: delivery/,
    next: /objective\.md/,
  },
  {
    title: 'an unknown playbook in squad.yaml',
    arrange: settings('version: 1\nplaybook: constructor\n'),
    code: bad,
    message: /squad\.yaml:2: no playbook is called “constructor”/,
    next: /squad\.yaml/,
  },
  {
    title: 'a list of no stage',
    arrange: settings('version: 1\nplaybook: { stages: [] }\n'),
    code: bad,
    message: /squad\.yaml:2:21: playbook\.stages: a list has no stage/,
    next: /squad\.yaml/,
  },
  {
    title: 'a roster that the playbook cannot use',
    arrange: settings('version: 1\nagents:\n  - { name: p, role: planner, runtime: claude }\n'),
    code: bad,
    message: /squad\.yaml:2: delivery needs at least one agent that builds/,
    next: /agents/,
  },
  {
    title: 'no runtime',
    found: ['scripted'],
    code: 'wrong-environment',
    message: /no agent runtime can be used here: claude: it was not found; codex: it was not found/,
    next: /squad doctor/,
  },
  {
    title: 'a runtime that is not there',
    found: ['codex'],
    request: { runtime: 'claude' },
    code: 'wrong-environment',
    message: /planner, builder-1, reviewer-1 cannot work: claude cannot be used here: it was not found/,
    next: /^Install it\. `squad doctor`/,
  },
  {
    title: 'an agent whose runtime is not there',
    found: ['claude'],
    arrange: settings(
      'agents:\n  - { name: a, role: builder, runtime: claude }\n  - { name: b, role: builder, runtime: codex }\n',
    ),
    code: 'wrong-environment',
    message: /^b cannot work: codex/,
    next: /squad doctor/,
  },
  {
    title: 'a program that is not there',
    request: { runtime: 'codex', yes: true },
    arrange: settings('runtimes: { codex: { command: no-such-codex } }\n'),
    code: 'wrong-environment',
    message: /runtimes\.codex\.command: no-such-codex is not on PATH/,
    next: /name its path/,
  },
  {
    title: 'the scripted runtime without a script',
    request: { runtime: 'scripted' },
    arrange: settings('version: 1\nruntimes: { scripted: {} }\n'),
    code: bad,
    message: /squad\.yaml:2: runtimes\.scripted\.config\.script is missing[^]*for example:\n[^]*script: path/,
    next: /docs\/scripted\.md/,
  },
  {
    title: 'a script that is not there',
    request: { runtime: 'scripted', yes: true },
    arrange: settings('runtimes: { scripted: { config: { script: gone.json } } }\n'),
    code: bad,
    message: /names \/.*\/gone\.json, which is not a file/,
    next: /docs\/scripted\.md/,
  },
  {
    title: 'instructions that are not there',
    arrange: settings('agents:\n  - name: a\n    role: builder\n    runtime: claude\n    instructions: docs/gone.md\n'),
    code: bad,
    message: /squad\.yaml:5: instructions: docs\/gone\.md does not exist/,
    next: /docs\/gone\.md/,
  },
  {
    title: 'instructions from outside',
    arrange: (bench) => {
      writeFileSync(join(bench.root, 'secret'), 'secret');
      symlinkSync(join(bench.root, 'secret'), join(bench.repository, 'a.md'));
      bench.write('squad.yaml', 'agents:\n  - { name: a, role: builder, runtime: claude, instructions: a.md }\n');
    },
    code: bad,
    message: /a\.md is a link to a place outside the repository/,
    next: /a\.md/,
  },
  {
    title: 'instructions that are too long',
    arrange: (bench) => {
      bench.write('a.md', 'x'.repeat(64 * 1024 + 1));
      bench.write('squad.yaml', 'agents:\n  - { name: a, role: builder, runtime: claude, instructions: a.md }\n');
    },
    code: bad,
    message: /a\.md is larger than 64 KiB/,
    next: /a\.md/,
  },
  {
    title: 'a branch that stands where run branches go',
    arrange: ({ repository }) => void git(repository, 'branch', 'squad'),
    code: 'wrong-environment',
    message: /branch named `squad`/,
    next: /git branch -m/,
  },
];

describe('bad input ends in one error, and nothing is created', () => {
  it.each(BAD)('$title', ALL, async ({ arrange, request, found, code, message, next }) => {
    const bench = openBench(found);
    arrange?.(bench);
    const before = bench.traces();
    const error = await bench.refusal(request, { takenNames: () => ['taken'] });
    expect(error.message).toMatch(message);
    expect(error.next).toMatch(next);
    expect(error.code).toBe(code);
    expect(bench.traces()).toEqual(before);
  });

  it('outside a repository, whatever else is wrong', async () => {
    const bench = openBench([]);
    const folder = join(bench.root, 'elsewhere');
    mkdirSync(folder);
    const host = bench.host({ workingDirectory: folder });
    const before = bench.traces();
    const error = await bench.refusal({ objective: 'gone.md', name: '../x' }, { host });
    expect(error).toMatchObject({ code: 'not-a-repository', exitCode: 78, next: expect.stringContaining('git init') });
    expect(bench.traces()).toEqual(before);
  });

  it('access full as root', async () => {
    const bench = openBench();
    bench.write('squad.yaml', 'agents:\n  - { name: a, role: builder, runtime: claude, access: full }\n');
    const error = await bench.refusal({ yes: true }, { host: bench.host({ isRoot: true }) });
    expect(error).toMatchObject({ code: 'wrong-environment', next: expect.stringMatching(/^Give a `access: edit`/) });
    expect(await bench.refusal({ yes: true })).toMatchObject({ code: 'not-trusted', exitCode: 78 });
    const allowed = await bench.run({ yes: true, allowFullAccess: true });
    expect(allowed.definition.agents).toMatchObject([{ access: { level: 'full' } }]);
  });
});

describe('a run that begins from a named commit', () => {
  const open = () => {
    const bench = openBench();
    bench.write('objective.md', OBJECTIVE);
    git(bench.repository, 'branch', 'release');
    git(bench.repository, 'commit', '-q', '--allow-empty', '-m', 'later');
    return bench;
  };
  const fetching = (answer: Awaited<ReturnType<typeof OPEN_FORGE.fetch>>) => {
    const fetched: string[] = [];
    const fetch = (remote: string) => {
      fetched.push(remote);
      return Promise.resolve(answer);
    };
    return { fetched, forge: () => ({ ...OPEN_FORGE, fetch }) };
  };

  it('keeps what it is called, with its commit and the branch that gets the work', async () => {
    const bench = open();
    const base = git(bench.repository, 'rev-parse', 'release');
    const { definition } = await bench.run({ yes: true, base: 'release' });
    expect(definition.repository).toEqual({ root: bench.repository, base, branch: 'release', from: 'release' });
    expect(runDefinitionSchema.parse(definition)).toEqual(definition);
  });

  it('fetches first where a person asks for it, but not in a dry run', async () => {
    const bench = open();
    const { fetched, forge } = fetching({ type: 'found' });
    await bench.run({ yes: true, base: 'release', fetch: true, dryRun: true }, { forge });
    expect(fetched).toEqual([]);
    await bench.run({ yes: true, base: 'release', fetch: true }, { forge });
    expect(fetched).toEqual(['origin']);
  });

  it.each<[string, Asked, RegExp]>([
    ['a ref that is not there', { base: 'nowhere' }, /no branch, tag or commit has that name/],
    ['a fetch that fails', { base: 'origin/main', fetch: true }, /nothing was started: git could not fetch origin/],
    ['a fetch for nothing', { fetch: true }, /without --base/],
  ])('is refused: %s', async (_title, asked, why) => {
    const bench = open();
    const { forge } = fetching({ type: 'refused', why: 'git could not fetch origin: no route' });
    await expect(bench.run({ yes: true, ...asked }, { forge })).rejects.toThrow(why);
  });
});
