import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROMPT_NAMES, readChange } from '../../src/prompts/read-change.ts';
import { PROMPTS } from '../../src/prompts/shipped.ts';
import { promptFile } from '../../src/squad/repository-prompts.ts';
import { commandRoom } from './room.ts';

it('squad prompts lists, shows, ejects and compares without settings that are in order', async () => {
  const room = commandRoom();
  writeFileSync(join(room.repository, 'squad.yaml'), 'agents: nobody\n');
  const path = join(room.repository, 'squad/prompts/builder/role.md');
  const listed = await room.run(['prompts', '--json']);
  expect(listed.lines[0]).toMatchObject({ type: 'prompts', problems: [] });
  expect(listed.lines[0]?.['prompts']).toMatchObject(PROMPT_NAMES.map((name) => ({ name, changed: false })));
  expect((await room.run(['prompts', 'diff'])).stdout).toContain('No prompt is changed here.');

  const ejected = await room.run(['prompts', 'eject', 'builder', 'role']);
  expect([ejected.code, ejected.stdout]).toEqual([0, expect.stringContaining('wrote  squad/prompts/builder/role.md')]);
  const text = readFileSync(path, 'utf8');
  const again = await room.run(['prompts', 'eject', 'builder', 'role']);
  expect([again.code, again.stderr]).toEqual([65, expect.stringContaining('is there already')]);
  expect((await room.run(['prompts', 'diff', 'builder/role'])).stdout).toContain('the same as squad’s own');

  writeFileSync(path, `${text.replace(/from: .*/, 'from: "000000000000"')}\nBuild boats.\n`);
  const { stdout } = await room.run(['prompts', 'diff', 'builder', 'role']);
  expect(stdout).toContain('\n+Build boats.\n');
  expect(stdout).toContain('squad’s own text has changed since then');
  const diffs = await room.run(['prompts', 'diff', 'builder', 'role', '--json']);
  expect(diffs.lines[0]).toMatchObject({ diffs: [{ name: 'builder/role', changed: true, hasMoved: true }] });
  const shown = await room.run(['prompts', 'show', 'builder', 'role']);
  expect(shown.stdout).toContain('from   squad/prompts/builder/role.md\n');
  expect(shown.stdout).toContain('Build boats.');
  expect((await room.run(['prompts'])).stdout).toMatch(/builder\/role +\S.* changed\n/);

  const forced = await room.run(['prompts', 'eject', 'builder', 'role', '--force', '--json']);
  expect(forced.lines).toEqual([
    { type: 'prompt-ejected', name: 'builder/role', file: 'squad/prompts/builder/role.md', replaced: true },
  ]);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('squad prompts shows a prompt with its facts and an example', async () => {
  const room = commandRoom();
  const { lines } = await room.run(['prompts', 'show', 'author', 'answered', '--json']);
  expect(lines[0]).toMatchObject({
    ...{ type: 'prompt', name: 'author/answered', role: 'author', changed: false, file: null, problems: [] },
    body: PROMPTS['author/answered'].body,
    facts: [
      { name: 'id', kind: 'line' },
      { name: 'paths', kind: 'line' },
    ],
    hash: expect.stringMatching(/^[0-9a-f]{12}$/),
    example: expect.stringContaining('task <the id>'),
  });
});

it.each<[words: string[], code: number, said: string]>([
  [['show', 'bilder', 'role'], 2, 'there is no prompt bilder/role; did you mean builder/role?'],
  [['eject', 'reviewer', 'somewhen'], 2, 'there is no prompt of reviewer somewhen; there are again, '],
  [['show', 'builder'], 2, 'builder names no occasion'],
  [['shw', 'builder', 'role'], 2, ''],
])('squad prompts %j says what is wrong', async (words, code, said) => {
  const ended = await commandRoom().run(['prompts', ...words]);
  expect([ended.code, ended.stdout]).toEqual([code, '']);
  expect(ended.stderr).toContain(said);
});

it('squad prompts says which files of the repository a run refuses', async () => {
  const room = commandRoom();
  mkdirSync(join(room.repository, 'squad/prompts/builder'), { recursive: true });
  writeFileSync(join(room.repository, 'squad/prompts/builder/role.md'), 'Build boats.');
  writeFileSync(join(room.repository, 'squad/prompts/builder/rule.md'), 'Build boats.');
  const listed = await room.run(['prompts', '--json']);
  expect(listed.lines[0]?.['problems']).toEqual([
    expect.stringContaining('squad/prompts/builder/role.md:1: a prompt begins with a head'),
    'squad/prompts/builder/rule.md:1: there is no prompt of builder rule; did you mean role?',
  ]);
  expect((await room.run(['prompts'])).stdout).toContain('No run starts here until these 2 problems are corrected:');
  expect((await room.run(['prompts', 'show', 'builder', 'role'])).stdout).toContain('No run starts here until this is');
});

it('squad prompts eject writes through no link', async () => {
  const room = commandRoom();
  mkdirSync(join(room.root, 'outside'));
  mkdirSync(join(room.repository, 'squad'));
  symlinkSync(join(room.root, 'outside'), join(room.repository, 'squad/prompts'));
  const ended = await room.run(['prompts', 'eject', 'builder', 'role', '--force']);
  expect([ended.code, ended.stderr]).toEqual([65, expect.stringContaining('is a link')]);
});

it.each(PROMPT_NAMES)('an ejected file can be used as it is: %s', (name) => {
  const read = readChange(name, promptFile(name), 'x.md');
  const { role, occasion, needs, budget, body } = PROMPTS[name];
  expect(read).toEqual({ ok: true, value: { role, occasion, needs, budget, body, from: expect.any(String) } });
});
