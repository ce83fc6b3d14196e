import { expect, it } from 'vitest';
import { findObject, type Git, type GitAnswer } from '../../../src/substrate/git/git-call.ts';

const gitThat = (answer: Partial<GitAnswer>): Git =>
  ({ run: async () => ({ code: 128, stdout: '', stderr: '', ...answer }) }) as Partial<Git> as Git;
const look = async (answer: Partial<GitAnswer>) => findObject(gitThat(answer), { cwd: '/' }, 'HEAD');

it('is an id, or nothing where git says that there is none', async () => {
  expect(await look({ code: 0, stdout: 'abc\n' })).toBe('abc');
  expect(await look({ code: 1 })).toBeUndefined();
});

it.each([
  [{ stderr: 'error: cannot fork: Too many open files' }],
  [{ stderr: 'fatal: write error: No space left on device' }],
  [{ code: null, problem: 'it was ended after 120 s' }],
])('is an error where git could not look: %j', async (answer) => {
  await expect(look(answer)).rejects.toThrow(/git|open files|space/);
});
