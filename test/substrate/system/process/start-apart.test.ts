import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startApart } from '../../../../src/substrate/system/process/start-apart.ts';

/** A folder that an agent has filled, and the place of its turn. */
function openRoom() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad apart ')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [place, folder] = [join(root, 'place'), join(root, "a task's folder")];
  mkdirSync(place, { mode: 0o700 });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const start = (script: string, { variables = {}, env = {} }: { variables?: object; env?: object } = {}) => {
    const words = { command: 'sh', args: ['-c', script, 'sh', 'an argument', ''] };
    const { command, args } = startApart({ place, folder, variables: { ...variables } }, words);
    const ran = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } });
    return { status: ran.status, out: ran.stdout, err: ran.stderr };
  };
  return { root, place, folder, start };
}

it('starts in a new folder, empty and for this user alone, with its arguments and input', () => {
  const { place, start } = openRoom();
  const one = start('pwd; ls -A | wc -l; printf "%s.%s\\n" "$#" "$1"; echo left >behind');
  const [folder = '', count, words] = one.out.split('\n');
  expect([folder.startsWith(`${place}/`), count?.trim(), words]).toEqual([true, '0', '2.an argument']);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual(['behind']);
  const other = start('pwd; ls -A | wc -l');
  expect(other.out.split('\n')[0]).not.toBe(folder);
  expect(other.out.split('\n')[1]?.trim()).toBe('0');
});

it('has the agent’s folder in a variable, and nothing else that leads there', () => {
  const { place, folder, start } = openRoom();
  writeFileSync(join(folder, 'bin/planted'), '#!/bin/sh\necho planted\n', { mode: 0o755 });
  const env = {
    PATH: `bin:.:${folder}/bin::${process.env['PATH']}:`,
    OLDPWD: folder,
    INIT_CWD: folder,
    CDPATH: folder,
  };
  const ran = start('planted; (cd "$SQUAD_TASK_FOLDER" && planted); env', { env });
  expect(ran.out).not.toContain('planted');
  expect(ran.err).toContain('not found');
  const lines = ran.out.split('\n').filter((line) => line.includes(folder));
  expect(lines).toEqual([`SQUAD_TASK_FOLDER=${folder}`]);
  expect(ran.out).toContain(`GIT_CEILING_DIRECTORIES=${place}\n`);
});

it('sets and takes away variables', () => {
  const variables = { HOME: "/home/a b'$(x)", TMPDIR: '' };
  const ran = openRoom().start('echo "$HOME.${TMPDIR-none}"', { variables, env: { TMPDIR: '/x', HOME: '/y' } });
  expect(ran.out).toBe("/home/a b'$(x).none\n");
});

it('becomes the command, with its exit code, and says why there is none', () => {
  const { place, folder, start } = openRoom();
  expect(start('exit 7').status).toBe(7);
  const gone = startApart({ place, folder, variables: {} }, { command: 'no-such-program', args: [] });
  expect(spawnSync(gone.command, gone.args).status).toBe(127);
});

it('starts nothing where its place is gone or a link', () => {
  const { place, folder, start } = openRoom();
  rmSync(place, { recursive: true });
  const refused = { status: 126, out: '', err: `squad: no empty folder can be made in ${place}\n` };
  expect(start('touch ran')).toEqual(refused);
  symlinkSync(folder, place);
  expect(start('touch ran')).toEqual(refused);
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

it('makes no repository of what is above its folder', () => {
  const { root, start } = openRoom();
  spawnSync('git', ['init', '-q', root]);
  expect(start('git rev-parse --show-toplevel').err).toContain('not a git repository');
});
