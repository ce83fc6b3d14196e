import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OBJECTIVE, openBench, type Bench } from './support.ts';

const LIST = `playbook:
  stages:
    - { id: BUILD, by: [builder], brief: "Do it. {objective}", makes: code }
    - { id: TEST, by: [builder], brief: Test it., makes: { checks: [npm test] } }
`;
const AGENTS = 'agents:\n  - { name: bob, role: builder, runtime: claude }\n';

function own(bench: Bench, text: string): string {
  const folder = join(bench.root, 'config', 'squad');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), text);
  return join(folder, 'config.yaml');
}

describe('a list of stages in squad.yaml', () => {
  it('is frozen with the run, which is of the playbook `stages`', async () => {
    const bench = openBench();
    bench.write('squad.yaml', LIST + AGENTS);
    const { definition, items } = await bench.run({ yes: true, name: 'mine' });
    expect(definition).toMatchObject({
      playbook: 'stages',
      options: {
        list: { stages: [{ id: 'BUILD', makes: { code: true } }, { id: 'TEST' }] },
        folder: 'docs/squad/mine',
      },
    });
    expect(items).toEqual([{ from: 'stage', run: 'npm test', where: 'squad.yaml:1' }]);
  });

  it('is cast without agents', async () => {
    const bench = openBench();
    bench.write('squad.yaml', LIST);
    const { definition } = await bench.run({ yes: true });
    expect(definition.agents).toMatchObject([{ name: 'builder', role: 'builder', access: { level: 'edit' } }]);
  });

  it('runs no command without consent, and needs none where another playbook is chosen', async () => {
    const bench = openBench();
    bench.write('squad.yaml', LIST);
    const refused = await bench.refusal();
    expect([refused.code, refused.message]).toEqual([
      'not-trusted',
      expect.stringContaining('squad.yaml:1: stage: npm test'),
    ]);
    expect((await bench.run({ playbook: 'delivery' })).definition).toMatchObject({
      playbook: 'delivery',
      trusted: null,
    });
    bench.write('objective.md', `---\nplaybook: delivery\n---\n${OBJECTIVE}`);
    expect((await bench.run()).definition.playbook).toBe('delivery');
    expect((await bench.run({ playbook: 'stages', yes: true })).definition.playbook).toBe('stages');
  });

  it('is the person’s own where the repository names no playbook, and its commands are their word', async () => {
    const bench = openBench();
    const path = own(bench, LIST);
    const { definition, warnings } = await bench.run();
    expect(definition).toMatchObject({ playbook: 'stages', trusted: null });
    expect(warnings.map(({ text }) => text)).toContain(`from ${path}: stage: npm test`);
    bench.write('squad.yaml', 'playbook: delivery\n');
    const other = await bench.run();
    expect(other.definition.playbook).toBe('delivery');
    expect(other.warnings.map(({ text }) => text).join()).not.toContain('npm test');
  });

  it('is refused where the agents of another file cannot play it, with its own line', async () => {
    const bench = openBench();
    const path = own(bench, LIST);
    bench.write('squad.yaml', AGENTS.replace('builder', 'bilder'));
    const { code, message } = await bench.refusal();
    expect([code, message]).toEqual([
      'bad-input',
      expect.stringContaining(
        `${path}:3:25: playbook.stages[0].by[0]: no agent has the role “builder”; did you mean “bilder”?`,
      ),
    ]);
    expect(message).toContain(`${path}:4:24: playbook.stages[1].by[0]`);
  });

  it.each<[where: string, arrange: (bench: Bench) => void, playbook: string | undefined, message: string]>([
    [
      'the command line',
      () => undefined,
      'stages',
      'the playbook “stages” plays a list of stages, and no settings have one',
    ],
    [
      'the objective',
      (bench) => bench.write('objective.md', `---\nplaybook: stages\n---\n${OBJECTIVE}`),
      undefined,
      'objective.md:2: the playbook “stages” plays a list of stages, and no settings have one; for example:\n    playbook:\n      stages:',
    ],
    [
      'squad.yaml',
      (bench) => bench.write('squad.yaml', 'version: 1\nplaybook: stages\n'),
      undefined,
      'squad.yaml:2: the playbook “stages” plays a list of stages, and no settings have one; for example:',
    ],
  ])('has to be there if %s names `stages`', async (_where, arrange, playbook, message) => {
    const bench = openBench();
    arrange(bench);
    expect(await bench.refusal({ playbook })).toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(message),
    });
  });
});

