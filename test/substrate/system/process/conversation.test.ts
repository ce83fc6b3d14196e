import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ALL, spread } from '../../../support/lane.ts';

const MODULE = new URL('../../../../src/substrate/system/process/conversation.ts', import.meta.url).href;

/** What a program of its own prints that asks `line`, a shell, one question. */
function ask(line: string, shell = '/bin/sh'): { readonly code: number | null; readonly printed: unknown } {
  const program = `
    const { converse } = await import(${JSON.stringify(MODULE)});
    const talk = converse(${JSON.stringify(shell)}, ['-c', ${JSON.stringify(line)}], { cwd: '/', env: { PATH: process.env.PATH } });
    const answer = await talk.ask('hello\\n', (bytes) => bytes.indexOf(10) + 1);
    console.log(JSON.stringify({ answer: answer?.toString() ?? null, state: talk.state(), complaint: talk.complaint() }));
  `;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { code: status, printed: stdout === '' ? null : JSON.parse(stdout) };
}

it('answers, and keeps nothing alive after that', () => {
  expect(ask('read line; echo "$line there"; sleep 30')).toEqual({
    code: 0,
    printed: { answer: 'hello there\n', state: 'running', complaint: '' },
  });
});

it('says that a program has ended without an answer, every time', ALL, () => {
  for (let trial = 0; trial < spread(4, 40); trial += 1) {
    expect(ask('read line; echo no lock >&2; exit 1')).toEqual({
      code: 0,
      printed: { answer: null, state: 'ended', complaint: 'no lock\n' },
    });
  }
});

it('takes the end of a killed program for its end', () => {
  expect(ask('read line; kill -9 $$')).toMatchObject({ code: 0, printed: { answer: null, state: 'killed' } });
});

it('says why a program could not be started', () => {
  const { code, printed } = ask('exit 0', '/no/such/shell');
  expect({ code, printed }).toMatchObject({ code: 0, printed: { answer: null, state: 'ended' } });
  expect(printed).toHaveProperty('complaint', expect.stringContaining('ENOENT'));
});
