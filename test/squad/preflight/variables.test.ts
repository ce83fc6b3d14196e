import { describe, expect, it } from 'vitest';
import { letThroughBy } from '../../../src/model/let-through.ts';
import { openBench } from './support.ts';

const PATH = process.env['PATH'];
const TWO = 'baseline: off\nenv:\n  - HERE\n  - GONE\n';
const OF_A_STEP = 'env: [HERE]\nverify:\n  - { run: npm test, env: [GONE] }\n';

describe('a variable of env', () => {
  it.each<[text: string, at: string]>([
    ['env: [GONE]\n', '1'],
    [TWO, '4'],
    [OF_A_STEP, '3'],
    ['setup: [{ run: npm ci, env: [GONE] }]\n', '1'],
  ])('that is not set is named with its place before anyone is asked: %j', async (text, at) => {
    const bench = openBench();
    bench.write('squad.yaml', text);
    const before = bench.traces();
    for (const dryRun of [false, true]) {
      const host = bench.host({ environment: { PATH, HERE: 'value-of-here' } });
      expect(await bench.refusal({ dryRun }, { host })).toMatchObject({
        code: 'wrong-environment',
        message: `squad.yaml:${at}: env: the variable GONE is not set here`,
        next: 'Set it: `export GONE=…`, then run the command again. Or take it out of squad.yaml.',
      });
    }
    expect(bench.traces()).toEqual(before);
  });

  it.each<[text: string, says: RegExp]>([
    ['env: DATABASE_URL\n', /squad\.yaml:1:6: env/],
    ['env: ["DATABASE_URL=x"]\n', /squad\.yaml:1:7: .*needs the name of a variable, without its value/],
    ['env: ["A B"]\n', /needs the name of a variable/],
    ['env: [""]\n', /needs the name of a variable/],
    ['version: 1\nverify:\n  - run: npm test\n    env: [1]\n', /squad\.yaml:4:11: verify\[0\]\.env/],
    [`env: [${Array.from({ length: 101 }, (_, index) => `V${index}`).join(', ')}]\n`, /squad\.yaml:1:6: env/],
  ])('is a plain name: %j', async (text, says) => {
    const bench = openBench();
    bench.write('squad.yaml', text);
    expect((await bench.refusal({ yes: true })).message).toMatch(says);
  });

  it('is frozen by its name, is a secret, and needs consent', async () => {
    const bench = openBench();
    bench.write('squad.yaml', OF_A_STEP);
    const environment = { PATH, HERE: 'value-of-here', GONE: 'value-of-gone' };
    const { definition, items } = await bench.run({ yes: true }, { host: bench.host({ environment }) });
    expect(definition.env).toEqual(['HERE']);
    expect(definition.verify).toEqual([{ run: 'npm test', minutes: 10, env: ['GONE'] }]);
    expect(JSON.stringify(definition)).not.toMatch(/value-of/);
    expect(letThroughBy(definition)).toEqual(['HERE', 'GONE']);
    expect(items.map(({ from, run, where }) => `${where} ${from}: ${run}`)).toEqual([
      'squad.yaml:2 verify: npm test',
      'squad.yaml:1 env: every command gets the variable HERE',
      'squad.yaml:2 env: `npm test` gets the variable GONE',
    ]);
  });
});