describe('a list of stages in a file that the person names', () => {
  const FILE = 'squad/small.yaml';
  const inFile = (text: string): Bench => {
    const bench = openBench();
    mkdirSync(join(bench.repository, 'squad'));
    bench.write(FILE, text);
    return bench;
  };

  it('is played in place of what the objective and squad.yaml say, with its own agents', async () => {
    const bench = inFile(LIST + AGENTS.replace('bob', 'ada'));
    bench.write('squad.yaml', `playbook: delivery\n${AGENTS}setup: [{ run: npm ci }]\n`);
    bench.write('objective.md', `---\nplaybook: council\n---\n${OBJECTIVE}`);
    const { definition, items } = await bench.run({ playbook: FILE, yes: true });
    expect(definition).toMatchObject({ playbook: 'stages', agents: [{ name: 'ada' }], setup: [{ run: 'npm ci' }] });
    expect(items.map(({ run, where }) => `${where}: ${run}`)).toEqual(['squad.yaml:4: npm ci', `${FILE}:1: npm test`]);
  });

  it('is played by the agents of squad.yaml if it has none, and runs no command without consent', async () => {
    const bench = inFile(LIST);
    bench.write('squad.yaml', AGENTS);
    expect((await bench.run({ playbook: `./${FILE}`, yes: true })).definition.agents).toMatchObject([{ name: 'bob' }]);
    expect(await bench.refusal({ playbook: FILE })).toMatchObject({
      code: 'not-trusted',
      message: expect.stringContaining(`${FILE}:1: stage: npm test`),
    });
  });

  it('asks for grants of its agents, and names their file', async () => {
    const grant = '    network: true\n    model: opus\n    limits: { turns: 999 }\n';
    const bench = inFile(`${LIST}agents:\n  - name: bob\n    role: builder\n    runtime: claude\n${grant}`);
    const { items } = await bench.run({ playbook: FILE, yes: true });
    expect(items.map(({ from, where }) => `${from} ${where}`)).toEqual([
      `stage ${FILE}:1`,
      `agent ${FILE}`,
      `models ${FILE}:5`,
      ...items.flatMap(({ from, where }) => (from === 'limits' ? [`limits ${where}`] : [])),
    ]);
    expect(items.filter(({ where }) => !where.startsWith(FILE))).toEqual([]);
  });

  it.each<[what: string, text: string, message: string]>([
    ['other settings', `${LIST}verify: [{ run: evil }]\n`, `${FILE}:5: verify: a file that --playbook names has`],
    ['no list', AGENTS, `${FILE}:1: it has no list of stages; for example:`],
    ['a name in place of a list', 'playbook: delivery\n', `${FILE}:1: it has no list of stages`],
    ['a mistake', LIST.replace('makes: code', 'makes: cod'), `${FILE}:3:`],
    ['a role that nobody has', LIST + AGENTS.replace('builder', 'bilder'), `${FILE}:3:25: playbook.stages[0].by[0]`],
    [
      'a secret',
      LIST.replace('Do it.', `ghp_${'a1B2'.repeat(9)}`),
      `${FILE}:1: playbook.stages[0].brief holds a secret`,
    ],
  ])('is refused with %s, and nothing is left', async (_what, text, message) => {
    const bench = inFile(text);
    const before = bench.traces();
    expect(await bench.refusal({ playbook: FILE, yes: true })).toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(message),
    });
    expect(bench.traces()).toEqual(before);
  });

  it.each(['nosuch.yaml', 'squad/nosuch', 'squad'])('has to be a file: %s', async (playbook) => {
    const bench = inFile(LIST);
    const { code, message, next } = await bench.refusal({ playbook });
    expect([code, message]).toEqual(['bad-input', expect.stringContaining(playbook)]);
    expect(next).not.toBe('');
  });
});
