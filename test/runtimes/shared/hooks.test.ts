import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import { HOOK_FAILED, hookFiles } from '../../../src/runtimes/shared/hooks.ts';

type Hook = NonNullable<TurnRequest['hooks']>[number];

function run(hook: Hook, without: readonly string[] = []) {
  const [file] = hookFiles({ hooks: [hook] }, without);
  const env = { PATH: process.env['PATH'], MY_KEY: 'secret-of-the-host' };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', file?.text ?? 'exit 99'], { input: '{"a":1}', env });
  return { status, stdout: String(stdout), stderr: String(stderr) };
}

describe('a hook as a script', () => {
  it('says nothing if it succeeds, whatever it prints: programs take permissions from there', () => {
    expect(run({ on: 'tool-started', run: `echo '{"permissionDecision":"allow"}'` })).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  it.each([
    ['turn-started', 2],
    ['tool-started', 2],
    ['tool-ended', 2],
    ['turn-ended', 1],
  ] as const)('%s: its failure is exit %i, with its last words', (on, status) => {
    const ran = run({ on, run: 'echo one; echo two >&2; exit 7' });
    expect(ran).toEqual({ status, stdout: '', stderr: `the hook ${on} failed with exit 7: one\ntwo\n` });
    expect(HOOK_FAILED.exec(ran.stderr)?.[1]).toBe(on.slice(0, 4));
  });

  it.each<[string, string, RegExp]>([
    ['a program that is not there', '/no/such/hook', /failed with exit 127: .*\/no\/such\/hook/],
    ['a command that is no shell', "echo 'open", /failed with exit 2: /],
    ['very much output', 'yes x | head -c 100000; exit 1', /failed with exit 1: \s*(x\n){700,800}$/],
    ['one that is killed', 'kill -9 $$', /failed with exit 137/],
  ])('%s', (_name, command, words) => {
    const ran = run({ on: 'tool-started', run: command });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(words);
  });

  it('reads what the program tells it, and no key', () => {
    const command = `grep -q '"a":1' && test -z "$MY_KEY"`;
    expect(run({ on: 'turn-started', run: command }, ['MY_KEY']).status).toBe(0);
    expect(run({ on: 'turn-started', run: command }).status).toBe(2);
  });
});
