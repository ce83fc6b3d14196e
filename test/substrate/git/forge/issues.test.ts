import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git } from '../../../support/git.ts';
import { openForgeBench, type ForgeBench } from './forge-bench.ts';

/** `gh` is a stand-in (test/fixtures/forge/fake-gh.mjs), because a test cannot reach GitHub. */
let bench: ForgeBench;
beforeEach(() => {
  bench = openForgeBench();
});
afterEach(() => bench.close());

const ISSUE = { number: 12, title: 'Login fails', body: 'It says 500.' };
const of = { number: 12, remote: 'origin' };

describe('reading an issue', () => {
  it('asks gh for the one of the remote’s repository, outside of the checkout', async () => {
    bench.github({ issues: [ISSUE] });
    const url = 'https://github.com/acme/app/issues/12';
    expect(await bench.forge.readIssue(of)).toEqual({ type: 'found', issue: { ...ISSUE, url } });
    const args = ['issue', 'view', '12', '--json', 'number,title,body,url', '--repo=github.com/acme/app'];
    expect(bench.calls()).toEqual([{ args, cwd: '/' }]);
  });

  it('or for one of another repository, whatever the remotes are', async () => {
    bench.github({ issues: [ISSUE] });
    git(bench.repository, 'remote', 'remove', 'origin');
    const found = await bench.forge.readIssue({ ...of, repository: 'git.corp.example/a/b' });
    expect(found).toMatchObject({ type: 'found', issue: { url: 'https://git.corp.example/a/b/issues/12' } });
  });

  it('says that there is none', async () => {
    bench.github({ issues: [] });
    expect(await bench.forge.readIssue(of)).toMatchObject({ type: 'none', repository: 'github.com/acme/app' });
  });

  it.each([
    ['logged-out', { why: 'gh is not logged in to github.com', next: 'Run `gh auth login --hostname github.com`.' }],
    ['garbage', { why: expect.stringContaining('does not understand the answer of gh') as string }],
  ])('%s', async (mode, refusal) => {
    bench.github({ mode, issues: [ISSUE] });
    expect(await bench.forge.readIssue(of)).toMatchObject({ type: 'refused', ...refusal });
  });

  it('names what is missing: gh, the remote, GitHub', async () => {
    expect(await bench.forge.readIssue(of)).toMatchObject({
      type: 'refused',
      why: expect.stringContaining('is not a repository on GitHub') as string,
      next: 'Give the issue’s whole URL.',
    });
    bench.github({ issues: [ISSUE] });
    expect(await bench.forgeWith({ clis: [] }).readIssue(of)).toMatchObject({
      why: 'the GitHub CLI, `gh`, is not on PATH',
      next: expect.stringContaining('gh auth login') as string,
    });
    git(bench.repository, 'remote', 'remove', 'origin');
    expect(await bench.forge.readIssue(of)).toMatchObject({
      why: 'the repository has no remote named origin',
      next: expect.stringMatching(/git remote add .* Or give the issue’s whole URL\.$/) as string,
    });
  });
});
