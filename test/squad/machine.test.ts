import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readMachine } from '../../src/squad/machine.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';

it.each(['', '.', 'relative/home'])('takes the home of the user where HOME is %j', (HOME) => {
  const host = readMachine({
    environment: { HOME, XDG_CONFIG_HOME: 'here', XDG_STATE_HOME: '', TMPDIR: 'tmp', OTHER: '' },
  });
  const home = userInfo().homedir;
  expect(host.userHome).toBe(home);
  expect(host.stateDirectory).toBe(join(home, '.local/state/squad'));
  expect(host.configHome).toBe(join(home, '.config'));
  // git and agents would take a relative path from the folder that they stand in.
  expect(host.environment).toEqual({ HOME: home, OTHER: '' });
});

it('leaves whole paths as they are', () => {
  const environment = { HOME: '/home/me', XDG_STATE_HOME: '/state' };
  const host = readMachine({ environment });
  expect(host).toMatchObject({
    environment,
    userHome: '/home/me',
    stateDirectory: '/state/squad',
    configHome: '/home/me/.config',
  });
});

it('says in one sentence that the folder of a command is gone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'squad-gone-'));
  const line = `rmdir "$PWD"; exec "${process.execPath}" "${CLI_ENTRY}" status --json`;
  const ran = spawnSync('/bin/sh', ['-c', line], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: tmpdir() },
  });
  expect(() => rmdirSync(folder)).toThrow('ENOENT');
  expect(ran.stderr).toBe(
    'squad: the folder that squad was started in is gone\nNext: Change to a folder that is there, with `cd`.\n',
  );
  expect(JSON.parse(ran.stdout)).toMatchObject({ type: 'error', code: 'wrong-environment', exitCode: 78 });
  expect(ran.status).toBe(78);
});
