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
