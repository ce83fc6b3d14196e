import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { SKILL, SKILL_FILES } from '../../src/cli/skill-text.ts';
import { allCommands } from '../../scripts/commands-docs.ts';
import { commandRoom } from './room.ts';

it('writes the skill, keeps a changed one, and says what is next', async () => {
  const { repository, run } = commandRoom();
  const read = (): string[] => SKILL_FILES.map((name) => readFileSync(join(repository, name), 'utf8'));
  const first = await run(['init', '--skill']);
  expect(first.stdout.split('\n').slice(0, 2)).toEqual(SKILL_FILES.map((name) => `wrote  ${join(repository, name)}`));
  expect(first.stdout).toMatch(/^Next: set this repository up for squad: `squad init`$/m);
  expect(first.stdout).toMatch(/use squad to add a login form$/m);
  expect(read()).toEqual([SKILL, SKILL]);

  const [own = '', codex = ''] = SKILL_FILES;
  writeFileSync(join(repository, own), 'mine\n');
  const again = await run(['init', '--skill', '--json', '--yes']);
  expect(again.lines).toMatchObject([{ type: 'skill', written: [], same: [codex], kept: [own] }]);
  expect(read()).toEqual(['mine\n', SKILL]);
  const { code, stderr } = await run(['init', '--skill', '--playbook', 'objective']);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^squad: --skill and --playbook .*\nNext: /)]);
});

it('follows a link within the repository, and refuses one that leads out of it before it writes anything', async () => {
  const { root, repository, run } = commandRoom();
  mkdirSync(join(repository, '.claude/skills'), { recursive: true });
  symlinkSync('.claude', join(repository, '.agents'));
  const linked = await run(['init', '--skill', '--json']);
  expect(linked.lines, linked.stderr).toMatchObject([{ written: [SKILL_FILES[0]], same: [SKILL_FILES[1]] }]);

  const other = commandRoom();
  mkdirSync(join(other.repository, '.agents/skills/squad'), { recursive: true });
  symlinkSync(join(root, 'gone.md'), join(other.repository, '.agents/skills/squad/SKILL.md'));
  const refused = await other.run(['init', '--skill']);
  expect([refused.code, refused.stdout]).toEqual([65, '']);
  expect(refused.stderr).toMatch(/leads out of the repository\nNext: Take the link away/);
  expect((await other.run(['init', '--skill'])).code).toBe(65);
});

it('has a head that assistants read, and names only commands and flags that are there', async () => {
  const [, head = '', text = ''] = SKILL.split(/^---$/m);
  expect(parse(head)).toMatchObject({ name: 'squad', description: expect.stringMatching(/^.{50,500}$/) });
  const program = await allCommands();
  const used = [...text.matchAll(/`(squad [^`]+)`|```sh\n(squad .*)\n/g)].map(
    ([, short = '', long = '']) => short + long,
  );
  expect(used.length).toBeGreaterThan(8);
  for (const command of used) {
    const [, name = ''] = command.split(' ');
    const found = program.commands.find((one) => one.name() === name);
    const flags = [...command.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag);
    expect(
      flags.filter((flag) => found?.options.every(({ long }) => long !== flag)),
      command,
    ).toEqual([]);
    expect(found, command).toBeDefined();
  }
});
