import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runDefinitionSchema } from '../../../src/model/run.ts';
import { openBench, type Bench } from './support.ts';
import { ALL } from '../../support/lane.ts';

const HEAD = 'role: builder\noccasion: instructions\nneeds: []\nbudget: 1200';

function change(bench: Bench, name: string, text: string | Buffer): void {
  const path = join(bench.repository, 'squad/prompts', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const file = (body: string, head = HEAD): string => `---\n${head}\n---\n${body}\n`;

describe('prompts that a repository has changed', () => {
  it('are frozen with the run, hashed, and reach the instructions and the plan', async () => {
    const bench = openBench();
    const before = (await bench.run()).definition;
    expect([before.prompts, before.promptHash]).toEqual([undefined, expect.stringMatching(/^[0-9a-f]{12}$/)]);
    change(bench, 'builder/role.md', file('You build boats.'));
    change(
      bench,
      'planner/first.md',
      file(
        'Split this objective for {{builders}}, in boats.',
        'role: planner\noccasion: first\nneeds: [builders]\nbudget: 9000',
      ),
    );
    const { definition, warnings } = await bench.run();
    expect(definition.prompts).toEqual({
      'builder/role': 'You build boats.',
      'planner/first': 'Split this objective for {{builders}}, in boats.',
    });
    expect(definition.promptHash).not.toBe(before.promptHash);
    expect(definition.agents.find(({ name }) => name === 'builder-1')?.instructions).toContain('You build boats.');
    expect(JSON.stringify(definition.options)).toContain('Split this objective for builder, in boats.');
    expect(warnings.map(({ text }) => text)).toContain('2 prompts of squad are changed: builder/role, planner/first');
    expect(runDefinitionSchema.parse(JSON.parse(JSON.stringify(definition)))).toEqual(definition);
  });

  it('may come from the caller, over those of the repository', async () => {
    const bench = openBench();
    change(bench, 'builder/role.md', file('You build boats.'));
    const { definition } = await bench.run({ prompts: { 'builder/role': 'You build bridges.' } });
    expect(definition.prompts).toEqual({ 'builder/role': 'You build bridges.' });
    const { message } = await bench.refusal({ prompts: { 'bulder/role': 'x', 'builder/role': '{{task}}' } });
    expect(message).toContain('the option prompts:1: there is no prompt bulder/role; did you mean builder/role?');
    expect(message).toContain('the option prompts, builder/role:1:1: body: “task” is no fact of builder/role');
  });

  it('count as squad’s own where they say the same, and warn about their size and age', ALL, async () => {
    const bench = openBench();
    const plain = (await bench.run()).definition;
    const { PROMPTS } = await import('../../../src/prompts/shipped.ts');
    change(bench, 'builder/role.md', file(PROMPTS['builder/role'].body));
    expect((await bench.run()).definition).toEqual(plain);
    change(bench, 'builder/role.md', file('x'.repeat(30), `${HEAD.replace('1200', '20')}\nfrom: "000000000000"`));
    expect((await bench.run()).warnings.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        'squad/prompts/builder/role.md has 30 bytes without its facts, and its budget is 20',
        'squad’s own text of builder/role has changed since squad/prompts/builder/role.md was written',
      ]),
    );
  });

  it.each<[what: string, name: string, text: string | Buffer, said: string]>([
    ['no head', 'builder/role.md', 'You build.', 'builder/role.md:1: a prompt begins with a head'],
    [
      'an unknown name',
      'bilder/role.md',
      file('x'),
      'bilder/role.md:1: there is no prompt bilder/role; did you mean builder/role?',
    ],
    [
      'a wrong budget',
      'builder/role.md',
      file('x', HEAD.replace('1200', 'much')),
      'builder/role.md:5:9: budget must be',
    ],
    ['an unknown key', 'builder/role.md', file('x', `${HEAD}\nneed: []`), 'builder/role.md:6:1: unknown key “need”'],
    [
      'another role',
      'builder/role.md',
      file('x', HEAD.replace('builder', 'tester')),
      'builder/role.md:2:7: role must be “builder”',
    ],
    [
      'a wrong hash',
      'builder/role.md',
      file('x', `${HEAD}\nfrom: later`),
      'builder/role.md:6:7: from: “later” is no hash',
    ],
    [
      'a fact that it does not get',
      'builder/role.md',
      file('x', HEAD.replace('[]', '[task, nothing]')),
      'builder/role.md:4:15: needs[1] must be',
    ],
    [
      'a fact of another prompt',
      'author/answered.md',
      file('x', 'role: author\noccasion: x\nneeds: [id, task]\nbudget: 300'),
      'author/answered.md:4:13: needs[1]: “task” is no fact of author/answered; it has id, paths',
    ],
    [
      'a tag with another fact',
      'author/answered.md',
      file('\nGo on.\n\n  Task {{idd}}', 'role: author\noccasion: x\nneeds: [id]\nbudget: 300'),
      'author/answered.md:10:8: body: “idd” is no fact of author/answered; did you mean “id”?',
    ],
    [
      'an open section',
      'author/answered.md',
      file('Go on.\n{{#paths}}\nonly', 'role: author\noccasion: x\nneeds: [id]\nbudget: 300'),
      'author/answered.md:8:1: body: the section paths is not closed; end it with {{/paths}}',
    ],
    ['an open tag', 'builder/role.md', file('Go {{on'), 'builder/role.md:7:8: body: is no Mustache: unclosed tag'],
    [
      'a part of another file',
      'builder/role.md',
      file('{{> x}}'),
      'builder/role.md:7:1: body: a tag {{> … is not supported',
    ],
    [
      'other delimiters',
      'builder/role.md',
      file('{{=<% %>=}}'),
      'builder/role.md:7:1: body: a tag {{= … is not supported',
    ],
    ['no text', 'builder/role.md', file(''), 'body: there is no text'],
    [
      'a control character',
      'builder/role.md',
      file('a\u0000b'),
      'builder/role.md:7:2: body: contains a control character',
    ],
    ['bytes that are no text', 'builder/role.md', Buffer.from([0x61, 0x0a, 0xff]), 'builder/role.md:2: is not UTF-8'],
    ['a long text', 'builder/role.md', file('x'.repeat(70_000)), 'builder/role.md:1: is larger than 64 KiB'],
  ])('are refused with file, line and field: %s', ALL, async (_, name, text, said) => {
    const bench = openBench();
    change(bench, name, text);
    const before = bench.traces();
    const { code, message, next } = await bench.refusal();
    expect([code, message]).toEqual([
      'bad-input',
      expect.stringContaining(`squad/prompts/${said}`.replace('squad/prompts/body', 'body')),
    ]);
    expect(next).toContain('`squad prompts` lists them');
    expect(bench.traces()).toEqual(before);
  });

  it('are not read through a link that leads elsewhere', async () => {
    for (const [target, at] of [
      ['../outside', 'squad/prompts'],
      ['../../../outside/builder', 'squad/prompts/builder'],
      ['../../../../outside/builder/role.md', 'squad/prompts/builder/role.md'],
    ] as const) {
      const bench = openBench();
      const outside = join(bench.root, 'outside/builder');
      mkdirSync(outside, { recursive: true });
      writeFileSync(join(outside, 'role.md'), file('secret'));
      const path = join(bench.repository, at);
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(at === 'squad/prompts' ? `../${target}` : target, path);
      const { message } = await bench.refusal();
      expect(message).toMatch(new RegExp(`^${at} cannot be used:\n${at}:1: is a link`));
      expect(message).not.toContain('secret');
    }
  });

  it('are not looked for in a file, nor in folders that others use', async () => {
    const bench = openBench();
    bench.write('squad', '#!/bin/sh\n');
    expect((await bench.run()).definition.prompts).toBeUndefined();
    const other = openBench();
    change(other, 'README.md', 'ours');
    change(other, 'builder/notes.txt', 'ours');
    expect((await other.run()).definition.prompts).toBeUndefined();
  });
});
