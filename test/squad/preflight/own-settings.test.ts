import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCoordinatePlaybook } from '../../../src/playbooks/coordinate/index.ts';
import { readObjective } from '../../../src/squad/preflight/read-input.ts';
import { newSessionSource } from '../../../src/squad/sources/session/new-session.ts';
import { OBJECTIVE, openBench, type Bench } from './support.ts';

/** Writes `$XDG_CONFIG_HOME/squad/config.yaml`, whose folder is the bench's own. */
function own(bench: Bench, text: string, name = 'config.yaml'): string {
  const folder = join(bench.root, 'config', 'squad');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const models = ({ definition }: Awaited<ReturnType<Bench['run']>>) =>
  Object.fromEntries(definition.agents.map(({ name, model }) => [name, model]));

describe('settings for all repositories', () => {
  it('count where the repository sets nothing, below the front matter and the command line', async () => {
    const bench = openBench();
    own(bench, 'limits: { usd: 3, turns: 50, parallel: 2 }\nplaybook: objective\n');
    bench.write('squad.yaml', 'limits: { turns: 60 }\nplaybook: delivery\n');
    const { definition } = await bench.run({ limits: { parallel: 4 }, yes: true });
    expect(definition).toMatchObject({ playbook: 'delivery', limits: { usd: 3, turns: 60, parallel: 4 } });
  });

  it('are only lowered by a repository and an objective, unless a person agrees to more', async () => {
    const bench = openBench();
    own(bench, 'limits: { usd: 1, turns: 5, task: { turns: 2 } }\n');
    bench.write('squad.yaml', 'version: 1\nlimits: { usd: 5000, turns: 4, parallel: 64, task: { turns: 9 } }\n');
    bench.write('objective.md', `---\nlimits: { usd: 300, minutes: 20000, turns: 4 }\n---\n${OBJECTIVE}`);
    const refused = await bench.refusal();
    expect(refused).toMatchObject({ code: 'not-trusted', exitCode: 78 });
    expect(refused.message.split('\n').slice(1)).toEqual([
      'objective.md:2: limits: limits.minutes 20000, the default of squad is 480',
      'objective.md:2: limits: limits.usd 300, your own limit is 1',
      'squad.yaml:2: limits: limits.parallel 64, the default of squad is 6',
      'squad.yaml:2: limits: limits.task.turns 9, your own limit is 2',
    ]);
    const held = { minutes: 480, usd: 1, turns: 4, parallel: 6, task: { turns: 2 } };
    expect((await bench.run({ dryRun: true })).definition).toMatchObject({ limits: held, trusted: null });
    const { definition, warnings } = await bench.run({ yes: true });
    expect(definition.limits).toMatchObject({ minutes: 20000, usd: 300, turns: 4, parallel: 64, task: { turns: 9 } });
    expect(warnings.filter(({ about }) => about === 'limit-sources')).toEqual([
      {
        about: 'limit-sources',
        text: [
          'limits of this run: minutes 20000, raised from 480 (the default) by objective.md:2',
          'usd 300, raised from 1 (your own) by objective.md:2',
          'parallel 64, raised from 6 (the default) by squad.yaml:2',
          'task.turns 9, raised from 2 (your own) by squad.yaml:2',
          'turns 4, lowered from 5 (your own) by objective.md:2',
        ].join('; '),
      },
    ]);
    const flags = { minutes: 7, usd: 2, parallel: 3, task: { turns: 8 } };
    expect((await bench.run({ limits: flags })).definition).toMatchObject({
      trusted: null,
      limits: { ...flags, turns: 4 },
    });
  });

  it('limit the turns of each agent of a repository, too', async () => {
    const bench = openBench();
    own(
      bench,
      'limits: { idleMinutes: 3 }\nagents: [{ name: b, role: builder, runtime: claude, limits: { usd: 2, turns: 7 } }]\n',
    );
    const limits = '{ usd: 3, tokens: 9, idleMinutes: 4, turnMinutes: 61, firstToolSeconds: 60, parallel: 50 }';
    bench.write('squad.yaml', `agents:\n  - { name: b, role: builder, runtime: claude, limits: ${limits} }\n`);
    expect((await bench.refusal()).message.split('\n').slice(1)).toEqual([
      'squad.yaml:1: limits: b: limits.usd 3, your own limit is 2',
      'squad.yaml:1: limits: b: limits.idleMinutes 4, your own limit is 3',
      'squad.yaml:1: limits: b: limits.turnMinutes 61, the default of squad is 60',
    ]);
    const { definition } = await bench.run({ yes: true });
    expect(definition.agents[0]?.limits).toEqual({
      ...{ usd: 3, tokens: 9, idleMinutes: 4, turnMinutes: 61 },
      firstToolSeconds: 60,
      parallel: 50,
      turns: 7,
    });
  });

  it('run their commands without a question, and the run says which', async () => {
    const bench = openBench();
    const path = own(bench, 'verify: [{ run: npm test }]\nruntimes: { claude: { env: [MY_KEY] } }\n');
    const { definition, warnings } = await bench.run();
    expect(definition).toMatchObject({ verify: [{ run: 'npm test' }], trusted: null });
    expect(warnings.filter(({ about }) => about === 'own-settings')).toEqual([
      { about: 'own-settings', text: `from ${path}: verify: npm test; agent: claude gets the variable MY_KEY` },
    ]);
  });

  it('are named in few words: of configuration only its keys', async () => {
    const bench = openBench();
    const provider = '{ name: fake, base_url: http://127.0.0.1:1/v1, wire_api: responses, env_key: FAKE_KEY }';
    const config = `{ model_provider: fake, model_providers.fake: ${provider}, model_providers.other: ${provider} }`;
    const path = own(bench, `verify: [{ run: npm test }]\nruntimes: { codex: { config: ${config} } }\n`);
    const { warnings } = await bench.run();
    const keys = 'model_provider, "model_providers.fake", "model_providers.other"';
    expect(warnings.filter(({ about }) => about === 'own-settings').map(({ text }) => text)).toEqual([
      `from ${path}: verify: npm test; runtime: codex with config of ${keys}`,
    ]);
  });

  it('do not stand for the commands of a repository', async () => {
    const bench = openBench();
    own(bench, 'setup: [{ run: make }]\nverify: [{ run: npm test }]\n');
    bench.write('squad.yaml', 'verify: [{ run: npm test }]\n');
    const refused = await bench.refusal();
    expect(refused).toMatchObject({ code: 'not-trusted' });
    expect(refused.message).toContain('squad.yaml:1: verify: npm test');
    expect(refused.message).not.toContain('make');
    const { warnings } = await bench.run({ yes: true });
    const shown = warnings.filter(({ about }) => about === 'own-settings').map(({ text }) => text);
    expect(shown).toEqual([expect.stringMatching(/: setup: make$/)]);
  });

  it.each([
    ['minutes: 3', /config\.yaml:1(?::1)?: .*minutes/],
    ['verify: npm test', /config\.yaml:1/],
    ['agents:\n  - { name: a, role: reviewer, runtime: claude, access: read-only }', /config\.yaml:1: .*builds/],
    ['playbook: nothing', /config\.yaml:1: no playbook is called/],
    ['mail: { routes: { nobody: [a] } }', /config\.yaml:1: mail\.routes\.nobody/],
    ['models: { planner: "" }', /config\.yaml:1/],
    ['runtimes: { claude: { command: bin/claude } }', /config\.yaml:1.* absolute path/],
  ])('are refused with their file and line: %s', async (text, message) => {
    const bench = openBench();
    own(bench, text);
    expect(await bench.refusal()).toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(message) as string,
    });
  });

  it('are refused if others can write them, or under a name that squad does not read', async () => {
    const bench = openBench();
    chmodSync(own(bench, 'strict: true'), 0o666);
    expect(await bench.refusal()).toMatchObject({
      code: 'wrong-environment',
      next: expect.stringContaining('chmod go-w'),
    });
    const other = openBench();
    own(other, 'strict: true', 'config.yml');
    expect(await other.refusal()).toMatchObject({
      code: 'bad-input',
      next: expect.stringContaining('Rename it: `mv '),
    });
  });
});

describe('models without a roster', () => {
  it('come from the user’s file, squad.yaml and the command line, in this order', async () => {
    const bench = openBench(['claude']);
    own(bench, 'models: { planner: haiku, reviewer: haiku, pm: opus }');
    bench.write('squad.yaml', 'models: { planner: sonnet, builder-1: sonnet, builder: haiku }');
    expect(models(await bench.run({ models: { reviewer: 'opus', 'builder-1': 'opus' }, yes: true }))).toEqual({
      planner: 'sonnet',
      'builder-1': 'opus',
      'reviewer-1': 'opus',
    });
    expect(models(await bench.run({ yes: true }))).toMatchObject({ 'builder-1': 'sonnet', 'reviewer-1': 'haiku' });
  });

  it('leave an agent its own, and belong to the runtimes of the settings', async () => {
    const bench = openBench();
    bench.write(
      'squad.yaml',
      'models: { builder: haiku }\nagents: [{ name: a, role: builder, runtime: claude, model: opus }, { name: b, role: builder, runtime: claude }]',
    );
    expect(models(await bench.run({ yes: true }))).toEqual({ a: 'opus', b: 'haiku' });
    expect(models(await bench.run({ runtime: 'codex', yes: true }))).toEqual({ a: undefined, b: undefined });
    expect(models(await bench.run({ runtime: 'codex', models: { builder: 'gpt' }, yes: true }))).toEqual({
      a: 'gpt',
      b: 'gpt',
    });
  });

  it('are refused for a name that is not there, with those that are', async () => {
    const bench = openBench(['claude']);
    expect(await bench.refusal({ models: { plannr: 'opus' } })).toMatchObject({
      code: 'usage',
      message: '--model plannr=…: there is no agent or role plannr; did you mean planner?',
      next: 'This run has planner (planner), builder-1 (builder), reviewer-1 (reviewer). For example `--model planner=opus`.',
    });
    bench.write('squad.yaml', 'strict: false\nmodels: { builder-9: opus }');
    expect((await bench.refusal()).message).toMatch(
      /squad\.yaml:2: models\.builder-9: there is no agent or role builder-9; did you mean builder-1\?/,
    );
  });

  it('may name others than the planner of a session', async () => {
    const playbook = createCoordinatePlaybook({
      ...{ folder: '/team', shown: 'team', id: 'TC-a', team: 'a', createdAt: '2026-02-27T09:00:00.000Z' },
      ...{ invalid: [], kept: [], isThere: false, criteria: [], play: [], playWithout: [] },
    });
    const bench = openBench(['claude']);
    const text = readFileSync(join(bench.repository, 'objective.md'), 'utf8');
    const source = newSessionSource(
      await readObjective({ text, from: 'objective.md' }, '/'),
      playbook,
      () => undefined,
    );
    bench.write('squad.yaml', 'models: { planner: opus, builder: haiku }');
    expect(models(await bench.run({ source, yes: true }))).toEqual({ planner: 'opus' });
    const agents = ['planner, runtime: claude', 'builder, runtime: claude'].map(
      (role, n) => `{ name: a${n}, role: ${role} }`,
    );
    bench.write('squad.yaml', `models: { a0: opus, a1: haiku, builder: haiku }\nagents: [${agents.join(', ')}]`);
    expect(models(await bench.run({ source, yes: true }))).toEqual({ a0: 'opus' });
  });

  it('are refused for a role on several runtimes', async () => {
    const bench = openBench();
    const { message } = await bench.refusal({ models: { builder: 'opus' } });
    expect(message).toContain('on several runtimes, which have models of their own; name one of builder-1 (claude)');
  });
});
